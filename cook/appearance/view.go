package appearance

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// view is a parallel projection onto a picture.
type view struct {
	right, up, toward geom.Vec3 // unit vectors; toward the viewer
	origin            geom.Vec3
	pixel             float64 // metres
	w, h              int     // pixels, multiples of tile
	x0, y0            float64 // of the picture's corner, pixels
}

// Pictures have a margin and are whole multiples of the largest pixel that they
// are compared with.
const (
	tileShift = 6
	tile      = 1 << tileShift
	margin    = 2
)

// Views is the number of sides that meshes are seen from.
const Views = 8

// directions are seen from the sides and from above, none of them along an
// axis, where walls would be edges: sines and cosines are fractions.
var directions = func() (out [Views]geom.Vec3) {
	for i, az := range [Views][2]float64{{4, 3}, {-3, 4}, {-4, -3}, {3, -4}, {3, 4}, {-4, 3}, {-3, -4}, {4, -3}} {
		sin, cos := 7.0/25, 24.0/25 // 16 degrees above the ground
		if i >= 4 {
			sin, cos = 4.0/5, 3.0/5 // 53 degrees
		}
		out[i] = geom.Vec3{cos * az[0] / 5, sin, cos * az[1] / 5}
	}
	return out
}()

// newView looks at a box from a direction with pixels of a given size.
func newView(toward geom.Vec3, box geom.Box, pixel float64) view {
	v := view{toward: toward, origin: box.Center(), pixel: pixel}
	v.right = geom.Vec3{0, 1, 0}.Cross(toward).Normalize(1e-12, geom.Vec3{1, 0, 0})
	v.up = toward.Cross(v.right)
	lo, hi := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, c := range box.Corners() {
		d := c.Sub(v.origin)
		for k, axis := range []geom.Vec3{v.right, v.up} {
			p := d.Dot(axis) / pixel
			lo[k], hi[k] = min(lo[k], p), max(hi[k], p)
		}
	}
	v.x0, v.y0 = math.Floor(lo[0])-margin, math.Floor(lo[1])-margin
	v.w = (int(math.Ceil(hi[0])-v.x0) + margin + tile - 1) / tile * tile
	v.h = (int(math.Ceil(hi[1])-v.y0) + margin + tile - 1) / tile * tile
	return v
}

// larger returns the view with pixels so many times as large, of which the picture is a whole
// number.
func (v *view) larger(times float64) view {
	out := *v
	out.pixel, out.x0, out.y0 = float64(v.pixel*times), v.x0/times, v.y0/times
	out.w, out.h = v.w/int(times), v.h/int(times)
	return out
}

// subpixel is how many steps vertices have within a pixel.
const subpixel = 16

// point is a vertex on the picture.
type point struct {
	x, y int32 // in 1/subpixel of a pixel
	z    int32 // towards the viewer, in 1/subpixel of a pixel
}

// project moves vertices onto the picture. What is far outside of the box that
// the view was made for stays at its border.
func (v *view) project(to []point, from []geom.Vec3) {
	// Arrays would lie in memory: these are registers.
	ox, oy, oz := v.origin[0], v.origin[1], v.origin[2]
	rx, ry, rz := v.right[0], v.right[1], v.right[2]
	ux, uy, uz := v.up[0], v.up[1], v.up[2]
	tx, ty, tz := v.toward[0], v.toward[1], v.toward[2]
	pixel, x0, y0 := v.pixel, v.x0, v.y0
	to = to[:len(from)]
	for i := range from {
		p, q := &from[i], &to[i]
		x, y, z := p[0]-ox, p[1]-oy, p[2]-oz
		q.x = snap((float64(x*rx)+float64(y*ry)+float64(z*rz))/pixel - x0)
		q.y = snap((float64(x*ux)+float64(y*uy)+float64(z*uz))/pixel - y0)
		q.z = snap((float64(x*tx) + float64(y*ty) + float64(z*tz)) / pixel)
	}
}

// at moves one place onto the picture, as project does.
func (v *view) at(p *geom.Vec3) point {
	x, y, z := p[0]-v.origin[0], p[1]-v.origin[1], p[2]-v.origin[2]
	return point{
		snap((float64(x*v.right[0])+float64(y*v.right[1])+float64(z*v.right[2]))/v.pixel - v.x0),
		snap((float64(x*v.up[0])+float64(y*v.up[1])+float64(z*v.up[2]))/v.pixel - v.y0),
		snap((float64(x*v.toward[0]) + float64(y*v.toward[1]) + float64(z*v.toward[2])) / v.pixel),
	}
}

// snap rounds a number of pixels to whole steps, halves upwards.
func snap(x float64) int32 {
	x = float64(x * subpixel)
	if !(x > -1<<20) {
		return -1 << 20
	}
	x = min(x, 1<<20) + 0.5
	n := int32(x)
	if float64(n) > x {
		n--
	}
	return n
}
