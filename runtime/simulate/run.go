package simulate

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/untoldkit/untold/internal/clock"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// Options change how a scenario is run. The zero value runs it as it says.
type Options struct {
	// Bandwidth, in bytes per second, is shared by all downloads at a time, of
	// which there are as many as a remote.Fetcher has by default, to one host;
	// 0 is unlimited. NetworkLatency precedes every download. When one of them
	// is set they take the place of the scenario's download times.
	Bandwidth      float64
	NetworkLatency time.Duration
	// Opening is how long the manifest has taken, or takes over that network, before the
	// first frame: it counts in the time to a picture.
	Opening time.Duration
	// Ranges lets tiles of a cooked scene that stream mesh by mesh come in parts
	// over that network, if their files are such that they could: the tables
	// first, then each mesh when it is wanted.
	Ranges bool
	// Fetcher and Loader, when set, load for real in the place of the scenario's
	// times, with Base as the Source's. While they work a frame takes as long on
	// the wall clock as it says; between, time flies. What happens when then
	// depends on the world, and two runs differ. What is under way after the last
	// frame gets 10 s more, which nothing is measured in, so that a cache behind
	// them is complete.
	Fetcher payload.Fetcher
	Loader  payload.Loader
	Base    string
	// Reload, when set, reads the manifest again when a payload that was loaded for
	// real is not the declared one.
	Reload func(ctx context.Context) (*manifest.Manifest, error)
	// TextureSource, when set, opens the files of textures that a Fetcher, of Drawing too,
	// does not bring with their payloads.
	TextureSource texfile.Source
	// Series asks for Result.Series, which a plot needs.
	Series bool
	// OnRecord, when set, gets every event as it happens; Result.Records stays
	// nil then, unless the scenario has expectations.
	OnRecord func(*Record) error
	// OnEvent, when set, gets every event of the runtime as it is, before its
	// record; those of textures have a record alone.
	OnEvent func(*event.Event)
	// Drawing, when set, makes the run one that is drawn as well.
	Drawing *Drawing
	// MaxTexture is the longest edge of a texture that the device takes; 0: 2048,
	// as in the preview.
	MaxTexture int
	// Progress, when set, is called now and then with the frames done and the
	// frames in all.
	Progress func(done, total int)

	wall clock.Clock // of tests
}

// real reports whether loads take real time.
func (o *Options) real() bool { return o.Fetcher != nil || o.Loader != nil }

// Result is what a run gave.
type Result struct {
	Records     []Record
	Differences []Difference // from the scenario's expectations
	Report      Report
	Series      *Series // nil unless asked for
	// UpdateSeconds is the wall clock of all updates together.
	UpdateSeconds float64
}

// Run runs a scenario on a fake clock: frame k is at k*dt. In a frame the
// completions that are due are delivered, actions and pressure happen, the
// runtime is updated, and what it reports is kept. A run ends early when ctx is
// done. Two runs of the same scenario give the same result, the update times
// and what Options.Fetcher and Options.Loader bring about aside.
func Run(ctx context.Context, s *Scenario, o Options) (*Result, error) {
	session, err := Start(ctx, s, o)
	if err != nil {
		return nil, err
	}
	r := session.r
	err = r.frames(ctx, session)
	r.finish()
	if e := session.Close(); err == nil {
		err = e
	}
	if r.err != nil {
		err = r.err
	}
	if err != nil {
		return nil, err
	}
	r.res.Differences = Check(s, r.res.Records, r.counters)
	if o.Series {
		r.res.Series = r.series
	}
	return r.res, nil
}

// run is a scenario under way.
type run struct {
	s        *Scenario
	o        Options
	w        *model
	streamer *runtime.Streamer
	scene    payload.SceneID  // the scenario's, or what has taken its place
	regions  *runtime.Regions // nil: none
	meter    *Meter
	series   *Series
	res      *Result
	counters []CounterSample
	pacer    pacer
	fresh    atomic.Pointer[manifest.Manifest] // read again
	camera   runtime.Camera                    // of the latest frame
	took     time.Duration                     // its Update, on the wall clock
	started  bool                              // there was a frame
	followed bool                              // another manifest has taken the place of the scenario's
	keep     bool
	loading  bool  // requests were under way after the latest update
	over     bool  // no records are taken any more
	err      error // of OnRecord, where nothing could return it
	action   int   // the next of the scenario's actions
	pressure int   // the next of its pressure signals
}

func (r *run) source() runtime.Source {
	src := runtime.Source{Path: r.s.ManifestPath, Base: r.o.Base, Manifest: r.s.Manifest}
	if r.o.Reload == nil {
		return src
	}
	again := src
	src.Reload = func(ctx context.Context) (runtime.Source, error) {
		m, err := r.o.Reload(ctx)
		if err == nil {
			r.fresh.Store(m)
		}
		again.Manifest, again.Reload = m, src.Reload
		return again, err
	}
	return src
}

// begin makes what is measured, and the tiles that are there from the start.
func (r *run) begin() error {
	r.meter = NewMeter(r.s)
	r.meter.Opened(r.o.Opening)
	if r.w.textures != nil {
		r.meter.CountTexels(r.w.textures.texels)
	}
	if r.o.Series {
		r.series = newSeries(r.s)
	}
	r.keep = r.o.OnRecord == nil || len(r.s.Expect)+len(r.s.ExpectNone) > 0 || r.s.Exact
	r.w.setMemory()
	if err := r.place(); err != nil {
		return err
	}
	return r.adopt()
}

