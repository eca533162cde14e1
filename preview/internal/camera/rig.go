package camera

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
)

// Mode says what the input of a Rig moves.
type Mode uint8

// The modes.
const (
	Fly   Mode = iota // the camera itself
	Orbit             // the camera around a point ahead of it
)

// String returns fly or orbit.
func (m Mode) String() string { return [...]string{"fly", "orbit"}[min(m, Orbit)] }

// Input is what a person does in one frame. Drags are measured in heights of
// the window, so that they do not depend on its resolution.
type Input struct {
	Move geom.Vec3  // to the right, up and ahead, each from -1 to 1
	Look [2]float64 // drag to the right and down: turns
	Pan  [2]float64 // drag to the right and down: shifts sideways
	Zoom float64    // notches of the wheel; positive is nearer
	Pace float64    // notches of the wheel; positive is faster
	Fast bool
	Slow bool
}

const (
	maxPitch   = 89 * math.Pi / 180
	turn       = math.Pi         // radians per window height
	zoomStep   = 0.15            // of the logarithm of the distance, per notch
	paceStep   = 0.22            // of the logarithm of the speed, per notch
	glideTime  = 0.25            // seconds of flight that a notch takes the camera ahead, at least
	inertia    = 0.08            // seconds until a change of speed has 63 % effect
	fastFactor = 4.0             // and its inverse when slow
	crossing   = 12.0            // seconds to fly through a scene of middling size
	maxSpeed   = 60.0            // metres per second, before the wheel and Fast
	defaultFov = 60.0            // degrees
	minPace    = 1.0 / (1 << 10) // of the wheel
	maxPace    = 1 << 10
)

// Rig is a camera that a person steers. The zero value is not ready: use New.
type Rig struct {
	mode     Mode
	bounds   geom.Box
	size     float64 // length of the scene's diagonal
	position geom.Vec3
	yaw      float64 // 0 looks along -Z, positive to the right
	pitch    float64 // positive looks up
	distance float64 // to the point that Orbit turns around
	velocity geom.Vec3
	glide    geom.Vec3 // what the wheel still has to move
	pace     float64
	fovY     float64 // degrees
	near     float64 // authored, 0: from the scene
	far      float64
}

// New returns a rig for a scene with these bounds that looks at its middle
// along -Z.
func New(bounds geom.Box) *Rig {
	r := &Rig{pace: 1, fovY: defaultFov}
	r.SetBounds(bounds)
	r.Jump(Pose{Position: r.bounds.Center().Add(geom.Vec3{0, 0, r.size}), Forward: geom.Vec3{0, 0, -1}})
	return r
}

// SetBounds changes the scene that speeds and clipping planes are fitted to;
// the camera stays where it is. Bounds that are empty or not finite count as a
// cube of a metre.
func (r *Rig) SetBounds(b geom.Box) {
	if size := b.Size(); b.IsEmpty() || !size.IsFinite() || !b.Min.IsFinite() || size.Len() == 0 {
		b = geom.Box{Min: geom.Vec3{-0.5, -0.5, -0.5}, Max: geom.Vec3{0.5, 0.5, 0.5}}
	}
	r.bounds, r.size = b, b.Size().Len()
	r.distance = max(r.distance, float64(r.size*1e-3))
}

// Mode returns the present mode.
func (r *Rig) Mode() Mode { return r.mode }

// SetMode changes what input moves. What is in the middle of the picture stays
// there: an orbit turns around the point ahead that is as far away as the
// middle of the scene.
func (r *Rig) SetMode(m Mode) {
	if m == Orbit && r.mode != Orbit {
		ahead := r.bounds.Center().Sub(r.position).Dot(r.Forward())
		r.distance = max(float64(r.size*0.02), min(ahead, float64(r.size*4)))
	}
	r.mode, r.velocity, r.glide = m, geom.Vec3{}, geom.Vec3{}
}

// Pose is a place and a direction.
type Pose struct {
	Position    geom.Vec3
	Forward     geom.Vec3 // any length
	FovYDegrees float64   // 0 keeps the present one
	Near, Far   float64   // metres; 0 derives them from the scene
	Up          geom.Vec3 // says where the upper edge of a view straight up or down is; zero: where it was
}

// Jump moves the rig to a pose; its speed is lost.
func (r *Rig) Jump(p Pose) {
	f := p.Forward.Normalize(1e-9, geom.Vec3{0, 0, -1})
	r.position, r.velocity, r.glide = p.Position, geom.Vec3{}, geom.Vec3{}
	heading := f
	if math.Abs(f[0])+math.Abs(f[2]) < 1e-3 { // straight up or down
		if heading = p.Up; f[1] > 0 {
			heading = p.Up.Scale(-1)
		}
	}
	if heading[0] != 0 || heading[2] != 0 {
		r.yaw = math.Atan2(heading[0], -heading[2])
	}
	r.pitch = max(-maxPitch, min(maxPitch, math.Asin(max(-1, min(1, f[1])))))
	if p.FovYDegrees > 0 && p.FovYDegrees < 180 {
		r.fovY = p.FovYDegrees
	}
	r.near, r.far = p.Near, p.Far
	if r.mode == Orbit {
		r.mode = Fly
		r.SetMode(Orbit)
	}
}

// Position returns where the camera is.
func (r *Rig) Position() geom.Vec3 { return r.position }

