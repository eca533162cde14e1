package simplify

import (
	"math"
	"slices"
)

// facet is a triangle, ready for projections.
type facet struct {
	t    uint32 // its first corner
	a, n vec    // a corner and the normal, of any length
	u, v vec    // gradients of the barycentric coordinates of the other two
	inv  float64
	e, f vec // the edges from a
}

// newFacet prepares a triangle. One without area has no gradients: they are
// not numbers, and no point lies inside.
func newFacet(t uint32, a, b, c vec) (f facet) {
	f.t, f.a, f.e, f.f = t, a, b.sub(a), c.sub(a)
	f.n = f.e.cross(f.f)
	nn := f.n.length2()
	if !(nn > 0) {
		nan := math.NaN()
		f.u, f.v = vec{nan, nan, nan}, vec{nan, nan, nan}
		return f
	}
	f.inv = 1 / nn
	f.u, f.v = f.f.cross(f.n).scale(f.inv), f.n.cross(f.e).scale(f.inv)
	return f
}

// hit is a point of the present mesh.
type hit struct {
	t  uint32 // first corner of its triangle
	at vec
	b  [3]float64 // barycentric coordinates
	d2 float64    // squared distance from what was looked for
}

// finder looks for a near point of the present mesh. It starts at the place
// that a source vertex went into and takes the nearest triangle that the query
// lies over; where there is none, it goes on at the nearest corner as long as
// that helps. Both find a local minimum: never nearer than the nearest point,
// and seldom farther.
type finder struct {
	s      *Simplifier
	ring   []uint32
	cache  []surroundings // of places, by the last bits of their numbers
	places []uint32
}

// surroundings are the triangles of a place.
type surroundings struct {
	place  uint32 // none if empty
	facets []facet
}

// cacheSize is how many places keep their triangles ready at most: a few rows of
// what large meshes are mostly made of. Small ones need less.
const cacheSize = 256

func newFinder(s *Simplifier) *finder {
	size := 1
	for size < min(cacheSize, s.triangles/128) {
		size *= 2
	}
	x := &finder{s: s, cache: make([]surroundings, size)}
	x.forget()
	return x
}

// forget empties the cache, as the mesh moved.
func (x *finder) forget() {
	for i := range x.cache {
		x.cache[i].place = none
	}
}

// start returns the place that a source vertex went into.
func (x *finder) start(v uint32) uint32 {
	s := x.s
	if s.wedges.of != nil {
		v = s.wedges.of[v]
	}
	return s.wv[s.root(v)]
}

// root follows the merges of a wedge.
func (s *Simplifier) root(w uint32) uint32 {
	for s.wv[w]&gone != 0 {
		n := s.wv[w] &^ gone
		if s.wv[n]&gone != 0 {
			s.wv[w] = s.wv[n]
		}
		w = n
	}
	return w
}

// query is a point of the source: n is the normal there, zero for "any side",
// and group its triangle's group.
type query struct {
	p, n  vec
	group int32
}

// fits reports whether a facet may answer a query.
func (x *finder) fits(q *query, f *facet) bool {
	if groups := x.s.in.Groups; groups != nil && groups[f.t/3] != q.group {
		return false
	}
	return q.n == vec{} || f.n.dot(q.n) > 0
}

// descend improves h until it is inside of a triangle or no triangle at its
// nearest corner is nearer.
func (x *finder) descend(q *query, place uint32, h *hit) {
	for range descendMax {
		around := x.around(place)
		if x.over(q, around, h) || !x.visit(q, around, h) {
			return
		}
		i := uint32(0)
		if h.b[1] > h.b[0] {
			i = 1
		}
		if h.b[2] > h.b[i] {
			i = 2
		}
		next := x.s.at(h.t + i)
		if next == place {
			return
		}
		place = next
	}
}

const descendMax = 16

// spread looks at all triangles up to three edges away.
func (x *finder) spread(q *query, place uint32, h *hit) {
	x.places = append(x.places[:0], place)
	done := 0
	for range 3 {
		for end := len(x.places); done < end; done++ {
			around := x.around(x.places[done])
			x.visit(q, around, h)
			for i := range around {
				for k := range uint32(3) {
					if v := x.s.at(around[i].t + k); len(x.places) < spreadMax && !slices.Contains(x.places, v) {
						x.places = append(x.places, v)
					}
				}
			}
		}
	}
}

const spreadMax = 150

// over looks for the nearest of the triangles that the query lies over, and
// reports whether there is one that is nearer than the hit.
func (x *finder) over(q *query, around []facet, h *hit) bool {
	var best *facet
	var u, v float64
	for i := range around {
		f := &around[i]
		off := q.p.sub(f.a)
		fu, fv := f.u.dot(off), f.v.dot(off)
		if !(min(fu, fv, 1-fu-fv) >= 0) {
			continue
		}
		d := f.n.dot(off)
		if d2 := float64(float64(d*d) * f.inv); d2 < h.d2 && x.fits(q, f) {
			h.d2, best, u, v = d2, f, fu, fv
		}
	}
	if best == nil {
		return false
	}
	h.set(best, u, v)
	return true
}

// visit looks for the nearest triangle and reports whether it is nearer than
// the hit.
func (x *finder) visit(q *query, around []facet, h *hit) bool {
	var best *facet
	var u, v float64
	for i := range around {
		f := &around[i]
		if !x.fits(q, f) {
			continue
		}
		// Its plane may be too far off already.
		off := q.p.sub(f.a)
		if d := f.n.dot(off); float64(float64(d*d)*f.inv) >= h.d2 {
			continue
		}
		fu, fv := f.project(off)
		if d2 := off.sub(f.e.scale(fu)).sub(f.f.scale(fv)).length2(); d2 < h.d2 {
			h.d2, best, u, v = d2, f, fu, fv
		}
	}
	if best == nil {
		return false
	}
	h.set(best, u, v)
	return true
}

func (h *hit) set(f *facet, u, v float64) {
	h.t = f.t
	h.at = f.a.add(f.e.scale(u)).add(f.f.scale(v))
	h.b = [3]float64{1 - u - v, u, v}
}

// around returns the triangles at a place, until the next call.
func (x *finder) around(place uint32) []facet {
	r := &x.cache[int(place)&(len(x.cache)-1)]
	if r.place == place {
		return r.facets
	}
	s := x.s
	x.ring = s.ringUpTo(place, x.ring, ringMax)
	r.place = place
	r.facets = slices.Grow(r.facets[:0], len(x.ring))[:len(x.ring)]
	for i, c := range x.ring {
		t := c - c%3
		r.facets[i] = newFacet(t, s.point(s.at(t)), s.point(s.at(t+1)), s.point(s.at(t+2)))
	}
	return r.facets
}

// project returns the barycentric coordinates of the second and third corner at
// the point of the triangle that is nearest to a point at ap from its first
// corner (Ericson, "Real-Time Collision Detection", 2005, section 5.1.5).
func (f *facet) project(ap vec) (u, v float64) {
	ee, ef, ff := f.e.length2(), f.e.dot(f.f), f.f.length2()
	d1, d2 := f.e.dot(ap), f.f.dot(ap)
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
