package scenegen

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/stable"
)

// vec is a point or direction in metres, +Y up.
type vec = geom.Vec3

// rng and the functions below give the same bits on every platform.
type rng = stable.RNG

func newRNG(seed uint64, tags ...int) *rng { return stable.NewRNG(seed, tags...) }

func pick[T any](r *rng, list ...T) T { return stable.Pick(r, list...) }

func mix(z uint64) uint64 { return stable.Mix(z) }

// sinTurn returns the sine of t turns.
func sinTurn(t float64) float64 { return stable.Sin(t) }

// cosTurn returns the cosine of t turns.
func cosTurn(t float64) float64 { return stable.Cos(t) }

// lerp returns a at t=0 and b at t=1.
func lerp(a, b, t float64) float64 {
	a = float64(a) // a caller's product must not fuse with the sum
	return a + float64((float64(b)-a)*t)
}

// clamp01 limits t to [0,1].
func clamp01(t float64) float64 { return min(1, max(0, t)) }

// smooth is the cubic step from 0 to 1.
func smooth(t float64) float64 {
	t = clamp01(t)
	return float64(float64(t*t) * (3 - float64(2*t)))
}

// rotY turns p about the Y axis by yaw turns, counter-clockwise from above:
// +Z goes to +X at a quarter turn.
func rotY(p vec, yaw float64) vec {
	s, c := sinTurn(yaw), cosTurn(yaw)
	return vec{
		float64(c*p[0]) + float64(s*p[2]),
		p[1],
		float64(c*p[2]) - float64(s*p[0]),
	}
}

// xform places a node. The zero scale means 1.
type xform struct {
	t     vec
	yaw   float64 // turns about +Y, applied last
	pitch float64 // turns about +X, applied before yaw
	roll  float64 // turns about +Z, applied first
	s     vec
}

// at returns a translation.
func at(x, y, z float64) xform { return xform{t: vec{x, y, z}} }

func (x xform) turned(yaw float64) xform     { x.yaw += float64(yaw); return x }
func (x xform) tilted(pitch float64) xform   { x.pitch += float64(pitch); return x }
func (x xform) rolled(roll float64) xform    { x.roll += float64(roll); return x }
func (x xform) scaled(a, b, c float64) xform { x.s = vec{a, b, c}; return x }

// quat returns the rotation as a unit quaternion x, y, z, w.
func (x xform) quat() [4]float64 {
	q := axisQuat(1, x.yaw)
	q = quatMul(q, axisQuat(0, x.pitch))
	return quatMul(q, axisQuat(2, x.roll))
}

func axisQuat(axis int, turns float64) [4]float64 {
	var q [4]float64
	q[axis], q[3] = sinTurn(turns/2), cosTurn(turns/2)
	return q
}

func quatMul(a, b [4]float64) [4]float64 {
	m := func(x, y float64) float64 { return float64(x * y) }
	return [4]float64{
		m(a[3], b[0]) + m(a[0], b[3]) + m(a[1], b[2]) - m(a[2], b[1]),
		m(a[3], b[1]) - m(a[0], b[2]) + m(a[1], b[3]) + m(a[2], b[0]),
		m(a[3], b[2]) + m(a[0], b[1]) - m(a[1], b[0]) + m(a[2], b[3]),
		m(a[3], b[3]) - m(a[0], b[0]) - m(a[1], b[1]) - m(a[2], b[2]),
	}
}

// lookAt returns the placement of a camera at eye that looks at target.
func lookAt(eye, target vec) xform {
	d := target.Sub(eye)
	flat := math.Sqrt(float64(d[0]*d[0]) + float64(d[2]*d[2]))
	// A camera looks along -Z.
	return xform{t: eye, yaw: stable.Angle(-d[0], -d[2]), pitch: stable.Angle(d[1], flat)}
}
