package runtime

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// Padding of the near and far plane of the gates, in metres.
const (
	nearPadding = 0.05
	farPadding  = 1.0
)

// plane is the half space n.p + d >= 0; n has length 1.
type plane struct {
	n geom.Vec3
	d float64
}

// view is the camera in the space of one scene.
type view struct {
	pos, predicted geom.Vec3
	ahead          float64 // from pos to predicted
	forward        geom.Vec3
	lens           bool      // whether viewProj and planes hold
	viewProj       geom.Mat4 // scene to clip space
	planes         [6]plane  // padded: left, right, bottom, top, near, far
}

// distance returns the distances of a box from the camera and from where it
// will soon be; the second is never the larger one.
func (v *view) distance(b *geom.Box) (actual, effective float64) {
	actual = distanceTo(b, &v.pos)
	if v.predicted == v.pos {
		return actual, actual
	}
	return actual, min(actual, distanceTo(b, &v.predicted))
}

// distance returns the distances of a tile's box, the one from the camera and the
// smaller one from where it will soon be. What lies below a closed node of the pyramid
// is farther away than anything is wanted.
func (sc *scene) distance(tile int32) (actual, effective float64) {
	if sc.closes(tile) {
		return hiddenDistance, hiddenDistance
	}
	return sc.view.distance(&sc.tiles.box[tile])
}

// distanceTo is geom.Box.Distance without copies of the box and the point, for
// the many tiles of a tick.
func distanceTo(b *geom.Box, p *geom.Vec3) float64 {
	x := max(b.Min[0]-p[0], 0, p[0]-b.Max[0])
	y := max(b.Min[1]-p[1], 0, p[1]-b.Max[1])
	z := max(b.Min[2]-p[2], 0, p[2]-b.Max[2])
	return math.Sqrt(float64(x*x) + float64(y*y) + float64(z*z))
}

// sees reports whether a box touches the padded frustum; true without a lens.
func (v *view) sees(b *geom.Box) bool {
	if !v.lens {
		return true
	}
	c, half := b.Center(), b.Size().Scale(0.5)
	for i := range v.planes {
		p := &v.planes[i]
		reach := float64(math.Abs(p.n[0])*half[0]) + float64(math.Abs(p.n[1])*half[1]) + float64(math.Abs(p.n[2])*half[2])
		if p.n.Dot(c)+p.d < -reach {
			return false
		}
	}
	return true
}

// seesWithin is sees with the side planes moved in by shrink metres, for the
// many boxes of meshes: it looks at the corner of the box that lies farthest
// along each plane's normal.
func (v *view) seesWithin(b *geom.Box, shrink float64) bool {
	if !v.lens {
		return true
	}
	for i := range v.planes {
		p := &v.planes[i]
		d := p.d
		if i < 4 {
			d -= shrink
		}
		for axis, n := range p.n {
			if n >= 0 {
				d += float64(n * b.Max[axis])
			} else {
				d += float64(n * b.Min[axis])
			}
		}
		if d < 0 {
			return false
		}
	}
	return true
}

// makeView maps a camera into a scene with the given root and its inverse.
func makeView(c *Camera, predicted geom.Vec3, forward geom.Vec3, root, inverse *geom.Mat4, padding float64) view {
	v := view{
		pos: inverse.Point(c.Position), predicted: inverse.Point(predicted),
		forward: inverse.Dir(forward).Normalize(1e-9, geom.Vec3{0, 0, 1}),
	}
	v.ahead = v.predicted.Sub(v.pos).Len()
	if !hasLens(c) {
		return v
	}
	v.lens = true
	v.viewProj = viewProjection(c, forward).Mul(*root)
	m := &v.viewProj
	row := func(i int) [4]float64 { return [4]float64{m[i], m[4+i], m[8+i], m[12+i]} }
	w := row(3)
	for axis := range 3 {
		r := row(axis)
		lo, hi := padding, padding
		if axis == 2 {
			lo, hi = nearPadding, farPadding
		}
		v.planes[2*axis] = makePlane([4]float64{w[0] + r[0], w[1] + r[1], w[2] + r[2], w[3] + r[3]}, lo)
		v.planes[2*axis+1] = makePlane([4]float64{w[0] - r[0], w[1] - r[1], w[2] - r[2], w[3] - r[3]}, hi)
	}
	return v
}

// makePlane normalises a plane and moves it out by padding.
func makePlane(a [4]float64, padding float64) plane {
	n := geom.Vec3{a[0], a[1], a[2]}
	l := n.Len()
	if !(l > 0) {
		return plane{d: math.Inf(1)}
	}
	return plane{n.Scale(1 / l), a[3]/l + padding}
}

func hasLens(c *Camera) bool {
	return c.FovYDegrees > 0 && c.FovYDegrees < 180 && c.Aspect > 0 && c.Near > 0 && c.Far > c.Near
}

// viewProjection returns the matrix from world to clip space with z from -w to
// w.
func viewProjection(c *Camera, forward geom.Vec3) geom.Mat4 {
	up := geom.Vec3(c.Up).Normalize(1e-9, geom.Vec3{0, 1, 0})
	right := forward.Cross(up)
	if right.Len() < 1e-6 { // looking along up: any right will do
		right = forward.Cross(geom.Vec3{0, 0, 1})
		if right.Len() < 1e-6 {
			right = forward.Cross(geom.Vec3{1, 0, 0})
		}
	}
	right = right.Normalize(0, geom.Vec3{1, 0, 0})
	up = right.Cross(forward)
	p := geom.Vec3(c.Position)
	world := geom.Mat4{
		right[0], up[0], -forward[0], 0, right[1], up[1], -forward[1], 0, right[2], up[2], -forward[2], 0,
		-right.Dot(p), -up.Dot(p), forward.Dot(p), 1,
	}
	f := 1 / geom.Tan(float64(c.FovYDegrees*(math.Pi/360)))
	depth := c.Near - c.Far
	projection := geom.Mat4{
		f / c.Aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (c.Far + c.Near) / depth, -1,
		0, 0, 2 * c.Far * c.Near / depth, 0,
	}
	return projection.Mul(world)
}

// Frustum is what a camera sees, for callers that want to know which boxes are
// in view.
type Frustum struct{ v view }

// Frustum returns what the camera sees. One without a lens or a direction sees
// everything.
func (c Camera) Frustum() Frustum {
	forward := geom.Vec3(c.Forward).Normalize(1e-9, geom.Vec3{})
	if forward == (geom.Vec3{}) {
		return Frustum{}
	}
	root := geom.Identity()
	return Frustum{makeView(&c, c.Position, forward, &root, &root, 0)}
}

// Sees reports whether a box, given by its corners in the camera's space, touches
// the frustum.
func (f *Frustum) Sees(lo, hi [3]float64) bool {
	return f.v.seesWithin(&geom.Box{Min: lo, Max: hi}, 0)
}
