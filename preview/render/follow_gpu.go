package render

import (
	"context"
	"slices"
	"sync"

	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// shown is a texture whose size another Streamer has decided.
type shown struct {
	id   texture.ID
	slot texture.Slot
	edge int
}

// Follow makes the renderer show textures as another Streamer decides, instead
// of its own, until it is closed: those that Show names, under the IDs of s,
// which is only read. Then StreamTextures does nothing, and AwaitTextures reads
// what is to be shown. It is called before the first Upload of what s streams.
func (r *Renderer) Follow(s *texture.Streamer) {
	r.textures.stream = s
	r.textures.unread = map[texture.ID]bool{}
}

// Show gives a texture another size, the longest edge in texels, from the next
// AwaitTextures on.
func (r *Renderer) Show(id texture.ID, slot texture.Slot, edge int) {
	t := r.textures
	t.forget(id)
	t.shown = append(t.shown, shown{id, slot, edge})
}

// Hide frees a texture.
func (r *Renderer) Hide(id texture.ID) {
	t := r.textures
	t.forget(id)
	delete(t.unread, id)
	if int(id) <= len(t.device.table) {
		t.device.Release(id)
	}
}

func (t *textures) forget(id texture.ID) {
	t.shown = slices.DeleteFunc(t.shown, func(s shown) bool { return s.id == id })
}

// follows reports whether another Streamer decides.
func (t *textures) follows() bool { return t.stream != t.own }

// idsOf appends the textures of t.slots, which are those of an entity unless
// another Streamer is followed.
func (t *textures) idsOf(dst []texture.ID, entity texture.Entity) []texture.ID {
	if !t.follows() {
		return t.stream.Textures(dst, entity)
	}
	for i := range t.slots {
		dst = append(dst, t.stream.ID(t.slots[i]))
	}
	return dst
}

// read reads what is to be shown, several files at a time, and hands it to the
// device. A texture that cannot be read is missing in the picture.
func (t *textures) read(ctx context.Context, o *Options) error {
	if len(t.shown) == 0 {
		return ctx.Err()
	}
	images, errs := make([]*texfile.Image, len(t.shown)), make([]error, len(t.shown))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(t.workers, len(t.shown)) {
		wg.Go(func() {
			for i := range next {
				s := &t.shown[i]
				images[i], errs[i] = t.loader.Read(texture.Request{Dir: s.slot.Dir, URI: s.slot.URI, Use: s.slot.Use, Cutoff: s.slot.Cutoff, MaxSize: s.edge, Context: ctx})
			}
		})
	}
	for i := range t.shown {
		next <- i
	}
	close(next)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range t.shown {
		s := &t.shown[i]
		if errs[i] == nil {
			errs[i] = t.device.Upload(s.id, images[i])
		}
		if errs[i] != nil {
			t.unread[s.id] = true
			t.device.arrays.moves++
			o.white(s.slot, errs[i])
			o.Logger.Warn("a texture cannot be read; it is drawn white", "uri", s.slot.URI, "folder", s.slot.Dir, "error", errs[i])
			continue
		}
		delete(t.unread, s.id)
	}
	t.shown = t.shown[:0]
	return nil
}
