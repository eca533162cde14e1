package simplify

import "slices"

// scratch holds buffers that are reused.
type scratch struct {
	u, v       star // around the two ends of the edge, without the triangles at it
	atU, atV   star // the triangles at the edge
	wheel      wheel
	ringU      []uint32 // corners
	nearU      []uint32 // neighbouring places
	opp        []uint32 // places opposite of the edge
	wedU, wedV []uint32 // wedges
	members    []member
	shares     []share
}

// ray is a corner and the places of the next corner in its triangle and of
// the last.
type ray struct{ c, a, b uint32 }

// star is some corners at a place.
type star struct {
	rays [ringMax + 2]ray
	n    int
}

func (f *star) list() []ray { return f.rays[:f.n] }

// has reports whether one of the places is v.
func (f *star) has(v uint32) bool {
	for i := range f.list() {
		if f.rays[i].a == v || f.rays[i].b == v {
			return true
		}
	}
	return false
}

// split gathers both ends of an edge, and reports whether there are at most so
// many corners, which must not be more than ringMax.
func (s *Simplifier) split(u, v uint32, most int) bool {
	x := &s.scratch
	n := s.gatherApart(u, v, &x.u, &x.atU, most)
	return n <= most && n+s.gatherApart(v, u, &x.v, &x.atV, most) <= most
}

// gatherApart finds the living corners at u, those of triangles at the edge to
// v apart. It returns how many there are, or one more than most, and takes dead
// ones out of the ring. As branches on what is where would be mispredicted,
// both lists are written to all the time, and only their ends depend on it.
func (s *Simplifier) gatherApart(u, v uint32, others, edge *star, most int) int {
	in, at := 0, 0
	if head := s.nodes[u].first; head != none {
		cw, wv, next := s.cw, s.wv, s.next
		prev, c := head, next[head]
		for in+at <= most {
			n := next[c]
			if cw[c] == none {
				next[prev] = n
				if c == head {
					s.nodes[u].first = prev
				}
			} else {
				k := c % 3
				a, b := wv[cw[c+toNext[k]]], wv[cw[c+toLast[k]]]
				others.rays[in] = ray{c, a, b}
				edge.rays[at] = ray{c, a, b}
				step := 0
				if uint64(a^v)*uint64(b^v) == 0 { // one of them is v
					step = 1
				}
				at += step
				in += 1 - step
				prev = c
			}
			if c == head {
				break
			}
			c = n
		}
		if in+at == 0 {
			s.nodes[u].first = none
		}
	}
	others.n, edge.n = in, at
	return in + at
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
func (s *Simplifier) wedgesOf(buf []uint32, stars ...*star) []uint32 {
	last := none
	for _, f := range stars {
		for i := range f.list() {
			w := s.cw[f.rays[i].c]
			if w == last {
				continue
			}
			last = w
			if !slices.Contains(buf, w) {
				buf = append(buf, w)
			}
		}
	}
	return buf
}
