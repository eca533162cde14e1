package preview

import (
	"context"
	"image"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/cube"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/batch"
	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/simulate"
	"github.com/untoldkit/untold/runtime/texture"
)

// fakeSurface plays events: script[k] happens before frame k.
type fakeSurface struct {
	w, h     int
	frame    int
	script   map[int][]surface.Event
	onFrame  func(frame int) []surface.Event
	titles   []string
	captured bool
	waited   []int // frames after which the run waited for events
}

func (s *fakeSurface) Size() (int, int)       { return s.w, s.h }
func (s *fakeSurface) Scale() float64         { return 1 }
func (s *fakeSurface) Framebuffer() uint32    { return 0 }
func (s *fakeSurface) Device(bool) gpu.Device { return nil }
func (s *fakeSurface) Present() error         { s.frame++; return nil }
func (s *fakeSurface) Events(dst []surface.Event) []surface.Event {
	dst = append(dst, s.script[s.frame]...)
	if s.onFrame != nil {
		dst = append(dst, s.onFrame(s.frame)...)
	}
	return dst
}
func (s *fakeSurface) Wait(time.Duration)        { s.waited = append(s.waited, s.frame) }
func (s *fakeSurface) SetTitle(t string)         { s.titles = append(s.titles, t) }
func (s *fakeSurface) SetCursorCaptured(on bool) { s.captured = on }
func (s *fakeSurface) SetVSync(bool)             {}
func (s *fakeSurface) Resize(w, h int) error     { s.w, s.h = w, h; return nil }
func (s *fakeSurface) Close() error              { return nil }

// fakeRenderer uploads everything at the next Pump and remembers the frames.
type fakeRenderer struct {
	scales         texture.Scales
	waiting, ready map[payload.Key]bool
	last           render.Frame
	grade          *cube.Table
	views          []render.ViewMode
	overlays       int
	w, h           int
	settled        int
	awaited        int
	params         config.Textures
	budget         int64
	viewed         []time.Duration
	followed       *texture.Streamer
	shown          map[texture.ID]int // edges
	refuse         func(payload.Key) error
	onDraw         func(render.Frame)
	batching       *render.BatchOptions
	cells          map[payload.SceneID]float64
	batchLimit     int64
	dedicated      int64
	textureBytes   int64
	onShed         func(n int) int
	relieved       []memory.PressureLevel
}

func newFakeRenderer() *fakeRenderer {
	return &fakeRenderer{waiting: map[payload.Key]bool{}, ready: map[payload.Key]bool{}, cells: map[payload.SceneID]float64{}, w: 64, h: 48}
}

func (r *fakeRenderer) Upload(key payload.Key, asset *payload.Asset) error {
	if r.refuse != nil {
		if err := r.refuse(key); err != nil {
			return err
		}
	}
	asset.Release()
	r.waiting[key] = true
	return nil
}

func (r *fakeRenderer) Release(key payload.Key)    { delete(r.waiting, key); delete(r.ready, key) }
func (r *fakeRenderer) Estimate(bytes int64) int64 { return bytes }

func (r *fakeRenderer) Packed(_ payload.Key, bytes int64) int64 { return bytes }

func (r *fakeRenderer) Drawable(key payload.Key) bool { return r.ready[key] }
func (r *fakeRenderer) Info() render.Info {
	return render.Info{Device: "fake", Version: "4.1", DedicatedBytes: r.dedicated}
}

func (r *fakeRenderer) Pump(render.Budget) bool {
	for k := range r.waiting {
		r.ready[k] = true
	}
	clear(r.waiting)
	return true
}
func (r *fakeRenderer) Settle(context.Context) error { r.settled++; return nil }
func (r *fakeRenderer) SetTextures(p config.Textures, budget int64) error {
	r.params, r.budget = p, budget
	return nil
}

func (r *fakeRenderer) SetTextureScales(scales texture.Scales) { r.scales = scales }

func (r *fakeRenderer) StreamTextures(v render.TextureView) { r.viewed = append(r.viewed, v.Now) }

