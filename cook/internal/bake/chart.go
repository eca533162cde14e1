package bake

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// foldCosine is the least cosine between the normals of two triangles of a chart that
// share a side which is sharp: corners of houses are folded flat, thin edges are not.
// Where a side is smooth, another chart there would cost vertices, and it may bend
// however much. smoothFirst puts such sides before all sharp ones.
const (
	foldCosine  = -0.2
	smoothFirst = 4
)

// Chart is a part of a mesh that lies on a plane without overlap.
type Chart struct {
	Triangles []int32         // ascending
	UV        [][3][2]float64 // of the corners of Triangles, metres, from 0 to Size
	Size      [2]float64      // metres
}

// Unwrap divides a mesh into charts. Positions that are equal are one vertex,
// whatever else differs there; a side of two triangles is smooth if they have both its
// vertices in common. Every triangle is in exactly one chart.
func Unwrap(positions []geom.Vec3, indices []uint32) []Chart {
	w := newUnwrapper(positions, indices)
	for _, seed := range w.seeds() {
		if w.chart[seed] < 0 {
			w.grow(seed)
		}
	}
	return w.charts
}

// unwrapper is the state of Unwrap.
type unwrapper struct {
	positions []geom.Vec3
	indices   []uint32
	normals   []geom.Vec3 // by triangle, of unit length, or 0 for one without area
	areas     []float64
	vertex    []uint32   // by corner: the first vertex with the same position
	next      [][3]int32 // by triangle and edge: the triangle on the other side, or -1
	chart     []int32    // by triangle, -1 for none
	charts    []Chart
}

func newUnwrapper(positions []geom.Vec3, indices []uint32) *unwrapper {
	n := len(indices) / 3
	w := &unwrapper{
		positions: positions, indices: indices, normals: make([]geom.Vec3, n), areas: make([]float64, n),
		next: make([][3]int32, n), chart: make([]int32, n),
	}
	for t := range n {
		p := w.corners(int32(t))
		cross := p[1].Sub(p[0]).Cross(p[2].Sub(p[0]))
		w.areas[t] = cross.Len() / 2
		w.normals[t] = cross.Normalize(1e-30, geom.Vec3{})
		w.chart[t] = -1
	}
	w.weld()
	w.connect()
	return w
}

func (w *unwrapper) corners(t int32) [3]geom.Vec3 {
	i := w.indices[3*t : 3*t+3]
	return [3]geom.Vec3{w.positions[i[0]], w.positions[i[1]], w.positions[i[2]]}
}

// weld finds equal positions.
func (w *unwrapper) weld() {
	first := make(map[geom.Vec3]uint32, len(w.positions))
	w.vertex = make([]uint32, len(w.indices))
	for i, v := range w.indices {
		p := w.positions[v]
		o, ok := first[p]
		if !ok {
			o = v
			first[p] = v
		}
		w.vertex[i] = o
	}
}

// connect finds the triangle on the other side of every edge. An edge of more
// than two triangles, or of two that run along it the same way, divides charts.
func (w *unwrapper) connect() {
	type side struct{ triangle, edge int32 }
	sides := make(map[[2]uint32]side, len(w.indices))
	many := map[[2]uint32]bool{}
	for t := range w.next {
		for k := range 3 {
			w.next[t][k] = -1
			e := [2]uint32{w.vertex[3*t+k], w.vertex[3*t+(k+1)%3]}
			if _, ok := sides[e]; ok {
				many[e] = true
			}
			sides[e] = side{int32(t), int32(k)}
		}
	}
	for e, s := range sides { // each pair is written alike from both of its sides
		back := [2]uint32{e[1], e[0]}
		if o, ok := sides[back]; ok && !many[e] && !many[back] && o.triangle != s.triangle {
			w.next[s.triangle][s.edge] = o.triangle
		}
	}
}

// seeds returns all triangles, the largest first.
func (w *unwrapper) seeds() []int32 {
	out := make([]int32, len(w.areas))
	for i := range out {
		out[i] = int32(i)
	}
	slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(w.areas[b], w.areas[a]) })
	return out
}

// candidate is a triangle that may join a chart.
type candidate struct {
	cosine   float64 // between its normal and that of the one that it hangs on; more if their side is smooth
	triangle int32
	from     int32 // the one that it hangs on, -1 for the first
	side     int32 // of that one
}

type candidates []candidate

func (c candidates) Len() int { return len(c) }
func (c candidates) Less(i, j int) bool {
	if c[i].cosine != c[j].cosine {
		return c[i].cosine > c[j].cosine
	}
	if c[i].triangle != c[j].triangle {
		return c[i].triangle < c[j].triangle
	}
	return c[i].from < c[j].from
}
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *candidates) Push(x any)   { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}

// grow makes a chart round a triangle: neighbours are folded down onto its plane, those
// at smooth sides and of these the flattest first, each along the side that it shares, so that every triangle keeps its
// shape. What would overlap, bend too far or make the rectangle too empty is left to
// other charts.
func (w *unwrapper) grow(seed int32) {
	id := int32(len(w.charts))
	f := newFold(w, seed)
	queue := candidates{{cosine: 1, triangle: seed, from: -1}}
	for len(queue) > 0 {
		c := heap.Pop(&queue).(candidate)
		if w.chart[c.triangle] >= 0 || !f.add(c) {
			continue
		}
		w.chart[c.triangle] = id
		for k, o := range w.next[c.triangle] {
			if o < 0 || w.chart[o] >= 0 {
				continue
			}
			cosine := 1.0 // of a triangle without area
			if w.areas[o] > 0 && w.areas[c.triangle] > 0 {
				cosine = w.normals[o].Dot(w.normals[c.triangle])
			}
			if w.smooth(c.triangle, int32(k), o) {
				cosine += smoothFirst
			}
			if cosine >= foldCosine {
				heap.Push(&queue, candidate{cosine, o, c.triangle, int32(k)})
			}
		}
	}
	w.charts = append(w.charts, f.chart())
}

// smooth reports whether two triangles have both vertices of a side of the first in common.
func (w *unwrapper) smooth(t, side, o int32) bool {
	a, b := w.indices[3*t+side], w.indices[3*t+(side+1)%3]
	for k := range int32(3) {
		if w.indices[3*o+k] == b && w.indices[3*o+(k+1)%3] == a {
			return true
		}
	}
	return false
}

// across returns a unit vector perpendicular to another.
func across(n geom.Vec3) geom.Vec3 {
	axis := geom.Vec3{0, 1, 0}
	if math.Abs(n[1]) > 0.9 {
		axis = geom.Vec3{1, 0, 0}
	}
	return axis.Cross(n).Normalize(0, geom.Vec3{1, 0, 0})
}
