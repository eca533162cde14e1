package hud

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
)

// MaxBoxes is how many boxes a debug view draws at most.
const MaxBoxes = 2000

// AppendBox appends the edges of a box that m places in the world.
func AppendBox(dst []render.Line, b geom.Box, m *geom.Mat4, c Color) []render.Line {
	if b.IsEmpty() {
		return dst
	}
	var p [8][3]float32
	for i, q := range b.Corners() {
		p[i] = m.Point(q).F32()
	}
	for i := range p {
		for axis := range 3 {
			if j := i | 1<<axis; j != i {
				dst = append(dst, render.Line{A: p[i], B: p[j], Color: c})
			}
		}
	}
	return dst
}

// AppendRing appends a horizontal circle in the world.
func AppendRing(dst []render.Line, center geom.Vec3, radius float64, c Color) []render.Line {
	if !(radius > 0) || math.IsInf(radius, 0) {
		return dst
	}
	const steps = 96
	last := center.Add(geom.Vec3{radius, 0, 0})
	for i := 1; i <= steps; i++ {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / steps)
		p := center.Add(geom.Vec3{radius * cos, 0, radius * sin})
		dst = append(dst, render.Line{A: last.F32(), B: p.F32(), Color: c})
		last = p
	}
	return dst
}

// AppendFrustum appends the edges of what a camera sees up to a distance.
func AppendFrustum(dst []render.Line, cam *runtime.Camera, far float64, c Color) []render.Line {
	f := geom.Vec3(cam.Forward).Normalize(1e-9, geom.Vec3{0, 0, -1})
	right := f.Cross(geom.Vec3{0, 1, 0}).Normalize(1e-9, geom.Vec3{1, 0, 0})
	up := right.Cross(f)
	tan := math.Tan(cam.FovYDegrees * math.Pi / 360)
	var p [8][3]float32
	for i := range p {
		d := cam.Near
		if i >= 4 {
			d = far
		}
		sx, sy := d*tan*cam.Aspect, d*tan
		if i&1 == 0 {
			sx = -sx
		}
		if i&2 == 0 {
			sy = -sy
		}
		p[i] = geom.Vec3(cam.Position).Add(f.Scale(d)).Add(right.Scale(sx)).Add(up.Scale(sy)).F32()
	}
	for i := range p {
		for axis := range 3 {
			if j := i | 1<<axis; j != i {
				dst = append(dst, render.Line{A: p[i], B: p[j], Color: c})
			}
		}
	}
	return dst
}

// Ray is a line of sight in world space.
type Ray struct{ Origin, Dir geom.Vec3 }

// RayAt returns the ray through a pixel of a picture.
func RayAt(cam *runtime.Camera, x, y, width, height float64) Ray {
	f := geom.Vec3(cam.Forward).Normalize(1e-9, geom.Vec3{0, 0, -1})
	right := f.Cross(geom.Vec3{0, 1, 0}).Normalize(1e-9, geom.Vec3{1, 0, 0})
	up := right.Cross(f)
	tan := math.Tan(cam.FovYDegrees * math.Pi / 360)
	nx, ny := (2*x/width-1)*tan*width/height, (1-2*y/height)*tan
	d := f.Add(right.Scale(nx)).Add(up.Scale(ny))
	return Ray{cam.Position, d.Normalize(1e-9, f)}
}

// Hit returns the distance at which the ray enters a box, 0 when it starts in
// it.
func (r Ray) Hit(b geom.Box) (t float64, ok bool) {
	near, far := 0.0, math.Inf(1)
	for a := range 3 {
		if r.Dir[a] == 0 {
			if r.Origin[a] < b.Min[a] || r.Origin[a] > b.Max[a] {
				return 0, false
			}
			continue
		}
		t0, t1 := (b.Min[a]-r.Origin[a])/r.Dir[a], (b.Max[a]-r.Origin[a])/r.Dir[a]
		near, far = max(near, min(t0, t1)), min(far, max(t0, t1))
	}
	return near, near <= far && !b.IsEmpty()
}
