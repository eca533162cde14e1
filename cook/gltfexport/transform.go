package gltfexport

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// placement is a transform in the form that glTF allows: translation *
// rotation * scale, and behind it a second rotation where the transform
// shears, which takes a node of its own. Every affine transform has this form
// (the singular value decomposition).
type placement struct {
	t     geom.Vec3
	q     [4]float64 // x, y, z, w
	s     geom.Vec3
	inner *[4]float64 // nil without shear
}

var (
	noRotation = [4]float64{0, 0, 0, 1}
	noScale    = geom.Vec3{1, 1, 1}
)

// count is how many nodes the placement takes.
func (p *placement) count() int {
	if p.inner != nil {
		return 2
	}
	return 1
}

func (p *placement) identity() bool {
	return p.t == geom.Vec3{} && p.q == noRotation && p.s == noScale && p.inner == nil
}

// trs returns the three properties of a node, nil where they are the default.
func (p *placement) trs() (t, r, s []float64) {
	if p.t != (geom.Vec3{}) {
		t = p.t[:]
	}
	if p.q != noRotation {
		r = p.q[:]
	}
	if p.s != noScale {
		s = p.s[:]
	}
	return t, r, s
}

// orthogonal is the largest cosine between two axes that counts as a right
// angle: a few units in the last place of single precision.
const orthogonal = 1e-6

// decompose brings a transform into glTF's form. faulty says that it was not
// finite or not affine and that something else is returned.
func decompose(m geom.Mat4) (p placement, faulty bool) {
	if !m.IsFinite() {
		return placement{q: noRotation, s: noScale}, true
	}
	faulty = m[3] != 0 || m[7] != 0 || m[11] != 0 || m[15] != 1
	p.t = m.Column(3)
	a := [3]geom.Vec3{m.Column(0), m.Column(1), m.Column(2)}
	if rotates(&a) {
		for i := range a {
			p.s[i] = a[i].Len()
		}
		if m.Det3() < 0 {
			p.s[0] = -p.s[0]
		}
		for i := range a {
			a[i] = a[i].Scale(1 / p.s[i])
		}
		p.q = quaternion(&a)
		return p, faulty
	}
	u, s, v := decomposeSingular(a)
	p.s, p.q = s, quaternion(&u)
	inner := quaternion(&v)
	for i := range 3 {
		inner[i] = 0 - inner[i] // the transpose; no -0
	}
	if inner != noRotation {
		p.inner = &inner
	}
	return p, faulty
}

// rotates reports whether the axes are at right angles and none vanishes.
func rotates(a *[3]geom.Vec3) bool {
	var l [3]float64
	for i := range a {
		if l[i] = a[i].Len(); !(l[i] > 1e-30) || math.IsInf(l[i], 0) {
			return false
		}
	}
	for i := range 3 {
		j := (i + 1) % 3
		if !(math.Abs(a[i].Dot(a[j])) <= orthogonal*l[i]*l[j]) {
			return false
		}
	}
	return true
}

// decomposeSingular returns rotations u and v, as columns, and factors s with
// a = u * diag(s) * transpose(v): one-sided Jacobi iteration, which turns the
// columns of a by v until they are at right angles.
func decomposeSingular(a [3]geom.Vec3) (u [3]geom.Vec3, s geom.Vec3, v [3]geom.Vec3) {
	v = [3]geom.Vec3{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	for range 40 {
		turned := false
		for i := range 3 {
			j := (i + 1) % 3
			d, x, y := a[i].Dot(a[j]), a[i].Dot(a[i]), a[j].Dot(a[j])
			if math.Abs(d) <= 1e-15*math.Sqrt(x)*math.Sqrt(y) || d == 0 {
				continue
			}
			turned = true
			zeta := (y - x) / (2 * d)
			t := math.Copysign(1, zeta) / (math.Abs(zeta) + math.Sqrt(1+float64(zeta*zeta)))
			cos := 1 / math.Sqrt(1+float64(t*t))
			sin := cos * t
			a[i], a[j] = turn(a[i], a[j], cos, sin)
			v[i], v[j] = turn(v[i], v[j], cos, sin)
		}
		if !turned {
			break
		}
	}
	for i := range a {
		s[i] = a[i].Len()
	}
	u = basisOf(a, s)
	if u[0].Dot(u[1].Cross(u[2])) < 0 {
		// A mirroring transform: the sign belongs to a factor.
		u[0], s[0] = u[0].Scale(-1), -s[0]
	}
	return u, s, v
}

// turn rotates two columns into each other.
func turn(a, b geom.Vec3, cos, sin float64) (x, y geom.Vec3) {
	return a.Scale(cos).Add(b.Scale(-sin)), a.Scale(sin).Add(b.Scale(cos))
}

// basisOf normalises orthogonal columns of the given lengths and fills in
// those that vanish.
func basisOf(a [3]geom.Vec3, s geom.Vec3) [3]geom.Vec3 {
	var u [3]geom.Vec3
	var have [3]bool
	top := max(s[0], s[1], s[2])
	for i := range a {
		if s[i] > top*1e-12 {
			u[i], have[i] = a[i].Scale(1/s[i]), true
		}
	}
	for i := range u {
		if have[i] {
			continue
		}
		j, k := (i+1)%3, (i+2)%3
		switch {
		case have[j] && have[k]:
			u[i] = u[j].Cross(u[k])
		case have[j]:
			u[i] = perpendicular(u[j])
		case have[k]:
			u[i] = perpendicular(u[k])
		default:
			u[i] = geom.Vec3{1, 0, 0}
		}
		have[i] = true
	}
	return u
}

// perpendicular returns a unit vector at a right angle to the unit vector a.
func perpendicular(a geom.Vec3) geom.Vec3 {
	axis := geom.Vec3{1, 0, 0}
	if math.Abs(a[0]) > 0.6 {
		axis = geom.Vec3{0, 1, 0}
	}
	return a.Cross(axis).Normalize(0, geom.Vec3{0, 0, 1})
}

// quaternion converts a rotation, given by its columns, choosing the largest
// component for the division.
func quaternion(c *[3]geom.Vec3) [4]float64 {
	xx, yy, zz := c[0][0], c[1][1], c[2][2]
	var q [4]float64
	switch {
	case xx+yy+zz > 0:
		k := math.Sqrt(xx+yy+zz+1) * 2
		q = [4]float64{(c[1][2] - c[2][1]) / k, (c[2][0] - c[0][2]) / k, (c[0][1] - c[1][0]) / k, k / 4}
	case xx >= yy && xx >= zz:
		k := math.Sqrt(1+xx-yy-zz) * 2
		q = [4]float64{k / 4, (c[0][1] + c[1][0]) / k, (c[2][0] + c[0][2]) / k, (c[1][2] - c[2][1]) / k}
	case yy >= zz:
		k := math.Sqrt(1+yy-xx-zz) * 2
		q = [4]float64{(c[0][1] + c[1][0]) / k, k / 4, (c[1][2] + c[2][1]) / k, (c[2][0] - c[0][2]) / k}
	default:
		k := math.Sqrt(1+zz-xx-yy) * 2
		q = [4]float64{(c[2][0] + c[0][2]) / k, (c[1][2] + c[2][1]) / k, k / 4, (c[0][1] - c[1][0]) / k}
	}
	n := math.Sqrt(float64(q[0]*q[0]) + float64(q[1]*q[1]) + float64(q[2]*q[2]) + float64(q[3]*q[3]))
	for i := range q {
		// Adding 0 turns -0 into 0, so that the identity is recognised.
		q[i] = q[i]/n + 0
	}
	return q
}
