package render

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
)

// textures streams the textures of what is uploaded. While one has not come a plain one
// stands in: gray, not metallic, a flat normal, and black for what glows. For one that
// is missing it is white, so that the factors of the material show.
type textures struct {
	sets     textureSets
	bindings bindings
	device   textureDevice
	loader   *texture.FileLoader
	workers  int // of it
	warmer   *texture.Warmer
	first    atomic.Int64      // size of first loads in texels
	stream   *texture.Streamer // that decides: own, or the one that is followed
	own      *texture.Streamer
	shown    []shown // of a Streamer that is followed: to be read
	unread   map[texture.ID]bool
	fallback [slots]gpu.Texture // for what is missing
	coming   [slots]gpu.Texture // for what is on its way; 0: fallback

	view   texture.View // of the last StreamTextures
	scenes map[payload.SceneID]*textureScene
	told   map[texture.Slot]bool // that it is missing

	slots []texture.Slot
	ids   []texture.ID
}

// textureScene is a scene with something uploaded, and where the boxes of its
// meshes are.
type textureScene struct {
	root geom.Mat4
	reps int
}

func newTextures(d gpu.Device, o *Options, workers int) (*textures, error) {
	caps := d.Caps()
	t := &textures{
		sets:   newTextureSets(),
		device: textureDevice{gpu: d, arrays: newTextureArrays(d, caps.CopyTexture, caps.MaxLayers), anisotropy: o.Anisotropy},
		scenes: map[payload.SceneID]*textureScene{}, told: map[texture.Slot]bool{},
	}
	t.bindings = newBindings(t.at, &t.device.arrays.moves)
	t.loader = texture.NewFileLoader(texture.FileOptions{Workers: workers, Blocks: caps.Blocks, ASTC: caps.ASTC, WebGL: caps.WebGL, Source: o.TextureSource, Reader: o.TextureReader})
	t.workers = workers
	t.warmer = texture.NewWarmer(t.loader, 0)
	t.first.Store(int64(min(o.Textures.MinDimension, o.MaxTexture)))
	stream := texture.StreamOptions{
		Params: o.Textures, Device: &t.device, Pacer: &t.device, Trimmer: &t.device, Loader: t.warmer, Budget: o.TextureBudget, MaxEdge: o.MaxTexture, QuickLoads: texture.QuickLoads, Timeout: o.TextureTimeout,
		NearestFirst: true,
		Trace:        func(e texture.Event) { t.trace(o, &e) },
	}
	if o.TextureSource != nil {
		stream.FirstEdge, stream.FirstLoads = texture.NetworkEdge, texture.NetworkLoads
	}
	var err error
	t.stream, err = texture.NewStreamer(stream)
	if err != nil {
		return nil, errors.Join(err, t.loader.Close())
	}
	t.own = t.stream
	t.setBudget(o.TextureBudget)
	for slot := range t.fallback {
		t.fallback[slot] = t.device.neutral(slot)
		t.coming[slot] = t.device.expected(slot)
	}
	return t, nil
}

// trace passes on what happens, and reports what fails: a missing texture once.
func (t *textures) trace(o *Options, e *texture.Event) {
	if o.OnTexture != nil {
		slot, _ := t.stream.Slot(e.Texture)
		o.OnTexture(e, slot)
	}
	if e.Kind != texture.EventMissing && e.Kind != texture.EventFail {
		return
	}
	t.device.arrays.moves++ // something else stands in
	slot, _ := t.stream.Slot(e.Texture)
	if e.Kind == texture.EventMissing && !errors.Is(e.Err, texture.ErrBudget) {
		o.white(slot, e.Err)
	}
	switch {
	case e.Kind == texture.EventFail:
		o.Logger.Warn("a texture could not change its size; it stays as it is", "uri", slot.URI, "folder", slot.Dir, "error", e.Err)
	case errors.Is(e.Err, texture.ErrBudget):
		o.Logger.Warn("a texture has no room yet; it is drawn white", "uri", slot.URI, "folder", slot.Dir, "error", e.Err)
	case !t.told[slot]:
		t.told[slot] = true
		o.Logger.Warn("a texture is missing; it is drawn white", "uri", slot.URI, "folder", slot.Dir, "error", e.Err)
	}
}

// white tells of a texture that is drawn white.
func (o *Options) white(slot texture.Slot, err error) {
	if o.OnWhite != nil {
		o.OnWhite(slot, err)
	}
}

// bind binds the arrays of a binding to their units; bound is what is there.
func (t *textures) bind(number uint32, bound *binding) {
	for slot, name := range t.bindings.list[number] {
		if name == 0 {
			name = t.fallback[slot]
		}
		if name != bound[slot] {
			t.device.gpu.BindTexture(slot, name)
			bound[slot] = name
		}
	}
}

// align lets what was drawn take fewer commands in the frames to come.
func (t *textures) align() {
	if t.device.arrays.copies {
		t.bindings.align(&t.device.arrays, t.device.layerOf)
	}
}

