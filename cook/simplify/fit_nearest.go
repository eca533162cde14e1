package simplify

import (
	"math"
	"slices"
)

// facet is a triangle around a vertex, ready for projections of points relative
// to that vertex. It fills a cache line.
type facet struct {
	c    uint32 // its corner at the vertex
	n    vec32  // unit normal
	u, v vec32  // gradients of the barycentric coordinates of the next two corners
	e, f vec32  // the edges to these
}

// leastArea is the least double area, squared, of a triangle that counts: that
// of one with edges of a ten-millionth of a millimetre.
const leastArea = 1e-40

// set prepares a triangle with two edges from a vertex. One without area has no
// normal: it is not a number, and no point lies over the triangle.
func (t *facet) set(c uint32, e, f vec) {
	t.c, t.e, t.f = c, e.single(), f.single()
	n := e.cross(f)
	nn := n.length2()
	if !(nn > leastArea) {
		nan := float32(math.NaN())
		t.n, t.u, t.v = vec32{nan, nan, nan}, vec32{}, vec32{}
		return
	}
	inv := 1 / nn
	u, v := f.cross(n), n.cross(e)
	t.u, t.v = u.scale(inv).single(), v.scale(inv).single()
	t.n = n.scale(math.Sqrt(inv)).single()
}

// hit is a point of the present mesh.
type hit struct {
	c    uint32  // a corner of its triangle, or none
	u, v float32 // barycentric coordinates of the next two corners
	off  vec32   // from there to what was looked for
	d2   float32 // its square
}

// nothing is no hit yet.
func nothing() hit { return hit{c: none, d2: inf} }

// finder looks for a near point of the present mesh. It starts at the vertex
// that a source vertex went into and takes the nearest triangle that the query
// lies over; where there is none, it goes on at the nearest corner as long as
// that helps. Both find a local minimum: never nearer than the nearest point,
// and seldom farther.
type finder struct {
	s        *Simplifier
	ring     []uint32
	left     ranks          // vertices
	count    int            // of these
	cache    []surroundings // by the last bits of vertices' numbers among those that are left
	vertices []uint32
}

// surroundings are the triangles of a vertex.
type surroundings struct {
	vertex uint32 // none if empty
	at     vec    // its position
	facets []facet
	last   int // the one that was hit last
}

// cacheSize is how many vertices keep their triangles ready at most: a few rows of
// what large meshes are mostly made of. Small ones need less.
const cacheSize = 1024

func newFinder(s *Simplifier) *finder {
	size := 1
	for size < cacheSize && size*size < 4*s.triangles {
		size *= 2
	}
	x := &finder{s: s, left: newRanks(len(s.vertices)), cache: make([]surroundings, size)}
	for i := range s.vertices {
		if s.vertices[i].first != none {
			x.left.put(uint32(i))
		}
	}
	x.count = x.left.number()
	x.forget()
	return x
}

// forget empties the cache, as the mesh moved.
func (x *finder) forget() {
	for i := range x.cache {
		x.cache[i].vertex = none
	}
}

// start returns the vertex that a source vertex went into.
func (x *finder) start(v uint32) uint32 {
	s := x.s
	if s.wedges.of != nil {
		v = s.wedges.of[v]
	}
	return s.wedgeVertex[s.root(v)]
}

// root follows the merges of a wedge.
func (s *surface) root(w uint32) uint32 {
	for s.wedgeVertex[w]&gone != 0 {
		n := s.wedgeVertex[w] &^ gone
		if s.wedgeVertex[n]&gone != 0 {
			s.wedgeVertex[w] = s.wedgeVertex[n]
		}
		w = n
	}
	return w
}

// query is a point of the source: n is the normal there, zero for "any side",
// and group its triangle's group.
type query struct {
	p     vec
	n     vec32
	group int32
}

// fits reports whether a facet may answer a query.
func (x *finder) fits(q *query, f *facet) bool {
	if groups := x.s.in.Groups; groups != nil && groups[f.c/3] != q.group {
		return false
	}
	return q.n == vec32{} || f.n.dot(q.n) > 0
}

// descend improves h until it is inside of a triangle or no triangle at its
// nearest corner is nearer.
func (x *finder) descend(q *query, vertex uint32, h *hit) {
	for range descendMax {
		around := x.around(vertex)
		if x.over(q, around, h) || !x.visit(q, around, h) {
			return
		}
		next := x.s.at(h.nearest())
		if next == vertex {
			return
		}
		vertex = next
	}
}

const descendMax = 16

// nearest returns the corner with the largest barycentric coordinate.
func (h *hit) nearest() uint32 {
	n1, n2 := corners(h.c)
	w := 1 - h.u - h.v
	switch {
	case h.v > h.u && h.v > w:
		return n2
	case h.u > w:
		return n1
	}
	return h.c
}

// spread looks at all triangles up to three edges away.
func (x *finder) spread(q *query, vertex uint32, h *hit) {
	x.vertices = append(x.vertices[:0], vertex)
	done := 0
	for range 3 {
		for end := len(x.vertices); done < end; done++ {
			around := x.around(x.vertices[done])
			x.visit(q, around, h)
			for i := range around.facets {
				n1, n2 := corners(around.facets[i].c)
				for _, c := range [2]uint32{n1, n2} {
					if v := x.s.at(c); len(x.vertices) < spreadMax && !slices.Contains(x.vertices, v) {
						x.vertices = append(x.vertices, v)
					}
				}
			}
		}
	}
}

