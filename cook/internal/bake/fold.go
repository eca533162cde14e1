package bake

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

const (
	// emptiest is how many times the area of its triangles a chart's rectangle may be;
	// a few triangles may be emptier, since every chart has gutters.
	emptiest    = 4
	emptiestFew = 8 // triangles
	// What is curved both ways has no place on a plane: round a vertex of a hill a gap is
	// left, or triangles overlap. So the last triangle there may bend, its corner goes to
	// where its vertex lies already: sides change by this part at most, and so does the area.
	bend     = 0.15
	bendArea = 0.25
	// meet is how far apart two folds of one vertex may end and be one, as a part of the
	// first triangle's longest side.
	meet = 1e-5
)

// fold is a chart that grows: triangles that lie on a plane.
type fold struct {
	w         *unwrapper
	triangles []int32
	at        [][3][2]float64
	place     map[int32]int           // of triangles, in at
	vertices  map[uint32][][2]float64 // where the corners of a vertex lie
	cells     map[[2]int32][]int32    // the triangles that reach into a square
	cell      float64                 // side of the squares
	longest   float64                 // side of the first triangle
	lo, hi    [2]float64
	area      float64
}

func newFold(w *unwrapper, seed int32) *fold {
	f := &fold{
		w: w, place: map[int32]int{}, vertices: map[uint32][][2]float64{}, cells: map[[2]int32][]int32{},
		lo: [2]float64{math.Inf(1), math.Inf(1)}, hi: [2]float64{math.Inf(-1), math.Inf(-1)},
	}
	p := w.corners(seed)
	for k := range p {
		f.longest = max(f.longest, p[(k+1)%3].Sub(p[k]).Len())
	}
	if f.cell = f.longest / 2; !(f.cell > 0) {
		f.cell = 1
	}
	return f
}

// add folds a triangle down, unless it has no room.
func (f *fold) add(c candidate) bool {
	var t [3][2]float64
	if c.from < 0 {
		t = lay(f.w.corners(c.triangle))
	} else {
		t = f.hang(c)
	}
	lo, hi := f.lo, f.hi
	for _, p := range t {
		for k, v := range p {
			lo[k], hi[k] = min(lo[k], v), max(hi[k], v)
		}
	}
	area := f.area + f.w.areas[c.triangle]
	limit := float64(emptiest * area)
	if n := len(f.triangles); n > 0 && n >= emptiestFew && float64((hi[0]-lo[0])*(hi[1]-lo[1])) > limit && (lo != f.lo || hi != f.hi) {
		return false
	}
	slack := float64(meet * f.longest)
	cells := f.reach(&t)
	for _, at := range cells {
		for _, o := range f.cells[at] {
			if overlap(&t, &f.at[o], slack) {
				return false
			}
		}
	}
	id := len(f.triangles)
	for _, at := range cells {
		f.cells[at] = append(f.cells[at], int32(id))
	}
	for k, p := range t {
		v := f.w.vertex[3*c.triangle+int32(k)]
		if !slices.Contains(f.vertices[v], p) {
			f.vertices[v] = append(f.vertices[v], p)
		}
	}
	f.place[c.triangle] = id
	f.triangles, f.at = append(f.triangles, c.triangle), append(f.at, t)
	f.lo, f.hi, f.area = lo, hi, area
	return true
}

// maxReach bounds the squares that one triangle is entered in: one that is much
// longer than the first has no area to speak of.
const maxReach = 4096

// square returns the number of a square along one axis. What does not fit an int32 would
// be another number on every processor.
func (f *fold) square(v float64) int32 {
	return int32(min(max(math.Floor(v/f.cell), -mostSquares), mostSquares))
}

const mostSquares = 1 << 30

// reach returns the squares that a triangle's box covers.
func (f *fold) reach(t *[3][2]float64) (out [][2]int32) {
	var from, to [2]int32
	for k := range 2 {
		lo, hi := min(t[0][k], t[1][k], t[2][k]), max(t[0][k], t[1][k], t[2][k])
		from[k], to[k] = f.square(lo), f.square(hi)
		to[k] = min(to[k], from[k]+maxReach)
	}
	for y := from[1]; y <= to[1]; y++ {
		for x := from[0]; x <= to[0]; x++ {
			out = append(out, [2]int32{x, y})
		}
	}
	return out
}

// lay puts a triangle on the plane, its first side along u.
func lay(p [3]geom.Vec3) [3][2]float64 {
	ab, ac := p[1].Sub(p[0]), p[2].Sub(p[0])
	l := ab.Len()
	if !(l > 1e-140) {
		return [3][2]float64{{}, {}, {ac.Len(), 0}}
	}
	x := ab.Dot(ac) / l
	return [3][2]float64{{}, {l, 0}, {x, ab.Cross(ac).Len() / l}}
}