// at returns where the texture of a slot lies. While it has not come that is what stands
// in for it; none means what is neutral.
func (t *textures) at(slot int, id texture.ID) gpu.Layer {
	if id == 0 {
		return gpu.Layer{}
	}
	l := t.device.at(id)
	if l.Texture == 0 && t.coming[slot] != 0 && !t.missing(id) {
		l.Texture = t.coming[slot]
	}
	return l
}

// missing reports whether a texture could not be read, even if it is tried once more.
func (t *textures) missing(id texture.ID) bool {
	if t.unread[id] || t.stream.Look(id).Missing {
		return true
	}
	slot, ok := t.stream.Slot(id)
	return ok && t.told[slot]
}

// add registers the meshes of a representation and returns the set of each
// material.
func (t *textures) add(n *rep, p *prepared, asset *payload.Asset) (sets []*textureSet) {
	n.streamed = true
	root := t.enter(n.key.Scene)
	sets = make([]*textureSet, len(p.materials))
	known := make([]bool, len(p.materials))
	for i := range n.meshes {
		m := &n.meshes[i]
		// The last slot is the height, which is not drawn.
		t.slots = texture.MaterialSlots(t.slots[:0], &p.materials[m.material], asset.Textures, asset.Strings, asset.Dir)[:slots]
		if !anySlot(t.slots) {
			continue
		}
		if !t.follows() {
			box := worldBox(m.center, m.half, root)
			m.entity = t.stream.Add(texture.Part{
				Min: box.Min, Max: box.Max, Fixed: n.key.Rep != payload.RepFull, Level: asset.Level, Levels: asset.Levels, Error: asset.Error, Burst: true, Slots: t.slots,
			})
		}
		if !known[m.material] {
			known[m.material] = true
			t.ids = t.idsOf(t.ids[:0], m.entity)
			sets[m.material] = t.sets.acquire(textureKey(t.ids))
		}
	}
	return sets
}

// texturesWait bounds how long a representation waits for its textures.
const texturesWait = time.Second

// begun reports whether a representation need not wait for its textures.
func (t *textures) begun(n *rep) bool {
	if n.askedAt == 0 {
		n.askedAt = max(1, t.view.Now)
	}
	n.textured = t.follows() || t.view.Now-n.askedAt >= texturesWait || !slices.ContainsFunc(n.meshes, func(m mesh) bool {
		return m.entity != 0 && !t.stream.Begun(m.entity)
	})
	return n.textured
}

func anySlot(list []texture.Slot) bool {
	for i := range list {
		if list[i].URI != "" {
			return true
		}
	}
	return false
}

// enter counts a representation of a scene and returns the scene's root as far
// as it is known.
func (t *textures) enter(id payload.SceneID) *geom.Mat4 {
	s := t.scenes[id]
	if s == nil {
		s = &textureScene{root: geom.Identity()}
		t.scenes[id] = s
	}
	s.reps++
	return &s.root
}

// remove takes the meshes of a representation out.
func (t *textures) remove(n *rep) {
	if !n.streamed {
		return
	}
	for i := range n.meshes {
		if e := n.meshes[i].entity; e != 0 {
			t.stream.Remove(e)
		}
	}
	for _, s := range n.sets {
		t.sets.release(s)
	}
	if s := t.scenes[n.key.Scene]; s != nil {
		if s.reps--; s.reps == 0 {
			delete(t.scenes, n.key.Scene)
		}
	}
}

// SetTextures changes the parameters of texture streaming, and its budget in
// bytes; 0 means no limit. Those of a Streamer that is followed are its own. The error matches texture.ErrParams; then both stay
// as they are.
func (r *Renderer) SetTextures(p config.Textures, budget int64) error {
	if r.textures.follows() {
		return nil
	}
	if p != r.textures.stream.Params() {
		if err := r.textures.stream.SetParams(p); err != nil {
			return err
		}
		r.textures.first.Store(int64(min(p.MinDimension, r.options.MaxTexture)))
	}
	r.textures.setBudget(budget)
	return nil
}

// setBudget limits the bytes of textures, and with them of layers that are idle.
func (t *textures) setBudget(bytes int64) {
	t.device.arrays.limit = bytes
	if bytes > 0 {
		bytes = max(1, bytes-t.device.arrays.reserve())
	}
	t.own.SetBudget(bytes)
}

// SetTextureScales says how large textures are in the world; one that is followed
// knows by itself.
func (r *Renderer) SetTextureScales(scales texture.Scales) { r.textures.own.SetScales(scales) }

// StreamTextures judges how large textures should be, takes over what has been
// read, and has the next ones read. It is called once per frame, before Pump,
// which uploads them.
func (r *Renderer) StreamTextures(v TextureView) {
	t := r.textures
	if t.follows() {
		return
	}
	for id, s := range t.scenes {
		root := rootOf(v.Root, id)
		if root == s.root {
			continue
		}
		s.root = root
		for key, n := range r.reps {
			if key.Scene == id {
				t.move(n, &root)
			}
		}
	}
	if v.Frame != nil {
		r.beginFrame(v.Frame)
		r.frame.see(v.Frame)
	}
	t.setBudget(t.device.arrays.limit)
	t.view.Now, t.view.Camera, t.view.Pixel, t.view.Busy, t.view.Draft = v.Now, v.Camera, v.Pixel, v.Busy, v.Draft
	t.update(r.frame.visible, false)
}

