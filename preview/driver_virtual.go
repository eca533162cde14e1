//go:build !js

package preview

import (
	"context"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/simulate"
)

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
