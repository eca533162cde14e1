package simplify

// collapse moves u to the candidate's point and merges v into it. What legal
// leaves there, and the members if there are several wedges, must be in scratch.
func (s *Simplifier) collapse(u, v uint32, c *candidate) {
	x := &s.scratch
	nu, nv := &s.nodes[u], &s.nodes[v]
	pu := fromF32(&nu.pos)
	at := c.at
	off := at.sub(fromF32(&nv.pos).sub(pu))
	flags := nu.flags | nv.flags

	s.geo[u].take(&s.geo[v], at, off)
	nu.sum.take(&nv.sum, at, off)
	s.kill(x.atU.list())
	if flags&flagMulti == 0 {
		x.members = append(x.members[:0], member{w: nu.wedge}, member{w: nv.wedge, side: 1})
	}
	groups := 0
	for i := range x.members {
		if i := int32(i); x.members[i].group == i {
			groups++
			nu.wedge = s.unite(i, u, at, off, nu.flags, nv.flags)
		}
	}
	nu.pos = pu.add(at).f32()
	s.rename(x.u.list())
	s.rename(x.v.list())
	s.next[nu.first], s.next[nv.first] = s.next[nv.first], s.next[nu.first]
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
		t := dead[i].c - dead[i].c%3
		s.cw[t], s.cw[t+1], s.cw[t+2] = none, none, none
		s.cost[t], s.cost[t+1], s.cost[t+2] = never, never, never
	}
	s.triangles -= len(dead)
}

// rename gives living corners the wedges that took over theirs.
func (s *Simplifier) rename(around []ray) {
	for i := range around {
		c := around[i].c
		if w := s.cw[c]; w != none && s.wv[w]&gone != 0 {
			s.cw[c] = s.wv[w] &^ gone
		}
	}
}

// dropRepeats removes triangles at u that have the same corners, in the same
// sense, as another one there. Only collapses that fold the surface make such.
func (s *Simplifier) dropRepeats(u uint32) {
	x := &s.scratch
	x.ringU = s.ring(u, x.ringU)
	for i, c := range x.ringU {
		n1, n2 := corners(c)
		for _, d := range x.ringU[:i] {
			if s.cw[d] == none {
				continue
			}
			m1, m2 := corners(d)
			if s.at(m1) == s.at(n1) && s.at(m2) == s.at(n2) {
				t := c - c%3
				s.cw[t], s.cw[t+1], s.cw[t+2] = none, none, none
				s.cost[t], s.cost[t+1], s.cost[t+2] = never, never, never
				s.triangles--
				break
			}
		}
	}
}