// frames runs all frames along the scenario's path.
func (r *run) frames(ctx context.Context, session *Session) error {
	total := int(r.s.Duration/r.s.DT) + 1
	often := 256
	if r.o.real() {
		often = 32
	}
	for k := range total {
		if k%often == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.progress(k, total)
		}
		if err := session.Frame(ctx, r.s.Path.At(time.Duration(k)*r.s.DT)); err != nil {
			return err
		}
		if r.o.real() {
			if err := r.pacer.frame(ctx, r.loading, r.s.DT); err != nil {
				return err
			}
		}
	}
	r.progress(total, total)
	return r.settle(ctx)
}

func (r *run) progress(done, total int) {
	if r.o.Progress != nil {
		r.o.Progress(done, total)
	}
}

// step runs one frame.
func (r *run) step(camera runtime.Camera) error {
	r.camera = camera
	r.w.setMemory()
	if err := r.w.deliver(); err != nil {
		return err
	}
	if err := r.act(); err != nil {
		return err
	}
	r.visit(camera)
	start := time.Now()
	r.streamer.Update(camera, r.s.DT)
	r.took = time.Since(start)
	r.res.UpdateSeconds += r.took.Seconds()
	r.meter.Updated(r.took)
	if err := r.take(); err != nil {
		return err
	}
	stats := r.streamer.Stats()
	r.note(&stats)
	r.meter.Frame(r.streamer, &stats, &camera, r.w.now, r.s.DT)
	if r.w.textures != nil {
		r.w.textures.frame(camera, r.meter.drawn, &stats, r.streamer.Drafts())
	}
	if r.series != nil && !r.followed && r.w.frame%r.series.every == 0 { // it has the tiles of one manifest
		r.series.frame(r.streamer.Snapshot(), r.scene, r.meter.nearest, r.w.textures)
	}
	for i := range r.s.ExpectStats {
		if e := &r.s.ExpectStats[i]; (e.T - r.w.now).Abs() <= r.s.DT/2 {
			v, ok := r.w.textures.counter(e.Counter)
			if !ok {
				v, _ = stats.Counter(e.Counter)
			}
			r.counters = append(r.counters, CounterSample{r.w.now, e.Counter, v})
		}
	}
	return r.err
}

// adopt makes tiles resident that the scenario wants so from the start.
func (r *run) adopt() error {
	for i := range r.s.Manifest.Tiles {
		id := r.s.Manifest.Tiles[i].ID
		if !r.s.Tiles[id].Parsed {
			continue
		}
		if err := r.streamer.AddResident(r.scene, id, payload.RepFull, r.w.payload(id, payload.RepFull)); err != nil {
			return err
		}
		r.meter.tiles[i].parsed = true
	}
	return nil
}

// act does what the scenario has for this frame.
func (r *run) act() error {
	for ; r.action < len(r.s.Actions) && r.s.Actions[r.action].T <= r.w.now; r.action++ {
		switch r.s.Actions[r.action].Do {
		case ForceUnloadAll:
			r.streamer.UnloadAll()
			r.meter.reset()
		case ReloadScene:
			id, err := r.streamer.ReloadScene(r.scene, r.source())
			if err != nil {
				return err
			}
			if r.scene, r.meter.first = id, id; r.meter.scene != 0 {
				r.meter.scene = id
			}
			r.meter.reset()
		case SetTransform:
			if err := r.streamer.SetSceneTransform(r.scene, *r.s.Actions[r.action].Transform); err != nil {
				return err
			}
			if r.w.textures != nil {
				r.w.textures.move(r.scene)
			}
		}
		if err := r.take(); err != nil {
			return err
		}
	}
	for ; r.pressure < len(r.s.Pressure) && r.s.Pressure[r.pressure].T <= r.w.now; r.pressure++ {
		level := memory.PressureWarning
		if r.s.Pressure[r.pressure].Critical {
			level = memory.PressureCritical
		}
		r.streamer.NotifyMemoryPressure(level)
	}
	return nil
}

// take reads the events since the last time.
func (r *run) take() error {
	events := r.streamer.Events()
	for i := range events {
		if events[i].Kind == event.SceneReload {
			if m := r.fresh.Swap(nil); m != nil {
				r.follow(events[i].Scene, m)
			}
		}
		r.meter.Event(&events[i])
		if r.o.OnEvent != nil && !r.over {
			r.o.OnEvent(&events[i])
		}
		r.record(NewRecord(&events[i], origin))
	}
	return r.err
}

// follow takes over a manifest that has taken the place of the last one.
func (r *run) follow(id payload.SceneID, m *manifest.Manifest) {
	sc := *r.s
	sc.Manifest = m
	if sc.Cooked {
		sc.measure()
	}
	r.s, r.scene, r.followed = &sc, id, true
	r.meter.Follow(id, m)
	r.w.follow(&sc)
}

// early takes the events of an update that is under way, before what is about
// to happen to textures.
func (r *run) early() {
	_ = r.take() // step returns the error
}

// record passes a record on.
func (r *run) record(rec Record) {
	if r.over || r.err != nil {
		return
	}
	if r.keep {
		r.res.Records = append(r.res.Records, rec)
	}
	if r.o.OnRecord != nil {
		r.err = r.o.OnRecord(&rec)
	}
}