const spreadMax = 150

// over looks for the nearest of the triangles that the query lies over, and
// reports whether there is one that is nearer than the hit. One that is near
// will do. It begins with the one that the last query found there, which mostly
// lay near.
func (x *finder) over(q *query, around *surroundings, h *hit) bool {
	var best *facet
	off := q.p.sub(around.at).single()
	near := float32(off.length2() * nearEnough)
	facets := around.facets
	i := around.last
	for range facets {
		if i >= len(facets) {
			i = 0
		}
		f := &facets[i]
		u, v := f.u.dot(off), f.v.dot(off)
		if !negative(u, v, 1-u-v) {
			d := f.n.dot(off)
			if d2 := float32(d * d); d2 < h.d2 && x.fits(q, f) {
				best = f
				h.u, h.v, h.d2 = u, v, d2
				around.last = i
				if d2 <= near {
					break
				}
			}
		}
		i++
	}
	if best == nil {
		return false
	}
	h.set(best, off)
	return true
}

// nearEnough is the squared sine of the angle, seen from the vertex, between a
// point and the triangle under it, up to which no nearer one is looked for.
const nearEnough = 1.0 / 16384

// negative reports whether one of three numbers is below zero, or its negative:
// one branch, as three would be mispredicted.
func negative(a, b, c float32) bool {
	return int32(math.Float32bits(a)|math.Float32bits(b)|math.Float32bits(c)) < 0
}

// visit looks for the nearest triangle and reports whether it is nearer than
// the hit.
func (x *finder) visit(q *query, around *surroundings, h *hit) bool {
	var best *facet
	off := q.p.sub(around.at).single()
	for i := range around.facets {
		f := &around.facets[i]
		if !x.fits(q, f) {
			continue
		}
		// Its plane may be too far off already.
		if d := f.n.dot(off); float32(d*d) >= h.d2 {
			continue
		}
		u, v := f.project(off)
		if d2 := f.from(off, u, v).length2(); d2 < h.d2 {
			h.d2, best = d2, f
			h.u, h.v = u, v
		}
	}
	if best == nil {
		return false
	}
	h.set(best, off)
	return true
}

// set notes the facet that was hit.
func (h *hit) set(f *facet, off vec32) {
	h.c = f.c
	h.off = f.from(off, h.u, h.v)
}

// from returns a point relative to one of the facet.
func (f *facet) from(off vec32, u, v float32) vec32 {
	return off.sub(f.e.scale(u)).sub(f.f.scale(v))
}

// around returns the triangles at a vertex, until the next call.
func (x *finder) around(vertex uint32) *surroundings {
	r := &x.cache[int(x.left.of(vertex))&(len(x.cache)-1)]
	if r.vertex != vertex {
		x.fill(r, vertex)
	}
	return r
}

// fill prepares the triangles at a vertex.
func (x *finder) fill(r *surroundings, vertex uint32) {
	s := x.s
	x.ring = s.ringUpTo(vertex, x.ring, ringMax)
	r.vertex, r.at, r.last = vertex, s.point(vertex), 0
	r.facets = slices.Grow(r.facets[:0], max(len(x.ring), usualRing))[:len(x.ring)]
	for i, c := range x.ring {
		n1, n2 := corners(c)
		r.facets[i].set(c, s.point(s.at(n1)).sub(r.at), s.point(s.at(n2)).sub(r.at))
	}
}

// usualRing is how many triangles few vertices have more of.
const usualRing = 8

// project returns the barycentric coordinates of the second and third corner at
// the point of the triangle that is nearest to a point relative to the first
// corner (Ericson, "Real-Time Collision Detection", 2005, section 5.1.5).
func (f *facet) project(off vec32) (u, v float32) {
	a, b := project(f.e.double(), f.f.double(), off.double())
	u, v = float32(a), float32(b)
	return u, min(v, 1-u) // also once rounded
}

// project does the same for a triangle with two edges from its first corner.
func project(e, f, ap vec) (u, v float64) {
	ee, ef, ff := e.length2(), e.dot(f), f.length2()
	d1, d2 := e.dot(ap), f.dot(ap)
	d3, d4 := d1-ee, d2-ef
	d5, d6 := d1-ef, d2-ff
	switch {
	case d1 <= 0 && d2 <= 0:
		return 0, 0
	case d3 >= 0 && d4 <= d3:
		return 1, 0
	case d6 >= 0 && d5 <= d6:
		return 0, 1
	}
	vc := float64(d1*d4) - float64(d3*d2)
	vb := float64(d5*d2) - float64(d1*d6)
	va := float64(d3*d6) - float64(d5*d4)
	switch {
	case vc <= 0 && d1 >= 0 && d3 <= 0:
		u = d1 / (d1 - d3)
	case vb <= 0 && d2 >= 0 && d6 <= 0:
		v = d2 / (d2 - d6)
	case va <= 0 && d4-d3 >= 0 && d5-d6 >= 0:
		v = (d4 - d3) / ((d4 - d3) + (d5 - d6))
		u = 1 - v
	default:
		inv := 1 / (va + vb + vc)
		u, v = float64(vb*inv), float64(vc*inv)
	}
	if !(u >= 0 && v >= 0 && u <= 1 && v <= 1) || math.IsInf(u+v, 0) {
		return 0, 0 // a degenerate triangle
	}
	return u, v
}
