package simplify

import "slices"

// scratch holds buffers that are reused.
type scratch struct {
	u, v       fan      // around the two ends of the edge
	ringU      []uint32 // corners
	nearU      []uint32 // neighbouring places
	opp        []uint32 // places opposite of the edge
	dead       []uint32 // corners of the triangles at the edge
	wedU, wedV []uint32 // wedges
	members    []member
	shares     []share
	sum        form // of the edge priced last
}

// fan is the living corners of a place and the places that they lead to.
type fan struct {
	c    []uint32 // corners
	a, b []uint32 // places of the next corner in the triangle and of the last
}

// gather fills a fan with at most so many corners.
func (s *Simplifier) gather(v uint32, f *fan, most int) {
	f.c = s.ringUpTo(v, f.c, most)
	n := len(f.c)
	if cap(f.a) < n {
		f.a, f.b = make([]uint32, 2*n), make([]uint32, 2*n)
	}
	f.a, f.b = f.a[:n], f.b[:n]
	a, b := f.a, f.b
	for i, c := range f.c {
		n1, n2 := corners(c)
		a[i], b[i] = s.at(n1), s.at(n2)
	}
}

// part moves the corners of triangles that lead to a place from a fan to dead,
// and the places opposite to opp. As branches on what is where would be
// mispredicted, both lists are written to all the time, and only their ends
// depend on it.
func (f *fan) part(v uint32, dead, opp []uint32) ([]uint32, []uint32) {
	n := len(f.c)
	if cap(dead) < n {
		dead, opp = make([]uint32, 2*n), make([]uint32, 2*n)
	}
	dead, opp = dead[:n], opp[:n]
	c, a, b := f.c, f.a[:n], f.b[:n]
	in, out := 0, 0
	for i := range c {
		ci, ai, bi := c[i], a[i], b[i]
		dead[in], opp[in] = ci, ai^bi^v
		c[out], a[out], b[out] = ci, ai, bi
		step := 0
		if uint64(ai^v)*uint64(bi^v) == 0 { // one of them is v
			step = 1
		}
		in += step
		out += 1 - step
	}
	f.c, f.a, f.b = c[:out], a[:out], b[:out]
	return dead[:in], opp[:in]
}

// count returns how many of some numbers are x, and the place of the last one.
func count(list []uint32, x uint32) (n, last int) {
	for i, y := range list {
		step := 0
		if x == y {
			step, last = 1, i
		}
		n += step
	}
	return n, last
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

// wedgesOf appends the distinct wedges of a ring.
func (s *Simplifier) wedgesOf(ring, buf []uint32) []uint32 {
	buf = buf[:0]
	last := none
	for _, c := range ring {
		w := s.cw[c]
		if w == last {
			continue
		}
		last = w
		if len(buf) > 64 || !slices.Contains(buf, w) {
			buf = append(buf, w)
		}
	}
	if len(buf) > 64 {
		slices.Sort(buf)
		buf = slices.Compact(buf)
	}
	return buf
}
