package preview

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/simulate"
	"github.com/untoldkit/untold/runtime/texture"
)

// driver owns the Streamer of the shown scene and what decides when something
// happens to it: liveDriver the clock on the wall, virtualDriver the model of
// package simulate.
type driver interface {
	streamer() *runtime.Streamer
	// update runs the Streamer's frame, unless it is paused, reports what has
	// happened and returns what is to be drawn.
	update(ctx context.Context, cam runtime.Camera, dt time.Duration, paused bool, w *stats.Stopwatch, c *stats.Frame) ([]runtime.Drawn, error)
	// reload tells the Streamer of a scene that was cooked anew.
	reload(id payload.SceneID, open *Loaded) (payload.SceneID, error)
	// follow is told of a scene that the Streamer itself has made of a manifest
	// that it has read again.
	follow(id payload.SceneID, m *manifest.Manifest)
	// settle waits for the textures that are on their way.
	settle(ctx context.Context) error
	figures() simulate.Report
	errorPixels() float64 // of the latest frame
	close() error
}

// recordSink passes records on to Options.OnRecord, and keeps the error of those
// that come where nothing can return it.
type recordSink struct {
	out     func(*simulate.Record) error // nil: dropped
	clock   *clock
	updates uint64 // of the Streamer, in real time
	failed  error
}

func (k *recordSink) put(r *simulate.Record) error {
	if k.out == nil {
		return nil
	}
	return k.out(r)
}

// texture passes on what happens to a texture in real time.
func (k *recordSink) texture(e *texture.Event, slot texture.Slot) {
	if k.out == nil || k.failed != nil {
		return
	}
	r := simulate.NewTextureRecord(e, slot, k.clock.elapsed(), max(1, k.updates)-1)
	k.failed = k.out(&r)
}

// liveDriver is the driver of real time. It measures the scene as the simulation
// does.
type liveDriver struct {
	s       *runtime.Streamer
	regions *runtime.Regions // nil: none
	meter   *simulate.Meter
	gate    *gate
	clock   *clock
	r       renderer
	records *recordSink
	noticed func(*event.Event)
}

