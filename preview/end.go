package preview

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/simulate"
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
	nothing := a.nothingWanted(true)
	if a.recording != nil {
		a.savePath()
	}
	if a.o.Screenshot == "" || a.frame == 0 {
		return errors.Join(nothing, a.outOfView())
	}
	img, err := a.lastPicture(a.ctx)
	if err != nil {
		return err
	}
	return errors.Join(writePNG(a.o.Screenshot, img), nothing, a.outOfView())
}

// lastPicture draws what there is with all its textures, those that are on their
// way included. No frame may follow.
func (a *app) lastPicture(ctx context.Context) (*image.NRGBA, error) {
	ctx, stop := context.WithTimeout(ctx, settleLimit)
	defer stop()
	if a.session != nil {
		if err := a.session.Rest(ctx); err != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("preview: %w", err)
		}
	}
	if a.o.AwaitTextures != nil && a.o.AwaitTextures(ctx) == nil {
		a.r.RetryTextures()
	}
	if err := a.r.Settle(ctx); err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	a.appear.end(a.drawn)
	a.draw()
	return a.r.ReadPixels(), nil
}

// ErrNothingSeen is matched by the error of a headless run whose camera stands
// where nothing of the scene is wanted or in view.
var ErrNothingSeen = errors.New("preview: nothing to see")

// wantTicks is how many looks at the scene the runtime gets before nothing counts
// as wanted.
const wantTicks = 2

// still reports whether nobody will move the camera or bring another scene.
func (a *app) still() bool {
	if !a.o.Headless || a.o.Watch {
		return false
	}
	return a.o.Path == nil || !slices.ContainsFunc(a.o.Path.Keys, func(k simulate.CameraKey) bool { return k.Position != a.o.Path.Keys[0].Position })
}

// nothingWanted ends a run that would wait for ever, with an empty picture; one
// with a camera that moves is judged at its end.
func (a *app) nothingWanted(end bool) error {
	st := a.s.Stats()
	if !a.still() && !(end && a.o.Headless) || st.Ticks < wantTicks || st.Loads > 0 || st.LoadCandidates > 0 || len(a.drawn) > 0 || a.empty {
		return nil
	}
	for _, t := range a.s.Snapshot().Tiles {
		if t.Wanted != runtime.RepNone {
			a.empty = true // there is no room for it: what budgets do is no fault of the camera's
			return nil
		}
	}
	return fmt.Errorf("%w: %s", ErrNothingSeen, a.whyNothing())
}

// whyNothing says how far the scene is from where it would be wanted.
func (a *app) whyNothing() string {
	root := a.root(a.id)
	best, nearest := runtime.TileInfo{}, math.Inf(1)
	for i := range a.s.TileCount(a.id) {
		if info, ok := a.s.TileInfo(a.id, int32(i)); ok {
			if d := info.Bounds.Box().Transform(&root).Distance(a.streamCam.Position); d < nearest {
				best, nearest = info, d
			}
		}
	}
	if math.IsInf(nearest, 1) {
		return fmt.Sprintf("%s has no tiles", a.open.Source.Path)
	}
	cfg := a.o.Config.For(a.open.Source.Manifest)
	a.open.reach(&cfg)
	radius := best.Streaming
	if best.HLOD > 0 || len(best.LODs) > 0 {
		radius = cfg.MaxQueryRadius
	}
	if radius = min(radius, cfg.MaxQueryRadius); nearest <= radius {
		return fmt.Sprintf("the camera at %s wants no tile; the nearest of %d, %s, is held back, as other floors and rooms are. Move the camera (--camera-path, --orbit),"+
			" or show everything with --whole", place(a.streamCam.Position), a.s.TileCount(a.id), best.ID)
	}
	return fmt.Sprintf("the camera at %s wants no tile; the nearest of %d, %s, is %s away and wanted within %s. Move the camera (--camera-path, --orbit),"+
		" show everything with --whole, or cook the scene without radii of your own", place(a.streamCam.Position), a.s.TileCount(a.id), best.ID,
		human.Distance(nearest), human.Distance(radius))
}

// outOfView is the error of a last picture in which no tile is, although all that
// is wanted has been loaded.
func (a *app) outOfView() error {
	if !a.still() || a.quiet == 0 || a.stats.Draws > 0 {
		return nil
	}
	return fmt.Errorf("%w: the camera at %s, looking along %s, has none of the %d tiles in view that are loaded. Turn it (--camera-path, --orbit)",
		ErrNothingSeen, place(a.streamCam.Position), place(a.streamCam.Forward), len(a.drawn))
}

// place writes a point for people; adding 0 makes -0 one, too.
func place(p geom.Vec3) string { return fmt.Sprintf("(%.4g, %.4g, %.4g)", p[0]+0, p[1]+0, p[2]+0) }

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
	rep.SSIMMin = 1 // until something is compared
	rep.Seconds = a.clock.elapsed().Seconds()
	return rep
}
