package preview

import (
	"context"
	"errors"
	"fmt"
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

// Budgets of one frame in real time: uploads must not be felt, so that they get
// a part of what frames take anyway; where frames are slow that is much, or the
// queue would grow.
const (
	uploadTime  = time.Millisecond / 4 // at least
	uploadPart  = 2                    // of the usual frame's time, as a divisor
	uploadBytes = 8 << 20
	usualFrames = 16 // that the usual time is a mean of, roughly
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

	textures     texture.Params // of the scene
	textureLimit int64          // of the configuration

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
	sight   render.Frame // what textures are told of a frame
	stats   render.Stats
	meter   meter
	quiet   int // frames in a row in which nothing is left to load
	rest    rest
	empty   bool // nothing is drawn, but something is wanted
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

// choose shows another scene. What is shown stays when that fails.
func (a *app) choose(i int) error {
	open, err := a.load(i)
	if err != nil {
		return err
	}
	cfg := a.o.Config.For(open.Source.Manifest)
	open.Source.Reload = a.reader(i)
	open.reach(&cfg)
	params, err := textureParams(&cfg, open.Source.Manifest)
	if err != nil {
		return err
	}
	s, session, err := a.openStreamer(open, cfg)
	if err != nil {
		return err
	}
	if a.s != nil {
		a.retire()
		a.gate.forget()
		if err := a.closeStreamer(); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	a.session, a.updates = session, 0
	a.judge = newJudge(open, cfg)
	a.s, a.id, a.current, a.frozen, a.taken, a.short = s, s.Scenes()[0], i, nil, false, false
	a.textures, a.textureLimit = params, cfg.TextureBudget
	a.r.SetBatchScene(a.id, batchCell(open))
	a.watchMemory(s)
	a.adopt(open)
	a.rig = camera.New(a.look.Bounds)
	a.start()
	a.overlay.load.look(a)
	if a.watch != nil {
		a.watch.follow(a.scenes[i].Path)
	}
	return nil
}

// openStreamer opens a scene, in virtual time with what drives it.
func (a *app) openStreamer(open *Loaded, cfg runtime.Config) (*runtime.Streamer, *simulate.Session, error) {
	if a.clock.virtual {
		session, err := a.openSession(open, cfg)
		if err != nil {
			return nil, nil, err
		}
		return session.Streamer(), session, nil
	}
	s, err := runtime.Open(a.ctx, open.Source, cfg, a.deps())
	return s, nil, err
}

// load reads a scene.
func (a *app) load(i int) (*Loaded, error) { return a.scenes[i].load(a.o.Whole) }

// load is Load, for the view that was asked for.
func (s *Scene) load(whole bool) (*Loaded, error) {
	open, err := s.Load()
	if err == nil && open.Source.Manifest.DryRun {
		err = fmt.Errorf("preview: %s is the plan of a dry run and has no payload files: cook the scene without --dry-run", open.Source.Path)
	}
	if err == nil && whole {
		open.whole()
	}
	return open, err
}

// reload shows the scene as it was cooked anew; the camera stays.
func (a *app) reload() error {
	open, err := a.load(a.current)
	if err != nil {
		return err
	}
	params, err := textureParams(&a.o.Config, open.Source.Manifest)
	if err != nil {
		return err
	}
	open.Source.Reload = a.reader(a.current)
	id, err := a.reopen(open)
	if err != nil {
		return err
	}
	a.follow(id, open, params)
	a.taken = false
	return nil
}

// follow takes over a scene in the place of the one before it.
func (a *app) follow(id runtime.SceneID, open *Loaded, params texture.Params) {
	a.r.SetBatchScene(a.id, 0)
	a.r.SetBatchScene(id, batchCell(open))
	a.id, a.textures = id, params
	a.adopt(open)
	a.rig.SetBounds(a.look.Bounds)
}

// reader reads a scene again for the runtime, which finds that payloads are not
// those that the manifest declares. It is called beside the frames, in which
// scenes can be added to the list.
func (a *app) reader(i int) func(context.Context) (runtime.Source, error) {
	scene, whole := a.scenes[i], a.o.Whole
	var read func(context.Context) (runtime.Source, error)
	read = func(context.Context) (runtime.Source, error) {
		open, err := scene.load(whole)
		if err != nil {
			return runtime.Source{}, err
		}
		open.Source.Reload = read
		a.fresh.Store(open)
		return open.Source, nil
	}
	return read
}

// succeeded takes over the scene that the runtime has made of a manifest that it
// has read again.
func (a *app) succeeded(id runtime.SceneID) {
	open := a.fresh.Swap(nil)
	if open == nil {
		return
	}
	params, err := textureParams(&a.o.Config, open.Source.Manifest)
	if err != nil {
		a.fault(fmt.Sprintf("%s was cooked again, but: %v", open.Source.Path, err))
		params = a.textures
	}
	if a.session == nil {
		a.judge.Follow(id, open.Source.Manifest)
	}
	a.follow(id, open, params)
	a.taken = true
	a.say("cooked again: " + a.scenes[a.current].Name)
}

// reopen tells the runtime of a scene that was cooked anew.
func (a *app) reopen(open *Loaded) (runtime.SceneID, error) {
	if a.session != nil {
		return a.session.Reload(open.Source.Manifest)
	}
	id, err := a.s.ReloadScene(a.id, open.Source)
	if err == nil {
		a.judge.Follow(id, open.Source.Manifest)
	}
	return id, err
}

func (a *app) aspect() float64 {
	w, h := a.surf.Size()
	return float64(w) / float64(h)
}

// loop runs frames until the end.
func (a *app) loop() error {
	a.clock.start = time.Now()
	a.pacer.start()
	last := time.Duration(0)
	for !a.ended && a.ctx.Err() == nil {
		begin, cpu := time.Now(), cpuTime()
		dt := a.o.FixedDT
		if a.clock.virtual {
			a.clock.now = time.Duration(a.frame) * dt
		} else {
			now := a.clock.elapsed()
			dt, last = now-last, now
		}
		if err := a.step(dt); err != nil {
			if a.ctx.Err() != nil && errors.Is(err, context.Canceled) {
				break
			}
			return err
		}
		a.busy = time.Since(begin)
		a.usual += (a.busy - a.usual) / usualFrames
		a.cost.Frame, a.cost.MS, a.cost.CPU = a.frame, a.busy.Seconds()*1e3, (cpuTime()-cpu).Seconds()*1e3
		a.cost.Interval = a.pacer.hand(a.ctx).Seconds() * 1e3
		if a.frame > 0 { // the first one compiles shaders
			a.meter.timed(&a.cost)
		}
		if a.o.OnFrame != nil {
			if err := a.o.OnFrame(&a.cost); err != nil {
				return err
			}
		}
		a.overlay.times.add(a.busy)
		a.frame++
		if err := a.nothingWanted(false); err != nil {
			return err
		}
		if a.ended = a.ended || a.done(); !a.ended {
			a.wait()
		}
	}
	return a.finish()
}

// step is one frame.
func (a *app) step(dt time.Duration) error {
	c := &a.cost
	*c = Frame{}
	a.dt = dt
	a.handle()
	a.newCook()
	a.move(dt)
	w := stopwatch{time.Now()}
	var err error
	if a.session != nil {
		err = a.advance(&w)
	} else {
		err = a.live(&w)
	}
	if err != nil {
		return err
	}
	a.appearing()
	if a.settles() {
		if err := a.r.Settle(a.ctx); err != nil {
			return fmt.Errorf("preview: %w", err)
		}
	}
	c.Upload = w.lap()
	a.tellShortage()
	a.draw()
	c.drew(&a.stats)
	w.lap()
	if err := a.surf.Present(); err != nil {
		return err
	}
	c.Present = w.lap()
	c.GC = a.meter.collections.since()
	return a.picture()
}

// live runs the frame of a runtime in real time.
func (a *app) live(w *stopwatch) error {
	c := &a.cost
	a.gate.deliver()
	a.relieve()
	c.Load = w.lap()
	if !a.paused {
		a.s.Update(a.streamCam, a.dt)
		a.updates++
		c.Update = w.lap()
		a.judge.Updated(time.Duration(c.Update * 1e6))
	}
	if err := a.takeEvents(); err != nil {
		return err
	}
	st := a.s.Stats()
	a.judge.Frame(a.s, &st, a.streamCam.Position, a.clock.elapsed(), a.dt)
	a.drawn = append(a.drawn[:0], a.judge.Drawn()...)
	a.limitBatches()
	w.lap()
	if err := a.streamTextures(); err != nil {
		return err
	}
	c.Textures = w.lap()
	a.r.Pump(render.Budget{Time: max(uploadTime, a.usual/uploadPart), Bytes: uploadBytes})
	return nil
}

// settles reports whether a frame waits for its textures: pictures of a run on
// a virtual clock must not depend on how fast they come.
func (a *app) settles() bool { return a.clock.virtual && a.o.RecordDir != "" }

func (a *app) draw() {
	f := render.Frame{
		Camera: a.drawCam, CullCamera: a.frozen, Drawn: a.drawn, Root: a.rootOf, View: a.view, Wireframe: a.show.Wireframe,
		Sun: a.sun, Exposure: a.exposure, Bounds: &a.bounds,
	}
	root := a.root(a.id)
	a.bounds = a.look.Bounds.Transform(&root)
	w := stopwatch{time.Now()}
	a.overlay.compose(a, &f)
	a.cost.HUD = w.lap()
	a.stats = a.r.Draw(f)
	a.meter.frame(&a.stats)
	a.settleCount()
}

func (a *app) root(id runtime.SceneID) geom.Mat4 {
	if m, ok := a.s.SceneTransform(id); ok {
		return m
	}
	return geom.Identity()
}

// settleCount counts the frames in which there was nothing to wait for.
func (a *app) settleCount() {
	st := a.s.Stats()
	if st.ActiveLoads > 0 || st.PendingLoadBacklog > 0 || a.stats.Pending > 0 || a.stats.TexturesPending > 0 || a.stats.BatchWork > 0 || len(a.drawn) == 0 {
		a.quiet = 0
		return
	}
	a.quiet++
}

// takeEvents passes on what the runtime reports in real time.
func (a *app) takeEvents() error {
	events := a.s.Events()
	a.cost.Events += len(events)
	for i := range events {
		e := &events[i]
		if e.Kind == runtime.EventSceneReload {
			a.succeeded(e.Scene)
		}
		a.judge.Event(e)
		r := simulate.NewRecord(e, origin)
		if err := a.record(&r); err != nil {
			return err
		}
		a.alarmOf(e)
	}
	return a.failed
}

// noticed is told of an event in virtual time.
func (a *app) noticed(e *runtime.Event) {
	a.cost.Events++
	if e.Kind == runtime.EventSceneReload {
		a.succeeded(e.Scene)
	}
	a.alarmOf(e)
}

// alarmOf tells the person of a load that went wrong.
func (a *app) alarmOf(e *runtime.Event) {
	if isFailure(e.Kind) && e.Err != nil {
		a.news.alarm(a.clock.elapsed(), fmt.Sprintf("tile %s: %v", e.Tile, e.Err))
	}
}

// textureEvent passes on what happens to a texture in real time.
func (a *app) textureEvent(e *texture.Event, slot texture.Slot) {
	if a.o.OnRecord == nil || a.failed != nil {
		return
	}
	r := simulate.NewTextureRecord(e, slot, a.clock.elapsed(), max(1, a.updates)-1)
	a.failed = a.o.OnRecord(&r)
}

// relief is the runtime.TextureRelief of real time: what has happened so far
// comes before what it does to textures.
type relief struct{ *app }

// Shed makes textures smaller.
func (f relief) Shed(n int) int {
	if err := f.takeEvents(); err != nil {
		f.failed = err
	}
	return f.r.Shed(n)
}

// move takes the camera to its place in this frame.
func (a *app) move(dt time.Duration) {
	if a.following && a.input.moves() {
		a.following = false // a person takes over
		a.rig.Jump(camera.Pose{Position: a.streamCam.Position, Forward: a.streamCam.Forward, FovYDegrees: a.streamCam.FovYDegrees})
	}
	if a.following {
		a.streamCam = a.o.Path.At(a.clock.elapsed())
		a.drawCam = a.streamCam
		a.drawCam.Aspect = a.aspect()
		a.drawCam.Near, a.drawCam.Far = camera.Clip(a.look.Bounds, a.streamCam.Position)
	} else {
		a.rig.Step(a.input.take(a.surf), dt.Seconds())
		a.streamCam = a.rig.Camera(a.aspect())
		a.drawCam = a.streamCam
	}
	if a.recording != nil {
		a.recording.Add(a.clock.elapsed()-a.recorded, a.streamCam)
	}
}

// pumpAll uploads everything that waits.
func pumpAll(r renderer) {
	for range 1 << 20 {
		if r.Pump(render.Budget{}) {
			return
		}
	}
}