func (r *fakeRenderer) TexelPixels(runtime.Camera, []runtime.Drawn) float64 { return 0 }

func (r *fakeRenderer) AwaitTextures(context.Context) error { r.awaited++; return nil }
func (r *fakeRenderer) Shed(n int) int {
	if r.onShed != nil {
		return r.onShed(n)
	}
	return 0
}
func (r *fakeRenderer) RetryTextures() {}

func (r *fakeRenderer) Follow(s *texture.Streamer) { r.followed, r.shown = s, map[texture.ID]int{} }
func (r *fakeRenderer) Show(id texture.ID, _ texture.Slot, edge int) {
	r.shown[id] = edge
}
func (r *fakeRenderer) Hide(id texture.ID) { delete(r.shown, id) }

func (r *fakeRenderer) SetBatching(o *render.BatchOptions)             { r.batching = o }
func (r *fakeRenderer) SetBatchScene(id payload.SceneID, cell float64) { r.cells[id] = cell }
func (r *fakeRenderer) LimitBatches(bytes int64)                       { r.batchLimit = bytes }
func (r *fakeRenderer) RelieveBatches(l memory.PressureLevel)          { r.relieved = append(r.relieved, l) }

func (r *fakeRenderer) AppendBatchCells(dst []batch.Cell) []batch.Cell {
	return append(dst, batch.Cell{Scene: 1, State: batch.CellBatched, Bounds: records.Bounds{Max: [3]float32{1, 1, 1}}})
}

func (r *fakeRenderer) Prewarm(context.Context, runtime.RootID, *payload.Asset) error { return nil }
func (r *fakeRenderer) SetGrade(t *cube.Table) error                                  { r.grade = t; return nil }

func (r *fakeRenderer) Resize(w, h int) error { r.w, r.h = w, h; return nil }

func (r *fakeRenderer) Draw(f render.Frame) (st render.Stats) {
	r.last = f
	r.last.Lines = slices.Clone(f.Lines)
	r.last.LinesOnTop = slices.Clone(f.LinesOnTop)
	r.views = append(r.views, f.View)
	if f.Overlay != nil {
		r.overlays++
	}
	st.TextureBytes = r.textureBytes
	for _, d := range f.Drawn {
		st.Draws++
		st.Triangles += 12
		if !r.ready[d.Key] {
			st.NotResident++
		}
	}
	if r.onDraw != nil {
		r.onDraw(f)
	}
	return st
}

func (r *fakeRenderer) ReadPixels() *image.NRGBA { return image.NewNRGBA(image.Rect(0, 0, r.w, r.h)) }
func (r *fakeRenderer) Close()                   {}

// press is a key that goes down and up.
func press(k surface.Key) []surface.Event {
	return []surface.Event{{Kind: surface.EventKey, Key: k, Pressed: true}, {Kind: surface.EventKey, Key: k}}
}

// straight is a path over a town of n blocks at eye height.
func straight(n int, seconds float64) *simulate.CameraPath {
	side := float64(n) * townBlock
	return &simulate.CameraPath{FovYDegrees: 60, Aspect: 4.0 / 3, Near: 0.1, Far: 1000, Keys: []simulate.CameraKey{
		{Position: geom.Vec3{side / 2, 12, 10}, Forward: geom.Vec3{0, -0.2, -1}},
		{T: time.Duration(seconds * 1e9), Position: geom.Vec3{side / 2, 12, -side}, Forward: geom.Vec3{0.5, -0.2, -1}, Linear: true},
	}}
}

// options are those of a headless run of a scene on a virtual clock.
func options(t testing.TB, path string) Options {
	t.Helper()
	scenes, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Scenes: scenes, Config: config.Default(), Headless: true, Width: 64, Height: 48, FixedDT: 50 * time.Millisecond}
}

// fakeRun runs without OpenGL.
func fakeRun(t testing.TB, o Options, s *fakeSurface, r *fakeRenderer) (*stats.Report, error) {
	t.Helper()
	if err := o.check(); err != nil {
		return nil, err
	}
	return run(t.Context(), &o, s, r)
}
