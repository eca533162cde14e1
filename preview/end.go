package preview

import (
	"context"
	"fmt"
	"time"
)

// done reports whether the run has reached its end.
func (a *app) done() bool {
	switch {
	case a.o.Frames > 0:
		return a.frame >= a.o.Frames
	case !a.o.Headless:
		return false
	case a.o.Path != nil:
		end := a.pathEnd()
		if a.clock.virtual {
			return a.frame > int(end/a.o.FixedDT) // as many frames as simulate
		}
		return a.clock.elapsed() >= end
	case a.o.Screenshot != "":
		return a.quiet >= settledFrames || a.clock.elapsed() > settleLimit
	}
	return false
}

// A picture is taken when nothing was left to load for so many frames, or after
// the limit.
const (
	settledFrames = 30
	settleLimit   = 2 * time.Minute
)

func (a *app) pathEnd() time.Duration {
	if a.o.Duration > 0 {
		return a.o.Duration
	}
	return a.o.Path.Keys[len(a.o.Path.Keys)-1].T
}

// finish writes what is due at the end.
func (a *app) finish() error {
	if a.recording != nil {
		a.savePath()
	}
	if a.o.Screenshot == "" || a.frame == 0 {
		return nil
	}
	// Textures that are on their way belong into the picture.
	ctx, stop := context.WithTimeout(a.ctx, settleLimit)
	defer stop()
	if a.session != nil {
		if err := a.session.Rest(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("preview: %w", err)
		}
	}
	if a.o.AwaitTextures != nil && a.o.AwaitTextures(ctx) == nil {
		a.r.RetryTextures()
	}
	if err := a.r.Settle(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("preview: %w", err)
	}
	a.draw()
	return writePNG(a.o.Screenshot, a.r.ReadPixels())
}

func (a *app) report() *Report {
	a.retire()
	all := a.meter.closed
	if a.session == nil {
		addTextures(&all, &a.stats)
	}
	all.TexturesMissing = max(all.TexturesMissing, a.stats.TexturesMissing) // in the picture
	rep := a.meter.report(&all, a.s.Stats(), a.errs)
	info := a.r.Info()
	rep.Scene, rep.Device, rep.View = a.scenes[a.current].Name, info.Device+", OpenGL "+info.Version, a.view.String()
	rep.Seconds = a.clock.elapsed().Seconds()
	return rep
}
