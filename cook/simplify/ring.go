package simplify

import "slices"

// scratch holds buffers that are reused.
type scratch struct {
	ringU, ringV []uint32 // corners
	nearU        []uint32 // neighbouring places
	opp          []uint32 // places opposite of the edge
	dead         []uint32 // triangles
	wedU, wedV   []uint32 // wedges
	members      []member
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

// near appends the distinct neighbours that the corners of a ring lead to.
func (s *Simplifier) near(ring, buf []uint32) []uint32 {
	buf = buf[:0]
	for _, c := range ring {
		n1, _ := corners(c)
		buf = append(buf, s.at(n1))
	}
	if len(ring) > 32 {
		for _, c := range ring {
			_, n2 := corners(c)
			buf = append(buf, s.at(n2))
		}
		slices.Sort(buf)
		return slices.Compact(buf)
	}
	n := len(buf)
	if duplicates(buf) { // two sheets, or not manifold
		slices.Sort(buf)
		buf = slices.Compact(buf)
		n = len(buf)
	}
	for _, c := range ring {
		_, n2 := corners(c)
		v := s.at(n2)
		if !slices.Contains(buf[:n], v) && !slices.Contains(buf[n:], v) {
			buf = append(buf, v)
		}
	}
	return buf
}

func duplicates(a []uint32) bool {
	for i, x := range a {
		for _, y := range a[:i] {
			if x == y {
				return true
			}
		}
	}
	return false
}

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
