package simulate

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/untoldkit/untold/internal/walltime"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
)

// Options change how a scenario is run. The zero value runs it as it says.
type Options struct {
	// Bandwidth, in bytes per second, is shared by all downloads at a time;
	// 0 is unlimited. NetworkLatency precedes every download. When one of them
	// is set they take the place of the scenario's download times.
	Bandwidth      float64
	NetworkLatency time.Duration
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
	Fetcher runtime.Fetcher
	Loader  runtime.Loader
	Base    string
	// Reload, when set, reads the manifest again when a payload that was loaded for
	// real is not the declared one.
	Reload func(ctx context.Context) (*manifest.Manifest, error)
	// Series asks for Result.Series, which a plot needs.
	Series bool
	// OnRecord, when set, gets every event as it happens; Result.Records stays
	// nil then, unless the scenario has expectations.
	OnRecord func(*Record) error
	// Progress, when set, is called now and then with the frames done and the
	// frames in all.
	Progress func(done, total int)

	wall wall // of tests
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
	if s.Manifest == nil {
		return nil, fmt.Errorf("simulate: the scenario's manifest %q is not loaded: use Load", s.ManifestPath)
	}
	r := &run{s: s, o: o, w: newWorld(s, &o), res: &Result{}, pacer: pacer{wall: o.wall}}
	if o.wall == nil {
		r.pacer.wall = walltime.Clock{}
	}
	var err error
	if r.w.textures, err = newTextureTier(r.w, r.record, r.early); err != nil {
		return nil, err
	}
	r.streamer, err = runtime.Open(ctx, r.source(), s.Config, r.w.deps())
	if err != nil {
		return nil, err
	}
	err = r.frames(ctx)
	r.res.Report = r.meter.report(r)
	if r.w.textures != nil {
		r.w.textures.report(&r.res.Report)
		r.over = true // what closing does is no part of the run
	}
	if e := r.streamer.Close(); err == nil {
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
	w        *world
	streamer *runtime.Streamer
	meter    *meter
	series   *Series
	res      *Result
	counters []CounterSample
	pacer    pacer
	fresh    atomic.Pointer[manifest.Manifest] // read again
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

func (r *run) frames(ctx context.Context) error {
	r.meter = newMeter(r.s)
	if r.o.Series {
		r.series = newSeries(r.s)
	}
	r.keep = r.o.OnRecord == nil || len(r.s.Expect)+len(r.s.ExpectNone) > 0 || r.s.Exact
	r.w.setMemory()
	if err := r.adopt(); err != nil {
		return err
	}
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
		r.w.now, r.w.frame = time.Duration(k)*r.s.DT, k
		if err := r.step(); err != nil {
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
func (r *run) step() error {
	r.w.setMemory()
	r.w.deliver()
	if err := r.act(); err != nil {
		return err
	}
	camera := r.s.Path.At(r.w.now)
	start := time.Now()
	r.streamer.Update(camera, r.s.DT)
	took := time.Since(start).Seconds()
	r.res.UpdateSeconds += took
	r.meter.updates = append(r.meter.updates, float32(took*1000))
	if err := r.take(); err != nil {
		return err
	}
	stats := r.streamer.Stats()
	r.note(&stats)
	r.meter.frame(r.streamer, &stats, camera.Position)
	if r.w.textures != nil {
		r.w.textures.frame(camera, r.meter.drawn, &stats)
	}
	if r.series != nil && r.meter.scene == 0 && r.w.frame%r.series.every == 0 { // it has the tiles of one manifest
		r.series.frame(r.streamer.Snapshot(), r.meter.nearest, r.w.textures)
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
	scene := r.streamer.Scenes()[0]
	for i := range r.s.Manifest.Tiles {
		id := r.s.Manifest.Tiles[i].ID
		if !r.s.Tiles[id].Parsed {
			continue
		}
		if err := r.streamer.Adopt(scene, id, runtime.RepFull, r.w.payload(id, runtime.RepFull)); err != nil {
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
			r.streamer.ForceUnloadAll()
			r.meter.reset()
		case ReloadScene:
			if _, err := r.streamer.ReloadScene(r.streamer.Scenes()[0], r.source()); err != nil {
				return err
			}
			r.meter.reset()
		}
		if err := r.take(); err != nil {
			return err
		}
	}
	for ; r.pressure < len(r.s.Pressure) && r.s.Pressure[r.pressure].T <= r.w.now; r.pressure++ {
		level := runtime.PressureWarning
		if r.s.Pressure[r.pressure].Critical {
			level = runtime.PressureCritical
		}
		r.streamer.Pressure(level)
	}
	return nil
}

// take reads the events since the last time.
func (r *run) take() error {
	events := r.streamer.Events()
	for i := range events {
		if events[i].Kind == runtime.EventSceneReload {
			if m := r.fresh.Swap(nil); m != nil {
				r.meter.follow(events[i].Scene, m)
			}
		}
		r.meter.event(&events[i])
		r.record(NewRecord(&events[i], origin))
	}
	return r.err
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
