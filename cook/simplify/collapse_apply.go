package simplify

// collapse moves u to the candidate's point and merges v into it. What legal
// leaves there, and the members if there are several wedges, must be in scratch.
func (s *Simplifier) collapse(u, v uint32, c *candidate) {
	x := &s.scratch
	nu, nv := &s.vertices[u], &s.vertices[v]
	pu := fromF32(&nu.pos)
	at := c.at
	off := at.sub(fromF32(&nv.pos).sub(pu))
	flags := nu.flags | nv.flags

	s.geo[u].take(&s.geo[v], at, off)
	nu.sum.take(&nv.sum, at, off)
	s.kill(x.atU.list())
	if flags&flagMulti == 0 {
		x.members = append(x.members[:0], member{w: nu.wedge, count: 2, last: 1}, member{w: nv.wedge, side: 1})
	}
	groups := 0
	for i := range x.members {
		if i := int32(i); x.members[i].group == i {
			groups++
			nu.wedge = s.mergeWedges(i, u, at, off, nu.flags, nv.flags)
		}
	}
	nu.pos = pu.add(at).f32()
	s.rename(x, u)
	nv.first = none
	nu.flags = flags&^flagMulti | flagMoved
	if flags&flagLocked != 0 {
		nu.flags &^= flagMoved // it lies where the locked one was
		if nv.flags&flagLocked != 0 {
			s.fixed[u] = s.fixed[v]
		}
	}
	if groups > 1 {
		nu.flags |= flagMulti
	}
}

// kill removes the triangles of some corners.
func (s *Simplifier) kill(dead []ray) {
	for i := range dead {
		s.drop(dead[i].c - dead[i].c%3)
	}
	s.triangles -= len(dead)
}

// drop takes the triangle out that begins at a corner. Rings may still have its
// corners.
func (s *Simplifier) drop(t uint32) {
	if s.given != nil {
		s.given[s.ofTriangle[t/3]].corners -= 3
	}
	s.cornerWedge[t], s.cornerWedge[t+1], s.cornerWedge[t+2] = none, none, none
	s.cost[t], s.cost[t+1], s.cost[t+2] = never, never, never
}

// rename makes the corners around both ends the ring of u, and gives them the
// wedges that took over theirs.
func (s *surface) rename(x *scratch, u uint32) {
	around := x.around.list()
	if len(around) == 0 {
		s.vertices[u].first = none
		return
	}
	cornerWedge, wedgeVertex, next := s.cornerWedge, s.wedgeVertex, s.next
	last := around[len(around)-1].c
	for i := range around {
		c := around[i].c
		next[last] = c
		last = c
		w := cornerWedge[c]
		merged := wedgeVertex[w]
		take := uint32(int32(merged) >> 31) // all bits, if it is marked by gone
		cornerWedge[c] = w&^take | merged&^gone&take
	}
	// A ring begins behind what its vertex calls the first.
	if x.fromV > 0 {
		last = around[x.fromV-1].c
	}
	s.vertices[u].first = last
}

// dropRepeats removes triangles at u that have the same corners, in the same
// sense, as another one there, which takes over their keys: an edge may have its
// only one there. Only collapses that fold the surface make such.
func (s *Simplifier) dropRepeats(u uint32) {
	x := &s.scratch
	x.ringU = s.ring(u, x.ringU)
	for i, c := range x.ringU {
		n1, n2 := corners(c)
		for _, d := range x.ringU[:i] {
			if s.cornerWedge[d] == none {
				continue
			}
			m1, m2 := corners(d)
			if s.at(m1) == s.at(n1) && s.at(m2) == s.at(n2) {
				for _, k := range [3][2]uint32{{d, c}, {m1, n1}, {m2, n2}} {
					s.setKey(k[0], min(s.cost[k[0]], s.cost[k[1]]))
				}
				s.drop(c - c%3)
				s.triangles--
				break
			}
		}
	}
}
