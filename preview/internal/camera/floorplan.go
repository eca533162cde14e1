package camera

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// EyeHeight is how far above the floor a person's eyes are, in metres.
const EyeHeight = 1.7

const (
	planCells   = 320  // on the longer side, at most
	planCell    = 0.2  // metres, at least
	stepHeight  = 0.35 // what a person steps over
	elbowRoom   = 0.45 // metres to the nearest obstacle
	sightLimit  = 15.0 // metres; what is farther away counts no more
	streetLimit = 60.0 // the same outside
	sightRays   = 48   // directions that are tried
	floorSearch = 1.5  // metres above the lowest point in which the floor is sought
)

// Triangle is a part of the geometry of a floor, in world space.
type Triangle [3]geom.Vec3

// Stand finds a place on a floor where a person can stand and a direction with
// a view into a room: the farthest sight that ends at something. area is the
// box of the floor. ok is false when there is no floor to stand on.
func Stand(triangles []Triangle, area geom.Box, fovX float64) (p Pose, ok bool) {
	return stand(triangles, area, fovX, false)
}

// StandOutside is Stand for a place with nothing overhead.
func StandOutside(triangles []Triangle, area geom.Box, fovX float64) (p Pose, ok bool) {
	return stand(triangles, area, fovX, true)
}

func stand(triangles []Triangle, area geom.Box, fovX float64, outside bool) (p Pose, ok bool) {
	if area.IsEmpty() || !area.Size().IsFinite() {
		return p, false
	}
	f := newFloorPlan(area)
	if f.outside, f.limit = outside, sightLimit; outside {
		f.limit = streetLimit
	}
	if !f.findFloor(triangles) {
		return p, false
	}
	for i := range triangles {
		f.add(&triangles[i])
	}
	f.measure()
	return f.best(fovX)
}

// floorPlan is a picture of a floor from above.
type floorPlan struct {
	area    geom.Box
	outside bool    // what is overhead blocks
	limit   float64 // of sights
	cell    float64
	w, h    int
	height  float64   // of the floor
	ground  []bool    // something to stand on
	blocked []bool    // something between knee and crown
	room    []float32 // metres to the nearest blocked or groundless cell
}

func newFloorPlan(area geom.Box) *floorPlan {
	size := area.Size()
	f := &floorPlan{area: area, cell: max(planCell, max(size[0], size[2])/planCells)}
	f.w, f.h = int(size[0]/f.cell)+1, int(size[2]/f.cell)+1
	f.ground, f.blocked = make([]bool, f.w*f.h), make([]bool, f.w*f.h)
	return f
}

// findFloor sets the height of the floor: the largest area that faces up among
// the lowest.
func (f *floorPlan) findFloor(triangles []Triangle) bool {
	const step = 0.05
	var areas [int(floorSearch/step) + 1]float64
	for i := range triangles {
		t := &triangles[i]
		n := t[1].Sub(t[0]).Cross(t[2].Sub(t[0]))
		y := (t[0][1]+t[1][1]+t[2][1])/3 - f.area.Min[1]
		// Both windings: floors are often a slab whose lower side is left out.
		if l := n.Len(); l > 0 && n[1] > float64(l*0.95) && y >= 0 && y < floorSearch {
			areas[int(y/step)] += l / 2
		}
	}
	best := 0
	for i := range areas {
		if areas[i] > float64(areas[best]*1.05) {
			best = i
		}
	}
	f.height = f.area.Min[1] + float64(best)*step
	return areas[best] > 0
}

// add draws a triangle into the plan.
func (f *floorPlan) add(t *Triangle) {
	n := t[1].Sub(t[0]).Cross(t[2].Sub(t[0]))
	if lo, hi := min(t[0][1], t[1][1], t[2][1]), max(t[0][1], t[1][1], t[2][1]); hi <= f.height+stepHeight && lo >= f.height-stepHeight {
		if n[1] > 0 {
			f.fill(f.ground, t[:])
		}
		return
	}
	poly := clipY(t[:], f.height+stepHeight, 1)
	if !f.outside {
		poly = clipY(poly, f.height+EyeHeight+0.2, -1)
	}
	if len(poly) > 0 {
		f.fill(f.blocked, poly)
	}
}

// clipY keeps the part of a polygon above (side 1) or below (-1) a height.
func clipY(poly []geom.Vec3, y, side float64) []geom.Vec3 {
	var out []geom.Vec3
	for i, a := range poly {
		b := poly[(i+1)%len(poly)]
		da, db := (a[1]-y)*side, (b[1]-y)*side
		if da >= 0 {
			out = append(out, a)
		}
		if da >= 0 != (db >= 0) {
			out = append(out, a.Add(b.Sub(a).Scale(da/(da-db))))
		}
	}
	return out
}

