package preview

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
)

// app ties the parts of a preview together; each part owns its state and says what
// it is. The order of what happens in a frame stands in loop and step (loop.go).
// All of it belongs to the goroutine of Run, whose OpenGL context is current.
type app struct {
	o    *Options
	ctx  context.Context
	surf surface.Surface
	r    renderer

	clock    *clock
	pacer    pacer
	loader   payload.Loader
	files    *payload.FileLoader // the loader, where none was given
	records  recordSink
	messages messages
	memory   memoryWatch
	scenes   sceneList
	watch    *watcher // nil: off
	shown    shown
	cam      cameraDriver
	input    input
	display  display
	overlay  overlay
	appear   appear
	textures textureControl
	pics     *pictures
	meter    stats.Meter
	ending   ending
	rest     rest

	present
	paused bool // streaming
}

// present is the frame that is being made.
type present struct {
	frame int             // its number
	dt    time.Duration   // since the frame before
	cost  stats.Frame     // what it took
	lap   stats.Stopwatch // of its parts; a variable of step would be garbage
	drawn []runtime.Drawn
	stats render.Stats
	ended bool // this is the last one

	status     Status // of OnStatus
	viewpoints []Viewpoint
}

// Run shows scenes until the run ends as Options say, the window is closed or
// ctx is done, which is no error. A tile that cannot be loaded is reported and
// left out.
func Run(ctx context.Context, o Options) (rep *stats.Report, err error) {
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
	ro.TextureSource = o.TextureSource
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
	r, err := render.New(surf, ro)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	pause()
	return run(ctx, &o, surf, r)
}

func openSurface(o *Options) (surface.Surface, error) {
	if o.Headless {
		return surface.OpenHeadless(o.Width, o.Height)
	}
	return surface.OpenWindow("untold preview", o.Width, o.Height)
}

// newApp makes the parts of a preview, none of which runs yet.
func newApp(ctx context.Context, o *Options, surf surface.Surface, r renderer) *app {
	a := &app{
		o: o, surf: surf, r: r, ctx: ctx,
		clock:  &clock{start: time.Now(), virtual: o.FixedDT > 0, wall: o.wall},
		pacer:  pacer{wall: wallWaiter{}},
		loader: o.Loader,
		cam:    cameraDriver{path: o.Path, following: o.Path != nil},
		appear: newAppear(o),
		ending: ending{o: o},
	}
	if a.loader == nil {
		a.files = payload.NewFileLoader(0)
		a.files.Prepare = render.Prepare
		a.loader = a.files
	}
	a.records = recordSink{out: o.OnRecord, clock: a.clock}
	a.messages = messages{out: o.Message, clock: a.clock}
	a.memory.root, a.memory.logger = o.memoryRoot, o.Logger
	a.scenes.list, a.scenes.whole = o.Scenes, o.Whole
	a.display = display{view: o.View, show: o.Show, lighting: o.Lighting, ungraded: o.NoGrade, notify: a.messages.notify}
	a.textures = textureControl{r: r, alert: a.messages.alert, remote: o.Fetcher != nil, highWater: o.Config.HighWaterMark, lines: o.Config.PictureHeight, changes: o.TextureChanges}
	if o.Headless && !a.clock.virtual {
		a.pacer.step = o.frameTime()
	}
	if !o.Headless && !o.NoHUD {
		a.display.show.Panel, a.display.show.Map = true, true
	}
	return a
}

// run is Run on whatever surface and renderer.
func run(ctx context.Context, o *Options, surf surface.Surface, r renderer) (rep *stats.Report, err error) {
	a := newApp(ctx, o, surf, r)
	defer func() { err = errors.Join(err, a.closeLoader()) }()
	o.onTexture, o.onWhite = a.records.texture, a.textures.tellWhite
	defer func() { o.onTexture, o.onWhite = nil, nil }()
	if !a.clock.virtual {
		a.memory.open(&o.Config, r.Info().DedicatedBytes, func() (geometry, textures int64) { return a.stats.BatchBytes, a.stats.TextureBytes })
	}
	defer func() { err = errors.Join(err, a.memory.close()) }()
	a.startBatching()
	a.pics = newPictures()
	defer func() { err = errors.Join(err, a.pics.close()) }()
	if o.Watch {
		a.watch = startWatcher(watchInterval)
		defer a.watch.stop()
	}
	if err := a.overlay.font(surf.Scale(), o.Height); err != nil {
		return nil, err
	}
	pause()
	if err := a.choose(0); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.closeShown()) }()
	if at := o.Start; at != nil {
		a.cam.rig.Jump(pose(at))
	}
	a.stand()
	pause()
	play := a.loop
	if o.shoot != nil {
		play = func() error { return o.shoot(a) }
	}
	if err := play(); err != nil {
		return nil, err
	}
	return a.report(), nil
}

// stand starts at the camera that was named. Links outlive names: without it the scene
// is shown all the same.
func (a *app) stand() {
	if a.o.Viewpoint == "" {
		return
	}
	v, err := ViewpointOf(a.shown.open.Source.Manifest, a.o.Viewpoint)
	if err != nil {
		a.messages.alert(strings.TrimPrefix(err.Error(), "preview: "))
		return
	}
	a.cam.rig.Jump(pose(&v.Camera))
}

func (a *app) closeLoader() error {
	if a.files == nil {
		return nil
	}
	return a.files.Close()
}

func (a *app) report() *stats.Report {
	a.retire()
	st := a.shown.s.Stats()
	rep := a.meter.Report(&st, &a.stats, !a.clock.virtual, a.messages.errors)
	info := a.r.Info()
	rep.Scene, rep.Device, rep.View = a.scenes.name(), info.Device+", "+info.Version, a.display.view.String()
	rep.Seconds = a.clock.elapsed().Seconds()
	return rep
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