// openLive opens a scene in real time.
func (a *app) openLive(open *Loaded, cfg config.Config) (driver, error) {
	sc := simulate.Cooked(open.Source.Path, open.Source.Manifest)
	sc.Config = cfg
	l := &liveDriver{
		meter: simulate.NewMeter(sc), gate: &gate{inner: a.loader, clock: a.clock, latency: a.o.latency()},
		clock: a.clock, r: a.r, records: &a.records, noticed: a.noticed,
	}
	deps := runtime.Deps{
		Clock: a.clock, Loader: l.gate, Device: a.r, Visibility: a.r, Packer: a.r, Textures: l, MemoryProbe: a.memory.probe, Prewarmer: a.r, Logger: a.o.Logger,
	}
	if a.o.Fetcher != nil {
		deps.Fetcher = a.o.Fetcher
	}
	s, err := runtime.Open(a.ctx, open.Source, cfg, deps)
	if err != nil {
		return nil, err
	}
	l.s = s
	l.meter.CountTexels(a.r.TexelPixels)
	l.meter.Opened(open.Took)
	if err := l.place(a.o, open); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// place puts the scene where the options want it and adds what is beside it.
func (l *liveDriver) place(o *Options, open *Loaded) error {
	scene := l.s.Scenes()[0]
	_, regions, err := o.Set(l.s, scene, open.Source)
	if err != nil {
		return fmt.Errorf("preview: %w", err)
	}
	if l.regions = regions; len(o.Entities)+len(o.Regions) > 0 {
		l.meter.Follow(scene, open.Source.Manifest) // and nothing beside it
	}
	return nil
}

func (l *liveDriver) streamer() *runtime.Streamer { return l.s }

func (l *liveDriver) update(_ context.Context, cam runtime.Camera, dt time.Duration, paused bool, w *stats.Stopwatch, c *stats.Frame) ([]runtime.Drawn, error) {
	l.gate.deliver()
	c.Load = w.Lap()
	if !paused {
		if l.regions != nil {
			l.regions.Update(cam, dt)
		}
		l.s.Update(cam, dt)
		l.records.updates++
		c.Update = w.Lap()
		l.meter.Updated(time.Duration(c.Update * 1e6))
	}
	if err := l.takeEvents(); err != nil {
		return nil, err
	}
	st := l.s.Stats()
	l.meter.Frame(l.s, &st, &cam, l.clock.elapsed(), dt)
	return l.meter.Drawn(), nil
}

// takeEvents passes on what the runtime reports.
func (l *liveDriver) takeEvents() error {
	events := l.s.Events()
	for i := range events {
		e := &events[i]
		l.noticed(e)
		l.meter.Event(e)
		r := simulate.NewRecord(e, origin)
		if err := l.records.put(&r); err != nil {
			return err
		}
	}
	return l.records.failed
}

// Shed is the runtime.TextureRelief: what has happened so far comes before what
// it does to textures.
func (l *liveDriver) Shed(n int) int {
	if err := l.takeEvents(); err != nil {
		l.records.failed = err
	}
	return l.r.Shed(n)
}

func (l *liveDriver) reload(id payload.SceneID, open *Loaded) (payload.SceneID, error) {
	id, err := l.s.ReloadScene(id, open.Source)
	if err == nil {
		l.follow(id, open.Source.Manifest)
	}
	return id, err
}

func (l *liveDriver) follow(id payload.SceneID, m *manifest.Manifest) { l.meter.Follow(id, m) }

func (l *liveDriver) settle(context.Context) error { return nil }

func (l *liveDriver) figures() simulate.Report {
	r, st := l.meter.Report(), l.s.Stats()
	r.BytesRequested, r.BytesLoaded = st.BytesRequested, st.BytesLoaded
	return r
}

func (l *liveDriver) errorPixels() float64 { return l.meter.ErrorPixels() }

func (l *liveDriver) close() error {
	if l.regions != nil {
		l.regions.Close()
	}
	return l.s.Close()
}

// virtualDriver is the driver of virtual time: the model of package simulate
// decides what has been loaded when; the preview reads that, and draws it.
type virtualDriver struct{ *simulate.Session }

// openVirtual opens a scene in virtual time.
func (a *app) openVirtual(open *Loaded, cfg config.Config) (driver, error) {
	sc := simulate.Cooked(open.Source.Path, open.Source.Manifest)
	sc.Config, sc.DT = cfg, a.o.FixedDT
	if err := sc.Place(&a.o.World); err != nil {
		return nil, err
	}
	if a.o.Latency != nil {
		sc.Latency = simulate.Latency{Default: *a.o.Latency}
	}
	o := simulate.Options{
		Base: open.Source.Base, MaxTexture: a.o.Render.MaxTexture, OnEvent: a.noticed, OnRecord: a.records.put,
		TextureSource: a.o.TextureSource,
		Drawing:       &simulate.Drawing{Loader: a.loader, Fetcher: a.o.Fetcher, Await: a.o.AwaitTextures, Device: a.r, Lines: a.lines()},
	}
	if reload := open.Source.Reload; reload != nil {
		o.Reload = func(ctx context.Context) (*manifest.Manifest, error) {
			src, err := reload(ctx)
			return src.Manifest, err
		}
	}
	if !a.o.Render.NoTextures {
		o.Drawing.Textures = a.r
	}
	if l := a.o.late; l != nil {
		l.renderer = a.r
		o.Drawing.Device = l
		if o.Drawing.Textures != nil {
			o.Drawing.Textures = l
		}
	}
	session, err := simulate.Start(a.ctx, sc, o)
	if err != nil {
		return nil, err
	}
	return virtualDriver{session}, nil
}

func (v virtualDriver) streamer() *runtime.Streamer { return v.Streamer() }

func (v virtualDriver) update(ctx context.Context, cam runtime.Camera, _ time.Duration, paused bool, w *stats.Stopwatch, c *stats.Frame) ([]runtime.Drawn, error) {
	if !paused {
		if err := v.Frame(ctx, cam); err != nil {
			return nil, err
		}
		c.Update = v.UpdateTime().Seconds() * 1e3
	}
	c.Load = max(0, w.Lap()-c.Update)
	return v.Drawn(), nil
}

func (v virtualDriver) reload(_ payload.SceneID, open *Loaded) (payload.SceneID, error) {
	return v.Reload(open.Source.Manifest)
}

func (v virtualDriver) follow(payload.SceneID, *manifest.Manifest) {}
func (v virtualDriver) settle(ctx context.Context) error           { return v.Rest(ctx) }
func (v virtualDriver) figures() simulate.Report                   { return v.Report() }
func (v virtualDriver) errorPixels() float64                       { return v.ErrorPixels() }
func (v virtualDriver) close() error                               { return v.Close() }

// latency returns how long a load takes at least in real time.
func (o *Options) latency() time.Duration {
	if o.Latency == nil {
		return 0
	}
	return *o.Latency
}

// rootOf returns where the Streamer has a scene.
func rootOf(s *runtime.Streamer, id payload.SceneID) geom.Mat4 {
	if m, ok := s.SceneTransform(id); ok {
		return m
	}
	return geom.Identity()
}
