package simplify

import "slices"

// rules say how far collapses may go. They relax in steps when nothing else is
// left.
type rules struct {
	turn     float64 // least cosine between a triangle's normals before and after, or anyTurn
	seams    bool    // sides of seams may be joined
	topology bool    // collapses may pinch or fold the surface
}

// verdict says whether a collapse is allowed, or what stands in the way.
type verdict uint8

const (
	allowed     verdict = iota
	inexact             // the error limit
	acrossSeam          // it joins sides of a seam
	holdsLocked         // it would move or remove a locked place
	folds               // it would pinch, fold or turn over the surface
	lastOne             // it would remove the last triangles of a place or component
	verdicts
)

// Places with more triangles take no part in collapses, so that fans of any
// size cannot make the run quadratic. A fan shrinks by collapses on its rim.
const (
	ringMax      = 400
	ringMaxMulti = 100 // where several wedges meet
)

// legal reports whether u and v may collapse to a point relative to u. The
// rings must be in scratch.
func (s *Simplifier) legal(u, v uint32, c *candidate, r *rules) verdict {
	x := &s.scratch
	if s.nodes[u].flags&s.nodes[v].flags&flagLocked != 0 {
		return holdsLocked
	}
	if len(x.ringU)+len(x.ringV) > ringMax {
		return folds
	}
	if c.loose && !r.seams {
		return acrossSeam
	}
	shared := s.opposite(v)
	if shared == 0 || shared == len(x.ringU) && shared == len(x.ringV) {
		return lastOne
	}
	if s.orphans(u, v, shared) {
		return lastOne
	}
	if !r.topology && !s.linked(u, v) {
		return folds
	}
	if r.turn == anyTurn {
		return allowed
	}
	pu := s.point(u)
	p := pu.add(c.at)
	if s.upright(x.ringU, v, pu, p, r.turn) && s.upright(x.ringV, u, s.point(v), p, r.turn) {
		return allowed
	}
	return folds
}

// opposite puts the places opposite of the edge between the two rings into
// scratch and returns the number of triangles at it.
func (s *Simplifier) opposite(v uint32) int {
	x := &s.scratch
	x.opp = x.opp[:0]
	shared := 0
	for _, cu := range x.ringU {
		n1, n2 := corners(cu)
		a, b := s.at(n1), s.at(n2)
		switch v {
		case a:
			a = b
		case b:
		default:
			continue
		}
		shared++
		if !slices.Contains(x.opp, a) {
			x.opp = append(x.opp, a)
		}
	}
	return shared
}

// orphans reports whether a place opposite of the edge would lose its last
// triangle: it would vanish without a trace in any quadric.
func (s *Simplifier) orphans(u, v uint32, shared int) bool {
	for _, w := range s.scratch.opp {
		if !s.hasOther(w, u, v, shared) {
			return true
		}
	}
	return false
}

// hasOther reports whether a place has a triangle that is not at the edge,
// which has so many.
func (s *Simplifier) hasOther(w, u, v uint32, shared int) bool {
	ring := s.ringUpTo(w, s.scratch.nearU, shared+1)
	s.scratch.nearU = ring
	for _, c := range ring {
		n1, n2 := corners(c)
		a, b := s.at(n1), s.at(n2)
		if !(a == u && b == v || a == v && b == u) {
			return true
		}
	}
	return false
}

// linked is the link condition: u and v have no common neighbours but those
// opposite of their edge, and an edge between two borders is a border itself.
func (s *Simplifier) linked(u, v uint32) bool {
	x := &s.scratch
	if s.nodes[u].flags&s.nodes[v].flags&flagBorder != 0 && len(x.opp) != 1 {
		return false
	}
	// Neighbours of u, one bit each for a quick no.
	x.nearU = x.nearU[:0]
	var seen uint64
	for _, c := range x.ringU {
		n1, n2 := corners(c)
		a, b := s.at(n1), s.at(n2)
		x.nearU = append(x.nearU, a, b)
		seen |= 1<<(a&63) | 1<<(b&63)
	}
	for _, c := range x.ringV {
		n1, n2 := corners(c)
		for _, a := range [2]uint32{s.at(n1), s.at(n2)} {
			if seen&(1<<(a&63)) == 0 || a == u || slices.Contains(x.opp, a) {
				continue
			}
			if slices.Contains(x.nearU, a) {
				return false
			}
		}
	}
	return true
}

// upright reports whether no triangle of a ring but those at the other end of
// the edge turns over or degenerates when its corner moves from one point to
// another. turn is the least cosine between the normals.
func (s *Simplifier) upright(ring []uint32, other uint32, from, to vec, turn float64) bool {
	turn2 := float64(turn * turn)
	for _, c := range ring {
		n1, n2 := corners(c)
		va, vb := s.at(n1), s.at(n2)
		if va == other || vb == other {
			continue
		}
		a, b := s.point(va), s.point(vb)
		e := b.sub(a)
		fa, ta := from.sub(a), to.sub(a)
		before, after := e.cross(fa), e.cross(ta)
		b2, a2 := before.length2(), after.length2()
		if b2 == 0 {
			continue
		}
		dot := before.dot(after)
		if !(dot > 0) || float64(dot*dot) < float64(turn2*float64(a2*b2)) {
			return false
		}
		// Thin triangles only where they were as thin before.
		e2 := e.length2()
		long := max(e2, ta.length2(), to.sub(b).length2())
		if a2 < float64(float64(thinnest*long)*long) {
			old := max(e2, fa.length2(), from.sub(b).length2())
			if float64(float64(a2*old)*old) < float64(float64(b2*long)*long) {
				return false
			}
		}
	}
	return true
}

// thinnest is the square of the least ratio of height to longest edge.
const thinnest = 0.02 * 0.02
