package simulate

import (
	"context"
	"errors"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
)

// Drawing is what a run is given to be seen as well: what the model says has
// been loaded is read for real, while the simulated clock stands still, and
// handed to a device that draws. When things happen, and how much memory they
// take, is the model's alone, so that the events are those of the run without a
// picture. A payload that cannot be read fails, though: there is nothing to
// draw.
type Drawing struct {
	Loader payload.Loader // reads payloads
	// Fetcher brings those of a scene at an address; nil: they are local.
	Fetcher payload.Fetcher
	// Await returns when the textures that belong to what Fetcher has brought
	// are there too; nil: nothing has to be waited for.
	Await    func(context.Context) error
	Device   runtime.Device
	Textures TextureCanvas // nil: textures are not drawn
	// Lines is the height of the picture in pixels. Beyond PictureHeight of the
	// configuration, for which runs that are not drawn choose, textures become larger.
	Lines int
}

// TextureCanvas shows the textures of a run. The ID of a texture is that of the
// Streamer that Follow was given.
type TextureCanvas interface {
	// Follow is called once, before all else: s decides from then on. It must
	// only be read.
	Follow(s *texture.Streamer)
	// Show gives a texture its size, the longest edge in texels, in the place of
	// what it had.
	Show(id texture.ID, slot texture.Slot, edge int)
	// Hide takes it away.
	Hide(id texture.ID)
}

// errNoModel is the error of options that contradict each other.
var errNoModel = errors.New("simulate: a run that is drawn has no modelled network, nor a Loader or a Fetcher beside its own")

func (o *Options) check() error {
	if d := o.Drawing; d != nil && (o.real() || o.Bandwidth > 0 || o.NetworkLatency > 0) {
		return errNoModel
	}
	return nil
}

// remote reports whether the payloads come from a server, so that textures may
// follow them.
func (w *model) remote() bool {
	return w.fetcher != nil || w.draw != nil && w.draw.Fetcher != nil
}

// read loads a payload for real. Its sizes are those of the model.
func (w *model) read(j *job) payload.Result {
	got := make(chan payload.Result, 1)
	req := j.req
	// A request that was given up is answered all the same, as in the model.
	req.Context, req.Done = w.ctx, payload.Intercept(func(_ uint64, r payload.Result) { got <- r }, nil)
	w.draw.Loader.Start(req)
	r := w.await(got)
	if r.Err != nil {
		return r
	}
	w.loaded += j.req.Size
	model := w.sizesOf(j.req.TileID, j.req.Key.Rep)
	r.GeometryBytes, r.TextureBytes, r.Nodes = model.GeometryBytes, 0, model.Nodes
	if r.Asset != nil && r.Asset.Parts != nil {
		r.Asset.Parts = heldParts{w, r.Asset.Parts}
	}
	return r
}

// await waits for an answer, or for the end of the run.
func (w *model) await(got <-chan payload.Result) payload.Result {
	select {
	case r := <-got:
		return r
	case <-w.ctx.Done():
		go func() { (<-got).Asset.Release() }()
		return payload.Result{Err: w.ctx.Err()}
	}
}

// bring downloads a payload, which takes no time of the simulated clock.
func (w *model) bring(j *job) {
	type answer struct {
		local payload.Fetched
		err   error
	}
	got := make(chan answer, 1)
	req := j.req
	req.Context, req.Done = w.ctx, payload.Intercept(nil, func(_ uint64, local payload.Fetched, err error) { got <- answer{local, err} })
	w.draw.Fetcher.Fetch(req)
	var a answer
	select {
	case a = <-got:
	case <-w.ctx.Done():
		a.err = w.ctx.Err()
	}
	w.brought = true
	j.req.Done.Fetched(j.req.Token, a.local, a.err)
}

// heldParts answers requests for parts of a file in the next frame, however long
// that takes.
type heldParts struct {
	w     *model
	inner payload.PartLoader
}

// LoadParts is the payload.PartLoader.
func (p heldParts) LoadParts(req payload.Request, meshes []int) {
	p.w.requested += req.Size
	p.w.waiting = append(p.w.waiting, job{req: req, rep: "mesh", fetch: true, parts: append([]int{}, meshes...), inner: p.inner, due: p.w.now})
}

// readParts loads parts for real.
func (w *model) readParts(j *job) {
	got := make(chan payload.Result, 1)
	req := j.req
	req.Context, req.Done = w.ctx, payload.Intercept(func(_ uint64, r payload.Result) { got <- r }, nil)
	j.inner.LoadParts(req, j.parts)
	r := w.await(got)
	if r.Err == nil {
		w.loaded += j.req.Size
	}
	j.req.Done.Loaded(j.req.Token, r)
}

// show passes the size of a texture on to the canvas.
func (t *textureTier) show(id texture.ID) {
	if d := t.w.draw; d != nil && d.Textures != nil {
		slot, _ := t.stream.Slot(id)
		d.Textures.Show(id, slot, t.edges[id-1])
	}
}

// hide takes a texture off the canvas.
func (t *textureTier) hide(id texture.ID) {
	if d := t.w.draw; d != nil && d.Textures != nil {
		d.Textures.Hide(id)
	}
}

// rest lets textures come to rest while the clock stands: what is on its way
// arrives at once.
func (t *textureTier) rest(ctx context.Context, camera runtime.Camera) error {
	if t.w.remote() {
		t.stream.Retry()
	}
	for {
		t.hurry()
		t.deliver()
		v := t.view(camera)
		v.Force = true
		t.stream.Update(v)
		if t.stream.Idle() && len(t.waiting) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(t.waiting) == 0 && t.opening.running > 0 {
			select {
			case <-t.opening.came:
			case <-ctx.Done():
			}
		}
	}
}
