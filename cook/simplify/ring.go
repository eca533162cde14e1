package simplify

import "slices"

// scratch holds buffers that are reused.
type scratch struct {
	// Around the two ends of the edge, without the triangles at it: first those of
	// u, then, from fromV on, those of v.
	around     star
	fromV      int
	atU, atV   star // the triangles at the edge
	wheel      wheel
	ringU      []uint32 // corners
	nearU      []uint32 // neighbouring places
	opp        []uint32 // places opposite of the edge
	wedU, wedV []uint32 // wedges
	members    []member
	shares     []share
	toP, toQ   [2*starMax + 1]uint32 // corners: two of each ray, and one that need not stay
	gaps       [maxAttributes]gap
}

// aroundU returns the triangles at u, but not at the edge.
func (x *scratch) aroundU() []ray { return x.around.rays[:x.fromV] }

// aroundV returns the triangles at v, but not at the edge.
func (x *scratch) aroundV() []ray { return x.around.rays[x.fromV:x.around.n] }

// ray is a corner and the places of the next corner in its triangle and of
// the last.
type ray struct{ c, a, b uint32 }

// starMax is how many corners two ends of an edge may have together, with one more
// each that is seen before it is too many.
const starMax = 2 * (ringMax + 1)

// star is some corners at one or two places.
type star struct {
	rays [starMax]ray
	n    int
}

func (f *star) list() []ray { return f.rays[:f.n] }

// split gathers both ends of an edge, and reports whether there are at most so
// many corners, which must not be more than ringMax.
func (s *Simplifier) split(u, v uint32, most int) bool {
	x := &s.scratch
	x.around.n = 0
	n := s.gatherApart(u, v, &x.around, &x.atU, most)
	if n > most {
		return false
	}
	x.fromV = x.around.n
	return n+s.gatherApart(v, u, &x.around, &x.atV, most) <= most
}

// gatherApart finds the living corners at u, those of triangles at the edge to
// v apart: these replace a star, the others are added to one. It returns how many
// there are, or one more than most, and takes dead ones out of the ring. As
// branches on what is where would be mispredicted, there are none: both lists
// are written to all the time, and only their ends depend on it.
func (s *Simplifier) gatherApart(u, v uint32, others, edge *star, most int) int {
	in, at := others.n, 0
	most += in
	if head := s.nodes[u].first; head != none {
		cw, wv, next := s.cw, s.wv, s.next
		prev, c := head, next[head]
		for in+at <= most {
			n := next[c]
			k := c % 3
			wa, wb := cw[c+toNext[k]], cw[c+toLast[k]]
			dead := uint32(int32(wa) >> 31) // all bits, or none
			a, b := wv[wa&^dead], wv[wb&^dead]
			others.rays[in] = ray{c, a, b}
			edge.rays[at] = ray{c, a, b}
			step := 0
			if uint64(a^v)*uint64(b^v) == 0 { // one of them is v
				step = 1
			}
			live := 1 - int(dead&1)
			at += step & live
			in += live &^ step
			next[prev] = c ^ (c^n)&dead
			prev ^= (prev ^ c) &^ dead
			if c == head {
				s.nodes[u].first = prev
				break
			}
			c = n
		}
		if in+at == others.n {
			s.nodes[u].first = none
		}
	}
	n := in + at - others.n
	others.n, edge.n = in, at
	return n
}

// ring appends the living corners at a place to buf[:0] and takes dead ones
// out of the list.
func (s *Simplifier) ring(v uint32, buf []uint32) []uint32 {
	return s.ringUpTo(v, buf, maxCorners)
}

// ringUpTo is ring for at most so many corners, so that places with very many
// triangles cost no more than others.
func (s *Simplifier) ringUpTo(v uint32, buf []uint32, most int) []uint32 {
	buf = buf[:0]
	head := s.nodes[v].first
	if head == none {
		return buf
	}
	prev, c := head, s.next[head]
	for len(buf) < most {
		n := s.next[c]
		last := c == head
		if s.cw[c] == none {
			s.next[prev] = n
			if last {
				s.nodes[v].first = prev
			}
		} else {
			buf = append(buf, c)
			prev = c
		}
		if last {
			break
		}
		c = n
	}
	if len(buf) == 0 {
		s.nodes[v].first = none
	}
	return buf
}

// at returns a living corner's place.
func (s *Simplifier) at(c uint32) uint32 { return s.wv[s.cw[c]] }

// wedgesOf appends the distinct wedges of some corners.
func (s *Simplifier) wedgesOf(buf []uint32, lists ...[]ray) []uint32 {
	for _, f := range lists {
		buf = slices.Grow(buf, len(f)+1)
		n := len(buf)
		buf = buf[:cap(buf)]
		for i := range f {
			w := s.cw[f[i].c]
			known := 0
			for _, x := range buf[:n] {
				known |= one(x == w)
			}
			buf[n] = w
			n += 1 - known
		}
		buf = buf[:n]
	}
	return buf
}