// hang puts a triangle on the plane beside the one that it shares a side with.
func (f *fold) hang(c candidate) (t [3][2]float64) {
	w := f.w
	parent := &f.at[f.place[c.from]]
	a, b := parent[c.side], parent[(c.side+1)%3]
	// The shared side runs the other way here.
	va := w.vertex[3*c.from+c.side]
	first := 0 // the corner at b
	for k := range 3 {
		if w.vertex[3*c.triangle+int32((k+1)%3)] == va && w.next[c.triangle][k] == c.from {
			first = k
		}
	}
	p := w.corners(c.triangle)
	q, r, s := p[first], p[(first+1)%3], p[(first+2)%3]
	flat := lay([3]geom.Vec3{q, r, s})
	along := [2]float64{a[0] - b[0], a[1] - b[1]}
	l := math.Sqrt(float64(along[0]*along[0]) + float64(along[1]*along[1]))
	if l > 1e-140 { // the squares of less have no digits left
		along[0], along[1] = along[0]/l, along[1]/l
	} else {
		along = [2]float64{1, 0}
	}
	// Where the side is longer than it should be, so is all along it.
	stretch := 1.0
	if flat[1][0] > 0 {
		stretch = min(max(l/flat[1][0], 1-bend), 1+bend)
	}
	x, y := float64(flat[2][0]*stretch), flat[2][1]
	top := [2]float64{
		b[0] + float64(x*along[0]) - float64(y*along[1]),
		b[1] + float64(x*along[1]) + float64(y*along[0]),
	}
	top = f.joined(w.vertex[3*c.triangle+int32((first+2)%3)], &flat, b, a, top)
	t[first], t[(first+1)%3], t[(first+2)%3] = b, a, top
	return t
}

// joined returns where the third corner of a triangle goes that hangs on the side from b to
// a and has the shape flat: to a place that its vertex has already, if the triangle bends
// little for it, else to where it comes to lie.
func (f *fold) joined(vertex uint32, flat *[3][2]float64, b, a, top [2]float64) [2]float64 {
	slack := float64(meet * f.longest)
	best, at := math.Inf(1), top
	area := turn(flat[0], flat[1], flat[2])
	fits := func(p, q, r, s [2]float64) bool {
		is, was := distance2(p, q), distance2(r, s)
		return is >= float64(was*((1-bend)*(1-bend))) && is <= float64(was*((1+bend)*(1+bend)))
	}
	for _, o := range f.vertices[vertex] {
		d, now := distance2(o, top), turn(b, a, o)
		met := d <= float64(slack*slack)
		if d < best && (met || fits(b, o, flat[0], flat[2]) && fits(a, o, flat[1], flat[2]) &&
			now >= float64(area*(1-bendArea)) && now <= float64(area*(1+bendArea))) {
			best, at = d, o
		}
	}
	return at
}

// distance2 returns the squared distance of two points.
func distance2(a, b [2]float64) float64 {
	x, y := a[0]-b[0], a[1]-b[1]
	return float64(x*x) + float64(y*y)
}

// chart returns the triangles, turned so that the rectangle round them is smallest,
// with its longer side along u.
func (f *fold) chart() Chart {
	c := Chart{Triangles: slices.Clone(f.triangles)}
	slices.Sort(c.Triangles)
	flat := make([][2]float64, 0, 3*len(f.at))
	for _, t := range c.Triangles {
		flat = append(flat, f.at[f.place[t]][:]...)
	}
	dir := smallestTurn(hull(flat))
	lo, hi := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for i, p := range flat {
		q := [2]float64{float64(p[0]*dir[0]) + float64(p[1]*dir[1]), float64(p[1]*dir[0]) - float64(p[0]*dir[1])}
		for k := range 2 {
			lo[k], hi[k] = min(lo[k], q[k]), max(hi[k], q[k])
		}
		flat[i] = q
	}
	c.Size = [2]float64{hi[0] - lo[0], hi[1] - lo[1]}
	upright := c.Size[1] > c.Size[0]
	if upright {
		c.Size[0], c.Size[1] = c.Size[1], c.Size[0]
	}
	c.UV = make([][3][2]float64, len(c.Triangles))
	for i, p := range flat {
		q := [2]float64{p[0] - lo[0], p[1] - lo[1]}
		if upright { // a quarter turn, not a mirror image
			q = [2]float64{q[1], hi[0] - p[0]}
		}
		c.UV[i/3][i%3] = q
	}
	return c
}
