package texture

import (
	"context"
	"errors"
	"sync"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// DefaultWarmBytes bounds what a Warmer keeps: some 180 textures of 256 texels.
const DefaultWarmBytes = 64 << 20

// Warmer is a Loader in front of a FileLoader that keeps the first sizes of
// textures which have been decoded ahead of their meshes.
// What is kept is handed out once, to the first request that asks for it at that
// size; all else goes to the FileLoader. Its methods are safe for concurrent use.
type Warmer struct {
	files *FileLoader
	limit int64

	mu     sync.Mutex
	kept   map[warmKey]*texfile.Image
	asked  map[warmKey]bool // what has been asked for: it is there, or will be
	order  []warmKey        // the oldest first; of what has been handed out too
	bytes  int64
	closed bool
}

// warmKey names a texture at a size.
type warmKey struct {
	resourceKey
	maxSize int
}

// NewWarmer returns a Warmer that keeps at most so many bytes, the newest; 0
// means DefaultWarmBytes. The FileLoader stays the caller's.
func NewWarmer(files *FileLoader, limit int64) *Warmer {
	if limit <= 0 {
		limit = DefaultWarmBytes
	}
	return &Warmer{files: files, limit: limit, kept: map[warmKey]*texfile.Image{}, asked: map[warmKey]bool{}}
}

// Start answers at once what is kept, and passes on the rest.
func (w *Warmer) Start(req Request) {
	if img := w.take(warmKey{keyOf(Slot{req.Dir, req.URI, req.Use, req.Cutoff}), req.MaxSize}); img != nil {
		req.Done.Loaded(req.Token, img, nil)
		return
	}
	w.files.Start(req)
}

// Warm decodes textures at the size of maxSize texels in the calling goroutine,
// until ctx ends, which is the error. What is kept already is left out, what has
// been asked for before at that size, as textures that tiles share have, and what
// cannot be read: whoever asks for it will hear why. Slots without a URI are
// skipped.
func (w *Warmer) Warm(ctx context.Context, slots []Slot, maxSize int) error {
	for _, slot := range slots {
		if err := ctx.Err(); err != nil {
			return err
		}
		key := warmKey{keyOf(slot), maxSize}
		if slot.URI == "" || w.has(key) {
			continue
		}
		img, err := w.files.Read(Request{Dir: slot.Dir, URI: slot.URI, Use: slot.Use, Cutoff: slot.Cutoff, MaxSize: maxSize, Context: ctx})
		if err != nil {
			if errors.Is(err, ctx.Err()) && ctx.Err() != nil {
				return err
			}
			continue
		}
		if !w.keep(key, img) {
			return nil // there is no room for more
		}
	}
	return nil
}

func (w *Warmer) has(key warmKey) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.kept[key] != nil || w.asked[key]
}

// keep stores an image in the place of the oldest ones; false when it is too
// large to be kept at all.
func (w *Warmer) keep(key warmKey, img *texfile.Image) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := img.Bytes()
	if w.closed || n > w.limit {
		return false
	}
	w.drop(key)
	for w.bytes+n > w.limit {
		oldest := w.order[0]
		w.order = w.order[1:]
		w.drop(oldest)
	}
	if len(w.order) > 2*len(w.kept)+64 { // most of it has been handed out
		w.compact()
	}
	w.kept[key] = img
	w.bytes += n
	w.order = append(w.order, key)
	return true
}

// drop forgets an image; the order may name it still.
func (w *Warmer) drop(key warmKey) {
	if img := w.kept[key]; img != nil {
		w.bytes -= img.Bytes()
		delete(w.kept, key)
	}
}

// compact takes out of the order what is not kept, and all but the last mention
// of what is.
func (w *Warmer) compact() {
	seen := make(map[warmKey]bool, len(w.kept))
	at := len(w.order)
	for i := len(w.order) - 1; i >= 0; i-- {
		if key := w.order[i]; w.kept[key] != nil && !seen[key] {
			seen[key] = true
			at--
			w.order[at] = key
		}
	}
	w.order = w.order[at:]
}

func (w *Warmer) take(key warmKey) *texfile.Image {
	w.mu.Lock()
	defer w.mu.Unlock()
	img := w.kept[key]
	w.drop(key)
	w.asked[key] = true
	return img
}

// Clear forgets everything, say under critical memory pressure, and returns how
// many bytes that were.
func (w *Warmer) Clear() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.bytes
	clear(w.kept)
	clear(w.asked)
	w.order, w.bytes = nil, 0
	return n
}

// Bytes returns what is kept.
func (w *Warmer) Bytes() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bytes
}

// Close forgets everything and keeps nothing more; the FileLoader stays open.
func (w *Warmer) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.Clear()
}
