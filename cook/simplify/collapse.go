package simplify

// collapse moves u to the candidate's point and merges v into it. The rings,
// and the members if there are several wedges, must be in scratch.
func (s *Simplifier) collapse(u, v uint32, c *candidate) {
	x := &s.scratch
	nu, nv := &s.nodes[u], &s.nodes[v]
	pu := fromF32(&nu.pos)
	at := c.at
	off := at.sub(fromF32(&nv.pos).sub(pu))
	flags := nu.flags | nv.flags

	geo := s.geo[u].merged(&s.geo[v], at, off)
	s.geo[u] = geo.quad()
	s.killEdge(x.ringU, v)
	if flags&flagMulti == 0 {
		x.members = append(x.members[:0], member{nu.wedge, 0, 0}, member{nv.wedge, 1, 0})
	}
	sum := nu.sum.merged(&nv.sum, at, off)
	groups := 0
	for i := range x.members {
		if x.members[i].group == i {
			groups++
			nu.wedge = s.mergeGroup(i, u, &sum, at, off, nu.flags, nv.flags)
		}
	}
	nu.sum = sum.quad()
	nu.pos = pu.add(at).f32()
	s.rename(x.ringU)
	s.rename(x.ringV)
	s.next[nu.first], s.next[nv.first] = s.next[nv.first], s.next[nu.first]
	nv.first = none
	nu.flags = flags&^flagMulti | flagMoved
	if flags&flagLocked != 0 {
		nu.flags &^= flagMoved // it lies where the locked one was
	}
	if groups > 1 {
		nu.flags |= flagMulti
	}
}

// merged returns the sum of two quadrics of which one is relative to a point
// at -at and the other to one at -off.
func (q *quad) merged(o *quad, at, off vec) form {
	f, g := q.form(), o.form()
	f.recentre(at)
	g.recentre(off)
	f.add(&g)
	return f
}

// killEdge removes the triangles of a ring that have a corner at v.
func (s *Simplifier) killEdge(ring []uint32, v uint32) {
	dead := s.scratch.dead[:0]
	for _, c := range ring {
		if n1, n2 := corners(c); s.at(n1) == v || s.at(n2) == v {
			dead = append(dead, c-c%3)
		}
	}
	for _, t := range dead {
		s.cw[t], s.cw[t+1], s.cw[t+2] = none, none, none
		s.cost[t], s.cost[t+1], s.cost[t+2] = never, never, never
	}
	s.triangles -= len(dead)
	s.scratch.dead = dead
}

// rename gives living corners the wedges that took over theirs.
func (s *Simplifier) rename(ring []uint32) {
	for _, c := range ring {
		if w := s.cw[c]; w != none && s.wv[w]&gone != 0 {
			s.cw[c] = s.wv[w] &^ gone
		}
	}
}

// mergeGroup joins the wedges of one group into the first: sums of areas and
// gradients, attributes at the new place. sum collects what the change of the
// attributes adds to the place's quadric.
func (s *Simplifier) mergeGroup(i int, u uint32, sum *form, at, off vec, fu, fv uint32) uint32 {
	ms := s.scratch.members
	keep := i
	fixed := false
	if (fu|fv)&flagLocked != 0 {
		// Attributes of the locked side stay.
		side := uint8(0)
		if fv&flagLocked != 0 {
			side = 1
		}
		for j := range ms {
			if ms[j].group == i && ms[j].side == side {
				keep, fixed = j, true
				break
			}
		}
	}
	area := 0.0
	for j := range ms {
		if ms[j].group == i {
			area += float64(s.wq[int(ms[j].w)*s.stride])
		}
	}
	q := s.wq[int(ms[keep].w)*s.stride : int(ms[keep].w+1)*s.stride]
	for k := range s.k {
		ref := float64(q[1+4*k])
		// The best attribute at the new place: see attribute.go.
		t := 0.0
		var gs vec
		for j := range ms {
			if ms[j].group != i {
				continue
			}
			r := s.wq[int(ms[j].w)*s.stride:]
			g := vec{float64(r[2+4*k]), float64(r[3+4*k]), float64(r[4+4*k])}
			o := at
			if ms[j].side == 1 {
				o = off
			}
			t += float64(float64(r[0])*(float64(r[1+4*k])-ref)) + g.dot(o)
			gs = gs.add(g)
		}
		if area > 0 && !fixed {
			t /= area
		} else {
			t = 0
		}
		value := ref + t
		for j := range ms {
			if ms[j].group != i {
				continue
			}
			r := s.wq[int(ms[j].w)*s.stride:]
			g := vec{float64(r[2+4*k]), float64(r[3+4*k]), float64(r[4+4*k])}
			o := at
			if ms[j].side == 1 {
				o = off
			}
			delta := float64(r[1+4*k]) - value
			sum.b = sum.b.add(g.scale(delta))
			sum.c += float64(delta * (float64(float64(r[0])*delta) + float64(2*g.dot(o))))
		}
		q[1+4*k] = float32(value)
		q[2+4*k], q[3+4*k], q[4+4*k] = float32(gs.x), float32(gs.y), float32(gs.z)
	}
	q[0] = float32(area)
	for j := range ms {
		if ms[j].group != i {
			continue
		}
		if j == keep {
			s.wv[ms[j].w] = u
		} else {
			s.wv[ms[j].w] = gone | ms[keep].w
		}
	}
	return ms[keep].w
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
