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
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/simulate"
)

// ending decides when a run is over: it owns for how long nothing has been left to
// load, and what is known of tiles that fail, by their ids: the latest failure of
// each, which is of the worst of its representations, as all are tried in turn.
type ending struct {
	o      *Options
	quiet  int  // frames in a row in which nothing is left to load
	empty  bool // nothing is drawn, but something is wanted
	failed map[string]failedLoad
	tick   uint64 // of the runtime, since when nothing is on its way
}

// drew counts the frames in which there was nothing to wait for, the end of a draft included.
func (e *ending) drew(st *runtime.Stats, drawn *render.Stats, count int, drafts bool) {
	if drafts || st.ActiveLoads > 0 || st.PendingLoadBacklog > 0 || drawn.Pending > 0 || drawn.TexturesPending > 0 || drawn.BatchWork > 0 || drawn.Programs > 0 || count == 0 {
		e.quiet = 0
		return
	}
	e.quiet++
}

// done reports whether the run has reached its end.
func (e *ending) done(frames int, c *clock) bool {
	switch {
	case e.o.Frames > 0:
		return frames >= e.o.Frames
	case !e.o.Headless:
		return false
	case e.o.Path != nil:
		end := e.o.pathEnd()
		if c.virtual {
			return frames > int(end/e.o.FixedDT) // as many frames as simulate
		}
		return c.elapsed() >= end
	case e.o.Screenshot != "":
		return e.quiet >= settledFrames || c.elapsed() > settleLimit
	}
	return false
}

// A picture is taken when nothing was left to load for so many frames, or after
// the limit.
const (
	settledFrames = 30
	settleLimit   = 2 * time.Minute
)

func (o *Options) pathEnd() time.Duration {
	if o.Duration > 0 {
		return o.Duration
	}
	return o.Path.Keys[len(o.Path.Keys)-1].T
}

// finish writes what is due at the end.
func (a *app) finish() error {
	nothing := a.ending.nothingWanted(&a.shown, &a.cam.stream, len(a.drawn), true)
	unseen := func() error { return a.ending.outOfView(&a.cam.stream, a.stats.Draws, len(a.drawn)) }
	if a.cam.recording != nil {
		a.savePath()
	}
	if a.o.Screenshot == "" || a.frame == 0 {
		return errors.Join(nothing, unseen())
	}
	img, err := a.lastPicture(a.ctx)
	if err != nil {
		return err
	}
	return errors.Join(writePNG(a.o.Screenshot, img), nothing, unseen())
}

