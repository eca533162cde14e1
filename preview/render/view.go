package render

import (
	"math"

	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/runtime"
)

// lens is a camera ready for drawing. Everything is relative to the eye, so
// that scenes far from the origin do not shake: matrices never hold positions.
type lens struct {
	eye                geom.Vec3
	right, up, forward geom.Vec3
	tanX, tanY         float64 // half the field of view
	near, far          float64
}

// Limits of cameras.
const (
	defaultFov = 60
	// depthRatio bounds far / near where the depth buffer is not reversed:
	// 24 bits then resolve 1/170 of the distance at the far plane.
	depthRatio = 100_000
)

// newLens completes a camera: what is missing or makes no sense gets a value
// with which there is a picture.
func newLens(c *runtime.Camera, aspect float64) lens {
	forward := geom.Vec3(c.Forward).Normalize(1e-9, geom.Vec3{0, 0, -1})
	up := geom.Vec3(c.Up).Normalize(1e-9, geom.Vec3{0, 1, 0})
	right := forward.Cross(up)
	if right.Len() < 1e-6 { // looking along up: any right will do
		if right = forward.Cross(geom.Vec3{0, 0, 1}); right.Len() < 1e-6 {
			right = forward.Cross(geom.Vec3{1, 0, 0})
		}
	}
	right = right.Normalize(0, geom.Vec3{1, 0, 0})
	l := lens{eye: geom.Vec3(c.Position), right: right, up: right.Cross(forward), forward: forward, near: c.Near, far: c.Far}
	if !l.eye.IsFinite() {
		l.eye = geom.Vec3{}
	}
	fov := c.FovYDegrees
	if !(fov > 0 && fov < 179) {
		fov = defaultFov
	}
	if c.Aspect > 0 && !math.IsInf(c.Aspect, 0) {
		aspect = c.Aspect
	}
	l.tanY = geom.Tan(float64(fov * (math.Pi / 360)))
	l.tanX = float64(l.tanY * aspect)
	if !(l.near > 0) || math.IsInf(l.near, 0) {
		l.near = 0.1
	}
	if !(l.far > l.near) || math.IsInf(l.far, 0) {
		l.far = float64(l.near * 10_000)
	}
	return l
}

// viewProj returns the matrix from positions relative to the eye to clip
// space. With reverse the depth is 1 at the near plane and 0 at infinity (clip
// depth 0 to 1), else -1 to 1 between near and far.
func (l *lens) viewProj(reverse bool) geom.Mat4 {
	r, u, f := l.right, l.up, l.forward
	rotate := geom.Mat4{r[0], u[0], -f[0], 0, r[1], u[1], -f[1], 0, r[2], u[2], -f[2], 0, 0, 0, 0, 1}
	p := geom.Mat4{0: 1 / l.tanX, 5: 1 / l.tanY, 11: -1}
	if reverse {
		p[14] = l.near
	} else {
		near := max(l.near, l.far/depthRatio)
		p[10] = (l.far + near) / (near - l.far)
		p[14] = 2 * float64(l.far*near) / (near - l.far)
	}
	return p.Mul(rotate)
}

// plane is the half space n.p + d >= 0.
type plane struct {
	n geom.Vec3
	d float64
}

// frustum is the four sides and the near plane of a view.
type frustum [5]plane

// frustumOf returns the frustum in world space. There is no far plane.
func frustumOf(l *lens) (f frustum) {
	sides := [...]geom.Vec3{
		l.forward.Scale(l.tanX).Add(l.right), l.forward.Scale(l.tanX).Sub(l.right),
		l.forward.Scale(l.tanY).Add(l.up), l.forward.Scale(l.tanY).Sub(l.up),
	}
	for i, n := range sides {
		n = n.Normalize(0, l.forward)
		f[i] = plane{n, -n.Dot(l.eye)}
	}
	f[4] = plane{l.forward, -l.forward.Dot(l.eye) - l.near}
	return f
}

// in returns the frustum in the space of a scene with the given root.
func (f *frustum) in(root *geom.Mat4) (out frustum) {
	if *root == geom.Identity() {
		return *f
	}
	for i := range f {
		out[i] = f[i].in(root)
	}
	return out
}

// in returns the plane in the space that root maps from: its row times root.
func (p plane) in(root *geom.Mat4) plane {
	n := geom.Vec3{p.n.Dot(root.Column(0)), p.n.Dot(root.Column(1)), p.n.Dot(root.Column(2))}
	return plane{n, p.n.Dot(root.Column(3)) + p.d}
}

// sees reports whether a box touches the frustum.
func (f *frustum) sees(center, half *[3]float64) bool {
	for i := range f {
		if !f[i].touches(center, half) {
			return false
		}
	}
	return true
}

// touches reports whether a box reaches into the half space.
func (p *plane) touches(c, h *[3]float64) bool {
	reach := math.Abs(p.n[0])*h[0] + math.Abs(p.n[1])*h[1] + math.Abs(p.n[2])*h[2]
	return p.n[0]*c[0]+p.n[1]*c[1]+p.n[2]*c[2]+p.d >= -reach
}

// objectFloats is one object as mesh.vert.glsl reads it: three rows of the
// linear part with the offset in w, then the pivot and the layout of the vertices,
// then the lattice: origin and step.
const objectFloats = 4 * gpu.ObjectTexels

// appendObject appends the transform from a mesh's vertices to positions
// relative to the eye. Large coordinates cancel out against the pivot, which is
// the eye in the mesh's own space, rounded: vertex - pivot is exact nearby
// (Sterbenz), and the rest was subtracted in double precision.
func appendObject(dst []float32, world *geom.Mat4, eye geom.Vec3, p *compact.Packing) []float32 {
	pivot := geom.Vec3{}
	if inv, ok := world.InverseAffine(); ok {
		pivot = geom.FromF32(inv.Point(eye).F32())
		if !pivot.IsFinite() {
			pivot = geom.Vec3{}
		}
	}
	t := world.Point(pivot).Sub(eye)
	for row := range 3 {
		dst = append(dst, float32(world[row]), float32(world[4+row]), float32(world[8+row]), float32(t[row]))
	}
	dst = append(dst, float32(pivot[0]), float32(pivot[1]), float32(pivot[2]), float32(p.Layout))
	step := p.Step
	if p.Layout == compact.Full { // positions are what they are
		step = 1
	}
	return append(dst, p.Origin[0], p.Origin[1], p.Origin[2], step)
}

func f32(m geom.Mat4) (out [16]float32) {
	for i, v := range m {
		out[i] = float32(v)
	}
	return out
}
