package preview

import (
	"sync"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/camera"
	"github.com/untoldkit/untold/preview/internal/hud"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
)

// Control steers a run from outside, see Options.Control. What is asked for happens
// before the next frame. Its methods may be called from any goroutine; the zero value
// is ready.
type Control struct {
	mu      sync.Mutex
	waiting []func(*app)
}

// FlyTo takes the camera to a position, direction and field of view (0 keeps that of
// before) in a time, along a straight line, slowly at both ends; with no time it is
// there at once. A person who steers, and a later FlyTo, end the flight. ended, which
// may be nil, is told by the goroutine of Run whether the camera has arrived.
func (c *Control) FlyTo(to runtime.Camera, in time.Duration, ended func(arrived bool)) {
	c.ask(func(a *app) { a.flyTo(to, in, ended) })
}

// SetView chooses what is drawn.
func (c *Control) SetView(v render.ViewMode) {
	c.ask(func(a *app) { a.display.view = v })
}

// SetCovered says how many pixels of the lower left corner lie under what others show:
// legends and news stand above it.
func (c *Control) SetCovered(width, height int) {
	c.ask(func(a *app) { a.overlay.covered = hud.Corner{Width: width, Height: height} })
}

func (c *Control) ask(do func(*app)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, do)
}

// take returns what is asked for, and forgets it.
func (c *Control) take() []func(*app) {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.waiting
	c.waiting = nil
	return list
}

// flight is a camera's way from one pose to another.
type flight struct {
	from, to camera.Pose
	start    time.Duration // on the clock of the run
	length   time.Duration
	ended    func(arrived bool)
}

// flyTo begins a flight.
func (a *app) flyTo(to runtime.Camera, in time.Duration, ended func(bool)) {
	a.cam.endFlight(false)
	f := &flight{
		from:  camera.Pose{Position: a.cam.stream.Position, Forward: a.cam.stream.Forward, FovYDegrees: a.cam.stream.FovYDegrees},
		to:    camera.Pose{Position: to.Position, Forward: to.Forward, FovYDegrees: to.FovYDegrees},
		start: a.clock.elapsed(), length: in, ended: ended,
	}
	if !(f.to.FovYDegrees > 0) {
		f.to.FovYDegrees = f.from.FovYDegrees
	}
	a.cam.following, a.cam.flight = false, f
}

// at returns where the camera is, and whether the flight is over.
func (f *flight) at(now time.Duration) (p camera.Pose, over bool) {
	t := 1.0
	if f.length > 0 {
		t = max(0, min(1, float64(now-f.start)/float64(f.length)))
	}
	if t >= 1 {
		return f.to, true
	}
	t = float64(t*t) * (3 - float64(2*t))
	return camera.Pose{
		Position: mix(f.from.Position, f.to.Position, t), Forward: turn(f.from.Forward, f.to.Forward, t),
		FovYDegrees: float64(f.from.FovYDegrees*(1-t)) + float64(f.to.FovYDegrees*t),
	}, false
}

func mix(a, b geom.Vec3, t float64) geom.Vec3 { return a.Scale(1 - t).Add(b.Scale(t)) }

// turn returns a direction between two. Opposite ones have no way between them: it
// leads around.
func turn(a, b geom.Vec3, t float64) geom.Vec3 {
	ahead := geom.Vec3{0, 0, -1}
	a, b = a.Normalize(1e-9, ahead), b.Normalize(1e-9, ahead)
	if a.Dot(b) > -0.999 {
		return mix(a, b, t)
	}
	aside := a.Cross(geom.Vec3{0, 1, 0}).Normalize(1e-6, geom.Vec3{1, 0, 0})
	if t < 0.5 {
		return mix(a, aside, float64(2*t))
	}
	return mix(aside, b, float64(2*t)-1)
}

// fly takes the rig along its flight, which ends when a person steers.
func (c *cameraDriver) fly(steered bool, now time.Duration) {
	if c.flight == nil {
		return
	}
	if steered {
		c.endFlight(false)
		return
	}
	p, over := c.flight.at(now)
	c.rig.Jump(p)
	if over {
		c.endFlight(true)
	}
}

// endFlight tells who asked for the flight how it has ended.
func (c *cameraDriver) endFlight(arrived bool) {
	f := c.flight
	if c.flight = nil; f != nil && f.ended != nil {
		f.ended(arrived)
	}
}
