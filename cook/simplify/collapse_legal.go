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
	holdsLocked         // it would move or remove a locked vertex
	folds               // it would pinch or fold the surface
	turns               // a triangle would turn over or degenerate
	lastOne             // it would remove the last triangles of a vertex or component
	verdicts
)

// Places with more triangles take no part in collapses, so that fans of any
// size cannot make the run quadratic. A fan shrinks by collapses on its rim.
const (
	ringMax      = 400
	ringMaxMulti = 100 // where several wedges meet
)

// legal reports whether u and v may collapse to a point relative to u. split
// must have been called.
func (s *Simplifier) legal(u, v uint32, c *candidate, r *rules) verdict {
	x := &s.scratch
	if s.vertices[u].flags&s.vertices[v].flags&flagLocked != 0 {
		return holdsLocked
	}
	if c.loose && !r.seams {
		return acrossSeam
	}
	shared := x.atU.n
	x.opp = x.opp[:0]
	for _, e := range x.atU.list() {
		x.opp = append(x.opp, e.a^e.b^v) // the one that is not v
	}
	if shared != 2 || x.opp[0] == x.opp[1] {
		x.opp = distinct(x.opp)
	}
	if shared == 0 || x.around.n == 0 {
		return lastOne
	}
	if s.given != nil && s.wouldHalve(x.atU.list()) {
		return lastOne
	}
	common, missing := x.neighbours()
	if missing && s.wouldOrphan(x, u, v, shared) {
		return lastOne
	}
	if (s.vertices[u].flags|s.vertices[v].flags)&flagLocked != 0 && s.wouldOpenBorder(x) {
		return holdsLocked
	}
	if !r.topology && !s.linked(x, u, v, common) {
		return folds
	}
	if r.turn == anyTurn {
		return allowed
	}
	if s.keepsOrientation(x, u, v, c.at, r.turn) {
		return allowed
	}
	return turns
}

// keepsOrientation reports whether no triangle around u and v turns over when they move
// to a point relative to u.
func (s *surface) keepsOrientation(x *scratch, u, v uint32, at vec, turn float64) bool {
	pu := s.point(u)
	p := pu.add(at)
	return s.fanKeepsOrientation(x.aroundU(), pu, p, turn) && s.fanKeepsOrientation(x.aroundV(), s.point(v), p, turn)
}

// distinct removes repetitions and keeps the order.
func distinct(list []uint32) []uint32 {
	n := 0
	for _, x := range list {
		if !slices.Contains(list[:n], x) {
			list[n] = x
			n++
		}
	}
	return list[:n]
}

// neighbours takes a quick look at what wouldOrphan and linked look for: bits of
// those vertices that both ends of the edge may have as neighbours, without those
// opposite of it, and whether one of the latter may be missing in the other
// triangles at u.
func (x *scratch) neighbours() (common uint64, missing bool) {
	// Two vertices opposite, mostly all, are left out without a branch.
	p, q := x.opp[0], x.opp[len(x.opp)-1]
	var seen, found uint64
	for _, e := range x.aroundU() {
		seen |= bitBut(e.a, p, q) | bitBut(e.b, p, q)
		found |= bitIf(e.a, p, 1) | bitIf(e.b, p, 1) | bitIf(e.a, q, 2) | bitIf(e.b, q, 2)
	}
	for _, e := range x.aroundV() {
		common |= bitOf(e.a) | bitOf(e.b)
	}
	return common & seen, found != 3 || len(x.opp) > 2
}

// bitIf is a bit, but 0 for different vertices.
func bitIf(v, p uint32, bit uint64) uint64 {
	if v != p {
		bit = 0
	}
	return bit
}

// bitBut is bitOf, but 0 for two vertices.
func bitBut(v, p, q uint32) uint64 {
	bit := bitOf(v)
	if v == p {
		bit = 0
	}
	if v == q {
		bit = 0
	}
	return bit
}

// wouldOrphan reports whether a vertex opposite of the edge would lose its last
// triangle: it would vanish without a trace in any quadric.
func (s *surface) wouldOrphan(x *scratch, u, v uint32, shared int) bool {
	for _, w := range x.opp {
		// Mostly a neighbouring triangle has it too.
		if !has(x.aroundU(), w) && !s.hasOther(x, w, u, v, shared) {
			return true
		}
	}
	return false
}

// wouldOpenBorder reports whether an edge between the locked end and a locked vertex opposite
// would lose its last triangle: across a border that tiles share, that is a crack.
func (s *surface) wouldOpenBorder(x *scratch) bool {
	for _, w := range x.opp {
		if s.vertices[w].flags&flagLocked != 0 && !has(x.aroundU(), w) && !has(x.aroundV(), w) {
			return true
		}
	}
	return false
}

// has reports whether one of the vertices of some rays is v.
func has(list []ray, v uint32) bool {
	for i := range list {
		if list[i].a == v || list[i].b == v {
			return true
		}
	}
	return false
}

// hasOther reports whether a vertex has a triangle that is not at the edge,
// which has so many.
func (s *surface) hasOther(x *scratch, w, u, v uint32, shared int) bool {
	ring := s.ringUpTo(w, x.nearU, shared+1)
	x.nearU = ring
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
// common has bits of those that they may have in common.
func (s *surface) linked(x *scratch, u, v uint32, common uint64) bool {
	if s.vertices[u].flags&s.vertices[v].flags&flagBorder != 0 && len(x.opp) != 1 {
		return false
	}
	if common == 0 {
		return true
	}
	for _, e := range x.aroundV() {
		for _, a := range [2]uint32{e.a, e.b} {
			if common&bitOf(a) != 0 && !slices.Contains(x.opp, a) && has(x.aroundU(), a) {
				return false
			}
		}
	}
	return true
}

// bitOf returns one of 64 bits.
func bitOf(v uint32) uint64 { return 1 << (v * 0x9e3779b1 >> 26) }

// fanKeepsOrientation reports whether no triangle of a fan turns over or degenerates when
// its corner moves from one point to another. turn is the least cosine between
// the normals.
func (s *surface) fanKeepsOrientation(around []ray, from, to vec, turn float64) bool {
	turn2 := float64(turn * turn)
	vertices := s.vertices
	for i := range around {
		a, b := fromF32(&vertices[around[i].a].pos), fromF32(&vertices[around[i].b].pos)
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
		// Thin triangles only where they were as thin before. The third edge is
		// shorter than the sum of the two others.
		e2, t2 := e.length2(), ta.length2()
		if long := 2 * (e2 + t2); a2 >= float64(float64(thinnest*long)*long) {
			continue
		}
		long := max(e2, t2, to.sub(b).length2())
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