// Forward returns the view direction, of length 1.
func (r *Rig) Forward() geom.Vec3 {
	sy, cy := geom.Sincos(r.yaw)
	sp, cp := geom.Sincos(r.pitch)
	return geom.Vec3{float64(sy * cp), sp, float64(-cy * cp)}
}

// Target returns the point that Orbit turns around.
func (r *Rig) Target() geom.Vec3 { return r.position.Add(r.Forward().Scale(r.distance)) }

// Speed returns the speed of a key that is held, in metres per second.
func (r *Rig) Speed() float64 {
	return min(r.size/crossing, maxSpeed) * r.pace
}

// Step moves the camera for a frame of dt seconds.
func (r *Rig) Step(in Input, dt float64) {
	dt = max(0, min(dt, 0.25)) // a frame that took long must not fling the camera away
	if r.mode == Orbit {
		r.orbit(in, dt)
	} else {
		r.fly(in, dt)
	}
}

func (r *Rig) fly(in Input, dt float64) {
	r.look(in.Look)
	r.pace = max(minPace, min(maxPace, r.pace*math.Exp(paceStep*in.Pace)))
	right, up := r.basis()
	wanted := right.Scale(in.Move[0]).Add(geom.Vec3{0, in.Move[1], 0}).Add(r.Forward().Scale(in.Move[2]))
	if l := wanted.Len(); l > 1 {
		wanted = wanted.Scale(1 / l)
	}
	speed := r.Speed()
	switch {
	case in.Fast:
		speed *= fastFactor
	case in.Slow:
		speed /= fastFactor
	}
	part := 1 - math.Exp(-dt/inertia)
	r.velocity = r.velocity.Add(wanted.Scale(speed).Sub(r.velocity).Scale(part))
	if r.velocity.Len() < float64(r.size*1e-7) {
		r.velocity = geom.Vec3{}
	}
	r.position = r.position.Add(r.velocity.Scale(dt))
	// From afar a notch goes a part of the way, near and inside as far as a moment
	// of flight.
	notch := max(float64(zoomStep*r.bounds.Distance(r.position)), float64(glideTime*r.Speed()))
	r.glide = r.glide.Add(r.Forward().Scale(float64(in.Zoom * notch)))
	now := r.glide.Scale(part)
	r.position, r.glide = r.position.Add(now), r.glide.Sub(now)
	if r.glide.Len() < float64(r.size*1e-7) {
		r.glide = geom.Vec3{}
	}
	// A hand's width of drag shifts by the same part of what a second of flight
	// covers.
	r.position = r.position.Add(right.Scale(-in.Pan[0] * r.Speed())).Add(up.Scale(in.Pan[1] * r.Speed()))
	r.keepNear()
}

func (r *Rig) orbit(in Input, dt float64) {
	target := r.Target()
	r.look([2]float64{in.Look[0] + float64(in.Move[0]*dt)*0.25, in.Look[1] + float64(in.Move[1]*dt)*0.25})
	r.distance *= math.Exp(-zoomStep*in.Zoom - float64(in.Move[2]*dt)*1.5)
	r.distance = max(float64(r.size*1e-3), min(r.distance, float64(r.size*20)))
	// The point under the pointer stays under it.
	visible := 2 * r.distance * geom.Tan(float64(r.fovY*(math.Pi/360)))
	right, up := r.basis()
	target = target.Add(right.Scale(-in.Pan[0] * visible)).Add(up.Scale(in.Pan[1] * visible))
	r.position = target.Sub(r.Forward().Scale(r.distance))
	r.keepNear()
}

func (r *Rig) look(drag [2]float64) {
	r.yaw = math.Remainder(r.yaw+float64(drag[0]*turn), 2*math.Pi)
	r.pitch = max(-maxPitch, min(maxPitch, r.pitch-float64(drag[1]*turn)))
}

// keepNear stops the camera at a distance from which the scene is a dot, so
// that nobody gets lost.
func (r *Rig) keepNear() {
	if d, limit := r.bounds.Distance(r.position), float64(r.size*20); d > limit {
		middle := r.bounds.Center()
		r.position = middle.Add(r.position.Sub(middle).Scale(limit / d))
	}
}

func (r *Rig) basis() (right, up geom.Vec3) {
	f := r.Forward()
	right = f.Cross(geom.Vec3{0, 1, 0}).Normalize(1e-9, geom.Vec3{1, 0, 0})
	return right, right.Cross(f)
}

// Camera returns the present view; aspect is width over height. The clipping
// planes are those of an authored camera, else fitted to the scene: Far holds
// all of it.
func (r *Rig) Camera(aspect float64) runtime.Camera {
	near, far := Clip(r.bounds, r.position)
	if r.near > 0 && r.far > r.near {
		near, far = min(near, r.near), max(far, r.far)
	}
	return runtime.Camera{
		Position: r.position, Forward: r.Forward(), Up: [3]float64{0, 1, 0},
		FovYDegrees: r.fovY, Aspect: aspect, Near: near, Far: far,
	}
}

// Clip returns clipping planes that hold a scene as seen from p: the far one
// lies behind its farthest corner, the near one at a ten-thousandth of its
// size, at most 0.1 m, or half way to the scene from outside.
func Clip(b geom.Box, p geom.Vec3) (near, far float64) {
	size := b.Size().Len()
	for _, c := range b.Corners() {
		far = max(far, c.Sub(p).Len())
	}
	near = max(1e-5, min(float64(size*1e-4), 0.1), b.Distance(p)/2)
	return near, max(float64(far*1.05), near*10)
}