// fill marks the cells that a convex polygon touches from above.
func (f *floorPlan) fill(cells []bool, poly []geom.Vec3) {
	for i, a := range poly {
		b := poly[(i+1)%len(poly)]
		n := int(max(math.Abs(b[0]-a[0]), math.Abs(b[2]-a[2]))/(f.cell/2)) + 1
		for k := 0; k <= min(n, 4*planCells); k++ {
			f.mark(cells, a.Add(b.Sub(a).Scale(float64(k)/float64(n))))
		}
	}
	box := geom.EmptyBox()
	for _, p := range poly {
		box = box.Extend(p)
	}
	x0, z0 := f.at(box.Min)
	x1, z1 := f.at(box.Max)
	for z := max(z0, 0); z <= min(z1, f.h-1); z++ {
		for x := max(x0, 0); x <= min(x1, f.w-1); x++ {
			if c := f.middle(x, z); inside(poly, c) {
				cells[z*f.w+x] = true
			}
		}
	}
}

// inside reports whether a point lies in a convex polygon as seen from above,
// whatever its winding.
func inside(poly []geom.Vec3, p geom.Vec3) bool {
	left, right := false, false
	for i, a := range poly {
		b := poly[(i+1)%len(poly)]
		c := float64((b[0]-a[0])*(p[2]-a[2])) - float64((b[2]-a[2])*(p[0]-a[0]))
		left, right = left || c > 0, right || c < 0
	}
	return left != right
}

func (f *floorPlan) at(p geom.Vec3) (x, z int) {
	return int(math.Floor((p[0] - f.area.Min[0]) / f.cell)), int(math.Floor((p[2] - f.area.Min[2]) / f.cell))
}

func (f *floorPlan) middle(x, z int) geom.Vec3 {
	return geom.Vec3{f.area.Min[0] + float64((float64(x)+0.5)*f.cell), f.height, f.area.Min[2] + float64((float64(z)+0.5)*f.cell)}
}

func (f *floorPlan) mark(cells []bool, p geom.Vec3) {
	if x, z := f.at(p); x >= 0 && z >= 0 && x < f.w && z < f.h {
		cells[z*f.w+x] = true
	}
}

// measure computes the room around every cell by two sweeps of a chamfer
// distance (Borgefors 1986, weights 1 and 1.4).
func (f *floorPlan) measure() {
	f.room = make([]float32, f.w*f.h)
	for i := range f.room {
		if f.ground[i] && !f.blocked[i] {
			f.room[i] = math.MaxFloat32 / 2
		}
	}
	near := func(x, z, dx, dz int) {
		d := float32(f.cell)
		if dx != 0 && dz != 0 {
			d = float32(1.4 * f.cell)
		}
		from := float32(0) // beyond the edge there is no floor
		if x+dx >= 0 && z+dz >= 0 && x+dx < f.w && z+dz < f.h {
			from = f.room[(z+dz)*f.w+x+dx]
		}
		f.room[z*f.w+x] = min(f.room[z*f.w+x], from+d)
	}
	for z := range f.h {
		for x := range f.w {
			for _, o := range [...][2]int{{-1, 0}, {-1, -1}, {0, -1}, {1, -1}} {
				near(x, z, o[0], o[1])
			}
		}
	}
	for z := f.h - 1; z >= 0; z-- {
		for x := f.w - 1; x >= 0; x-- {
			for _, o := range [...][2]int{{1, 0}, {1, 1}, {0, 1}, {-1, 1}} {
				near(x, z, o[0], o[1])
			}
		}
	}
}

// best tries places a metre apart and all directions.
func (f *floorPlan) best(fovX float64) (p Pose, ok bool) {
	stride := max(1, int(1/f.cell))
	wide := max(1, int(fovX/2/(2*math.Pi)*sightRays))
	var sights [sightRays]float64
	top := 0.0
	for z := 0; z < f.h; z += stride {
		for x := 0; x < f.w; x += stride {
			if f.room[z*f.w+x] < elbowRoom {
				continue
			}
			for i := range sights {
				sights[i] = f.sight(x, z, directionOf(i))
			}
			for i := range sights {
				if sights[i] < 2 {
					continue // a wall right ahead
				}
				sum := 0.0
				for k := -wide; k <= wide; k++ {
					sum += sights[(i+k+sightRays)%sightRays]
				}
				if sum > float64(top*1.001) {
					top, ok = sum, true
					p.Position = f.middle(x, z).Add(geom.Vec3{0, EyeHeight, 0})
					p.Forward = directionOf(i)
				}
			}
		}
	}
	return p, ok
}

func directionOf(i int) geom.Vec3 {
	sin, cos := geom.Sincos(2 * math.Pi * float64(i) / sightRays)
	return geom.Vec3{cos, 0, sin}
}

// sight returns how far one sees from a cell before something is in the way; 0
// when nothing is.
func (f *floorPlan) sight(x, z int, dir geom.Vec3) float64 {
	start := f.middle(x, z)
	for d := f.cell; d <= f.limit; d += f.cell {
		cx, cz := f.at(start.Add(dir.Scale(d)))
		switch {
		case cx < 0 || cz < 0 || cx >= f.w || cz >= f.h:
			return 0
		case f.blocked[cz*f.w+cx]:
			return d
		}
	}
	return 0
}
