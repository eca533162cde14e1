package preview

import (
	"context"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/simulate"
)

// Virtual time is that of package simulate, whose model of loads, memory and
// textures decides what happens when; the preview reads what the model says has
// been loaded, and draws it.

// openSession opens a scene in virtual time.
func (a *app) openSession(open *Loaded, cfg runtime.Config) (*simulate.Session, error) {
	sc := simulate.Cooked(open.Source.Path, open.Source.Manifest)
	sc.Config, sc.DT = cfg, a.o.FixedDT
	if a.o.Latency != nil {
		sc.Latency = simulate.Latency{Default: *a.o.Latency}
	}
	o := simulate.Options{
		Base: open.Source.Base, MaxTexture: a.o.Render.MaxTexture, OnEvent: a.noticed,
		OnRecord: func(r *simulate.Record) error { return a.record(r) },
		Drawing:  &simulate.Drawing{Loader: a.loader, Fetcher: a.o.Fetcher, Await: a.o.AwaitTextures, Device: a.r, Lines: a.lines()},
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
	return simulate.Start(a.ctx, sc, o)
}

// advance runs the frame of the session: what is due is read, decided, and
// uploaded.
func (a *app) advance(w *stopwatch) error {
	c := &a.cost
	if !a.paused {
		if err := a.session.Frame(a.ctx, a.streamCam); err != nil {
			return err
		}
		c.Update = a.session.UpdateTime().Seconds() * 1e3
	}
	c.Load = max(0, w.lap()-c.Update)
	a.drawn = append(a.drawn[:0], a.session.Drawn()...)
	a.limitBatches()
	w.lap()
	if err := a.r.AwaitTextures(a.ctx); err != nil {
		return err
	}
	c.Textures = w.lap()
	pumpAll(a.r)
	return nil
}

// record passes a record on.
func (a *app) record(r *simulate.Record) error {
	if a.o.OnRecord == nil {
		return nil
	}
	return a.o.OnRecord(r)
}

// latency returns how long a load takes at least in real time.
func (o *Options) latency() time.Duration {
	if o.Latency == nil {
		return 0
	}
	return *o.Latency
}