// lastPicture draws what there is with all its textures, those that are on their
// way included. No frame may follow.
func (a *app) lastPicture(ctx context.Context) (*image.NRGBA, error) {
	ctx, stop := context.WithTimeout(ctx, settleLimit)
	defer stop()
	if err := a.shown.drive.settle(ctx); err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("preview: %w", err)
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
func (o *Options) still() bool {
	if !o.Headless || o.Watch {
		return false
	}
	return o.Path == nil || !slices.ContainsFunc(o.Path.Keys, func(k simulate.CameraKey) bool { return k.Position != o.Path.Keys[0].Position })
}

// nothingWanted ends a run that would wait for ever, with an empty picture; one
// with a camera that moves is judged at its end.
func (e *ending) nothingWanted(sh *shown, eye *runtime.Camera, drawn int, end bool) error {
	st := sh.s.Stats()
	if !e.o.still() && !(end && e.o.Headless) || st.Ticks < wantTicks || st.Loads > 0 || st.LoadCandidates > 0 || drawn > 0 || e.empty {
		return nil
	}
	for _, t := range sh.s.Snapshot().Tiles {
		if t.Wanted != payload.RepNone {
			e.empty = true // there is no room for it: what budgets do is no fault of the camera's
			return nil
		}
	}
	return fmt.Errorf("%w: %s", ErrNothingSeen, sh.whyNothing(&e.o.Config, eye.Position))
}

// whyNothing says how far the scene is from where it would be wanted.
func (sh *shown) whyNothing(c *config.Config, eye geom.Vec3) string {
	root := sh.root()
	best, nearest := runtime.TileInfo{}, math.Inf(1)
	for i := range sh.s.TileCount(sh.id) {
		if info, ok := sh.s.TileInfo(sh.id, int32(i)); ok {
			if d := info.Bounds.Box().Transform(&root).Distance(eye); d < nearest {
				best, nearest = info, d
			}
		}
	}
	if math.IsInf(nearest, 1) {
		return fmt.Sprintf("%s has no tiles", sh.open.Source.Path)
	}
	cfg := c.For(sh.open.Source.Manifest)
	sh.open.reach(&cfg)
	radius := best.Streaming
	if best.HLOD > 0 || len(best.LODs) > 0 {
		radius = cfg.MaxQueryRadius
	}
	if radius = min(radius, cfg.MaxQueryRadius); nearest <= radius {
		return fmt.Sprintf("the camera at %s wants no tile; the nearest of %d, %s, is held back, as other floors and rooms are. Move the camera (--camera-path, --orbit),"+
			" or show everything with --whole", place(eye), sh.s.TileCount(sh.id), best.ID)
	}
	return fmt.Sprintf("the camera at %s wants no tile; the nearest of %d, %s, is %s away and wanted within %s. Move the camera (--camera-path, --orbit),"+
		" show everything with --whole, or cook the scene without radii of your own", place(eye), sh.s.TileCount(sh.id), best.ID,
		human.Distance(nearest), human.Distance(radius))
}

// outOfView is the error of a last picture in which no tile is, although all that
// is wanted has been loaded.
func (e *ending) outOfView(cam *runtime.Camera, draws, drawn int) error {
	if !e.o.still() || e.quiet == 0 || draws > 0 {
		return nil
	}
	return fmt.Errorf("%w: the camera at %s, looking along %s, has none of the %d tiles in view that are loaded. Turn it (--camera-path, --orbit)",
		ErrNothingSeen, place(cam.Position), place(cam.Forward), drawn)
}

// place writes a point for people; adding 0 makes -0 one, too.
func place(p geom.Vec3) string { return fmt.Sprintf("(%.4g, %.4g, %.4g)", p[0]+0, p[1]+0, p[2]+0) }

// ErrNothingLoads is matched by the error of a headless run that shows nothing
// because no file of what is wanted can be loaded.
var ErrNothingLoads = errors.New("preview: nothing can be loaded")

// diskAttempts is how often a file on the disk is tried: what is missing or damaged
// is no better five seconds later, but for one that was just being written.
const diskAttempts = 2

// failedLoad is the latest failure of a tile.
type failedLoad struct {
	attempt int
	err     error
	over    bool // it is as likely to succeed as it will ever be
}

// noticed notes a load that went wrong.
func (e *ending) noticed(ev *event.Event) {
	if !isFailure(ev.Kind) || ev.Err == nil {
		return
	}
	if e.failed == nil {
		e.failed = map[string]failedLoad{}
	}
	last := failedLoad{attempt: ev.Attempt, err: ev.Err, over: ev.RetryIn.Seconds() >= e.o.Config.RetryBackoffMax}
	if e.o.Fetcher == nil {
		last.over = ev.Attempt >= diskAttempts
	}
	e.failed[ev.Tile] = last
}

// forget forgets the failures of a scene that another one follows.
func (e *ending) forget() { e.failed, e.tick = nil, 0 }

// nothingLoads ends a run that would show nothing however long it waited: all
// that is wanted has failed, so often that the delay before the next attempt is the
// longest (on a disk diskAttempts times), and nothing is on its way.
func (e *ending) nothingLoads(sh *shown, drawn int) error {
	st := sh.s.Stats()
	if !e.o.still() || drawn > 0 || len(e.failed) == 0 || st.ActiveLoads > 0 || st.PendingLoadBacklog > 0 || st.LoadCandidates > 0 {
		e.tick = st.Ticks
		return nil
	}
	if st.Ticks < e.tick+wantTicks {
		return nil // what has just failed may be followed by another representation
	}
	wanted, first := 0, ""
	for _, t := range sh.s.Snapshot().Tiles {
		if t.Wanted == payload.RepNone {
			continue
		}
		if last, ok := e.failed[t.ID]; !ok || !last.over || t.Resident != 0 {
			return nil
		}
		if wanted++; first == "" {
			first = t.ID
		}
	}
	if wanted == 0 {
		return nil
	}
	last := e.failed[first]
	return fmt.Errorf("%w: none of the %d tiles of %s that are wanted, tried %s; %s: %w. Run untold validate on it, or cook the scene again",
		ErrNothingLoads, wanted, sh.open.Source.Path, times(last.attempt), first, last.err)
}

// times writes a count of attempts.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
