package preview

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/camera"
	"github.com/untoldkit/untold/preview/hud"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/simulate"
	"github.com/untoldkit/untold/runtime/texture"
)

// app is a preview under way. All of it belongs to the goroutine of Run, whose
// OpenGL context is current.
type app struct {
	o    *Options
	surf surface.Surface
	r    renderer
	ctx  context.Context

	clock   *clock
	pacer   pacer
	loader  *runtime.FileLoader
	gate    *gate
	s       *runtime.Streamer
	id      runtime.SceneID
	judge   *simulate.Meter   // of s, in real time
	session *simulate.Session // that drives s in virtual time, else nil
	updates uint64            // of s
	failed  error             // of OnRecord, where nothing could return it
	rootOf  func(runtime.SceneID) geom.Mat4

	probe    *memory.Probe   // nil in virtual time, as the next one
	monitor  *memory.Monitor // of s
	pressure pressure

	textures     textureChoice // of the scene
	textureLimit int64         // of the configuration

	scenes  []Scene
	current int
	open    *Loaded
	fresh   atomic.Pointer[Loaded] // what the runtime has read again
	taken   bool                   // open is what it has read, and nobody has reloaded since
	look    *camera.Scene
	bounds  geom.Box // of the scene in the world, in this frame
	sun     [3]float64

	rig       *camera.Rig
	input     input
	following bool // the camera path
	streamCam runtime.Camera
	drawCam   runtime.Camera
	frozen    *runtime.Camera // culling, nil: not
	paused    bool
	recording *camera.Recorder
	recorded  time.Duration // when the recording began

	view     render.ViewMode
	show     Show
	exposure float64
	chooser  *hud.Chooser

	frame   int
	dt      time.Duration // since the frame before
	busy    time.Duration // what the last frame took
	cost    Frame         // the same by parts
	usual   time.Duration // what frames take, a sliding mean
	drawn   []runtime.Drawn
	appear  appear
	tiles   map[string]int32 // of open, by their ids
	sight   render.Frame     // what textures are told of a frame
	stats   render.Stats
	meter   meter
	quiet   int // frames in a row in which nothing is left to load
	rest    rest
	empty   bool // nothing is drawn, but something is wanted
	futile  futile
	errs    int
	overlay overlay
	news    news
	white   map[texture.Slot]bool // textures of which it was said that they are drawn white
	pics    *pictures
	watch   *watcher
	short   bool // it was said that the geometry budget is too small for the scene
	ended   bool
}

// Run shows scenes until the run ends as Options say, the window is closed or
// ctx is done, which is no error. A tile that cannot be loaded is reported and
// left out.
func Run(ctx context.Context, o Options) (rep *Report, err error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	surf, err := openSurface(&o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, surf.Close()) }()
	// A dense display has more pixels than were asked for.
	ro := o.Render
	ro.Width, ro.Height = surf.Size()
	ro.Framebuffer = surf.Framebuffer()
	if ro.Logger == nil {
		ro.Logger = o.Logger
	}
	ro.Warm = o.timed()
	ro.TextureTimeout = o.Config.LoadTimeout()
	ro.OnTexture = func(e *texture.Event, slot texture.Slot) {
		if o.onTexture != nil {
			o.onTexture(e, slot)
		}
	}
	ro.OnWhite = func(slot texture.Slot, err error) {
		if o.onWhite != nil {
			o.onWhite(slot, err)
		}
	}
	r, err := render.New(ro)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return run(ctx, &o, surf, r)
}

func openSurface(o *Options) (surface.Surface, error) {
	if o.Headless {
		return surface.OpenHeadless(o.Width, o.Height)
	}
	return surface.OpenWindow("untold preview", o.Width, o.Height)
}

// run is Run on whatever surface and renderer.
func run(ctx context.Context, o *Options, surf surface.Surface, r renderer) (rep *Report, err error) {
	a := &app{
		o: o, surf: surf, r: r, ctx: ctx, scenes: o.Scenes, view: o.View, show: o.Show, following: o.Path != nil,
		clock:  &clock{start: time.Now(), virtual: o.FixedDT > 0, wall: o.wall},
		loader: runtime.NewFileLoader(0),
		pacer:  pacer{wall: wallWaiter{}},
	}
	if o.Headless && !a.clock.virtual {
		a.pacer.step = o.frameTime()
	}
	a.rootOf = a.root // once: every use of a method as a value is garbage
	defer func() { err = errors.Join(err, a.loader.Close()) }()
	if !o.Headless && !o.NoHUD {
		a.show.Panel, a.show.Map = true, true
	}
	a.gate = &gate{inner: a.loader, clock: a.clock, latency: o.latency()}
	o.onTexture, o.onWhite = a.textureEvent, a.tellWhite
	defer func() { o.onTexture, o.onWhite = nil, nil }()
	a.openProbe()
	defer func() { err = errors.Join(err, a.closeProbe()) }()
	a.startBatching()
	a.news.out = o.Message
	a.pics = newPictures()
	defer func() { err = errors.Join(err, a.closePictures()) }()
	if o.Watch {
		a.watch = startWatcher(watchInterval)
		defer a.watch.stop()
	}
	if err := a.overlay.font(surf.Scale(), o.Height); err != nil {
		return nil, err
	}
	if err := a.choose(0); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.closeStreamer()) }()
	play := a.loop
	if o.shoot != nil {
		play = func() error { return o.shoot(a) }
	}
	if err := play(); err != nil {
		return nil, err
	}
	return a.report(), nil
}

// deps is what the runtime works with in real time.
func (a *app) deps() runtime.Deps {
	deps := runtime.Deps{
		Clock: a.clock, Loader: a.gate, Device: a.r, Visibility: a.r, Textures: relief{a}, MemoryProbe: a.probe, Prewarmer: a.r, Logger: a.o.Logger,
	}
	if a.o.Fetcher != nil {
		deps.Fetcher = a.o.Fetcher
	}
	return deps
}

// lines is the height of the picture in pixels.
func (a *app) lines() int {
	_, h := a.surf.Size()
	return h
}

func (a *app) aspect() float64 {
	w, h := a.surf.Size()
	return float64(w) / float64(h)
}
