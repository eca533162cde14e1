package simplify

import (
	"math"
	"slices"
)

// facet is a triangle, ready for projections.
type facet struct {
	corner     [3]uint32
	a, e, f    vec // a corner and the edges from it
	n          vec // normal, of any length
	ee, ef, ff float64
	nn         float64 // squared length of n
}

// hit is a point of the present mesh.
type hit struct {
	corner [3]uint32 // of its triangle
	at     vec
	b      [3]float64 // barycentric coordinates
	d2     float64    // squared distance from what was looked for
}

// finder looks for the nearest point of the present mesh. It starts at the
// place that a source vertex went into and goes on at the nearest corner as
// long as that helps, which finds a local minimum: never nearer than the
// nearest point, and seldom farther.
type finder struct {
	s      *Simplifier
	ring   []uint32
	loaded uint32 // place that facets belongs to
	facets []facet
	places []uint32
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

// descend improves h until no triangle at its nearest corner is nearer.
func (x *finder) descend(q *query, place uint32, h *hit) {
	for range descendMax {
		if !x.visit(q, place, h) {
			return
		}
		i := 0
		if h.b[1] > h.b[0] {
			i = 1
		}
		if h.b[2] > h.b[i] {
			i = 2
		}
		next := x.s.at(h.corner[i])
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
			x.visit(q, x.places[done], h)
			for i := range x.facets {
				for _, c := range x.facets[i].corner {
					if v := x.s.at(c); len(x.places) < spreadMax && !slices.Contains(x.places, v) {
						x.places = append(x.places, v)
					}
				}
			}
		}
	}
}

const spreadMax = 150

// visit looks at the triangles of a place and reports whether one is nearer.
func (x *finder) visit(q *query, place uint32, h *hit) bool {
	if x.loaded != place {
		x.load(place)
	}
	anySide := q.n == vec{}
	groups := x.s.in.Groups
	var best *facet
	var u, v float64
	for i := range x.facets {
		f := &x.facets[i]
		if !anySide && f.n.dot(q.n) <= 0 {
			continue
		}
		if groups != nil && groups[f.corner[0]/3] != q.group {
			continue
		}
		// Its plane may be too far off already.
		off := q.p.sub(f.a)
		if d := f.n.dot(off); f.nn > 0 && float64(d*d) >= float64(h.d2*f.nn) {
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
	h.corner = best.corner
	h.at = best.a.add(best.e.scale(u)).add(best.f.scale(v))
	h.b = [3]float64{1 - u - v, u, v}
	return true
}

// load gathers the triangles at a place.
func (x *finder) load(place uint32) {
	s := x.s
	x.loaded = place
	x.ring = s.ringUpTo(place, x.ring, ringMax)
	x.facets = slices.Grow(x.facets[:0], len(x.ring))[:len(x.ring)]
	for i, c := range x.ring {
		t := c - c%3
		f := &x.facets[i]
		f.corner = [3]uint32{t, t + 1, t + 2}
		f.a = s.point(s.at(t))
		f.e = s.point(s.at(t + 1)).sub(f.a)
		f.f = s.point(s.at(t + 2)).sub(f.a)
		f.n = f.e.cross(f.f)
		f.ee, f.ef, f.ff, f.nn = f.e.length2(), f.e.dot(f.f), f.f.length2(), f.n.length2()
	}
}

// project returns the barycentric coordinates of the second and third corner at
// the point of the triangle that is nearest to a point at ap from its first
// corner (Ericson, "Real-Time Collision Detection", 2005, section 5.1.5).
func (f *facet) project(ap vec) (u, v float64) {
	d1, d2 := f.e.dot(ap), f.f.dot(ap)
	d3, d4 := d1-f.ee, d2-f.ef
	d5, d6 := d1-f.ef, d2-f.ff
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