// TexelPixels returns how many pixels the largest texel covers of what is drawn, of textures that
// could be finer: texture.Streamer.TexelPixels.
func (r *Renderer) TexelPixels(camera runtime.Camera, drawn []runtime.Drawn) (most float64) {
	f := camera.Frustum()
	for i := range drawn {
		n, parts := r.reps[drawn[i].Key], drawn[i].Parts
		if n == nil {
			continue
		}
		for k := range n.meshes {
			if m := &n.meshes[k]; parts == 0 || m.part&parts != 0 {
				most = max(most, r.textures.stream.TexelPixels(m.entity, f.Sees))
			}
		}
	}
	return most
}

// move puts the boxes of a representation to where its scene is now.
func (t *textures) move(n *rep, root *geom.Mat4) {
	for i := range n.meshes {
		if m := &n.meshes[i]; m.entity != 0 {
			box := worldBox(m.center, m.half, root)
			t.stream.Move(m.entity, box.Min, box.Max)
		}
	}
}

func (t *textures) update(visible []texture.Entity, force bool) {
	t.view.Visible, t.view.Force = visible, force
	t.stream.Update(t.view)
	t.view.Visible = nil
}

// AwaitTextures waits until what is being read has been read; the next
// StreamTextures takes it over. Runs that must not depend on how fast files are
// read call it before each. The error is the context's.
func (r *Renderer) AwaitTextures(ctx context.Context) error {
	if r.textures.follows() {
		return r.textures.read(ctx, &r.options)
	}
	return r.textures.stream.Await(ctx)
}

// Shed is the runtime.TextureRelief: the textures of the n farthest meshes that
// are above the minimum become smaller.
func (r *Renderer) Shed(n int) int { return r.textures.own.Shed(n) }

// warmTime bounds how long meshes wait for textures.
const warmTime = 300 * time.Millisecond

// Prewarm is the runtime.Prewarmer: it decodes the first size of the textures of
// a tile that streams mesh by mesh, so that its meshes are seldom white. What is
// not done after 0.3 s comes when the meshes are there. It is the one method that
// may be called from any goroutine, at any time before Close.
func (r *Renderer) Prewarm(ctx context.Context, _ runtime.RootID, asset *payload.Asset) error {
	if r.options.NoTextures {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, warmTime)
	defer cancel()
	slots := texture.AssetSlots(asset.Materials, asset.Textures, asset.Strings, asset.Dir)
	if err := r.textures.warmer.Warm(ctx, slots, int(r.textures.first.Load())); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// RetryTextures looks for the textures again that were missing: those of a
// remote scene may come after the payload that names them.
func (r *Renderer) RetryTextures() { r.textures.own.Retry() }

// Settle uploads everything and lets textures come to rest, for pictures that
// must not depend on time: those that the last Draw has seen, from where the
// last StreamTextures was. The next Draw brings shadows up to date as well. It
// ends early with ctx.
func (r *Renderer) Settle(ctx context.Context) error {
	r.exactShadows()
	if r.textures.follows() {
		err := r.textures.read(ctx, &r.options)
		r.Pump(Budget{})
		return err
	}
	r.textures.view.Busy, r.textures.view.Draft = false, false
	for {
		r.Pump(Budget{})
		r.textures.update(r.frame.visible, true)
		if r.Pump(Budget{}); r.textures.stream.Idle() {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.textures.stream.Await(ctx); err != nil {
			return err
		}
	}
}

// count fills in the counters.
func (t *textures) count(s *Stats) {
	st := t.stream.Stats()
	s.Textures, s.TexturesMissing = st.Textures-st.Missing, st.Missing+len(t.unread)
	s.TextureStream, s.TextureBytesLoaded = st, t.device.sent
	if !st.Idle {
		s.TexturesPending = st.Waiting + st.Loading + st.ActiveOps
	}
	if t.follows() {
		t.device.arrays.limit = st.Budget
	}
	s.TextureBytes, s.TextureStorage, s.TextureBudget = st.Bytes, t.device.arrays.bytes, t.device.arrays.limit
	s.TextureUpgrades, s.TextureDowngrades = st.Upgrades, st.Downgrades
}

// close frees everything; what was uploaded has been removed.
func (t *textures) close() error {
	t.warmer.Close()
	err := errors.Join(t.own.Close(), t.loader.Close())
	t.device.pump() // forgets what is gone
	for slot, name := range t.fallback {
		t.device.gpu.DeleteTexture(name)
		t.device.gpu.DeleteTexture(t.coming[slot])
	}
	return err
}
