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

	geo := s.geo[u].merged(&s.geo[v], at, off)
	s.geo[u] = geo.quad()
	s.kill(x.dead)
	if flags&flagMulti == 0 {
		x.members = append(x.members[:0], member{w: nu.wedge}, member{w: nv.wedge, side: 1})
	}
	sum := nu.sum.merged(&nv.sum, at, off)
	groups := 0
	for i := range x.members {
		if i := int32(i); x.members[i].group == i {
			groups++
			nu.wedge = s.mergeGroup(i, u, &sum, at, off, nu.flags, nv.flags)
		}
	}
	nu.sum = sum.quad()
	nu.pos = pu.add(at).f32()
	s.rename(x.u.c)
	s.rename(x.v.c)
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

// kill removes the triangles of some corners.
func (s *Simplifier) kill(dead []uint32) {
	for _, c := range dead {
		t := c - c%3
		s.cw[t], s.cw[t+1], s.cw[t+2] = none, none, none
		s.cost[t], s.cost[t+1], s.cost[t+2] = never, never, never
	}
	s.triangles -= len(dead)
}

// rename gives living corners the wedges that took over theirs.
func (s *Simplifier) rename(ring []uint32) {
	for _, c := range ring {
		if w := s.cw[c]; w != none && s.wv[w]&gone != 0 {
			s.cw[c] = s.wv[w] &^ gone
		}
	}
}

// share is the part that a member has in the mean of those up to it, and the
// weight of the square of its distance from the mean before.
type share struct{ part, weight float64 }

// mergeGroup joins the wedges of one group into the first, with the attributes
// that are best at the new place. What that costs is added to sum.
func (s *Simplifier) mergeGroup(i int32, u uint32, sum *form, at, off vec, fu, fv uint32) uint32 {
	ms := s.scratch.members
	keep := int(i)
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
	area, shares := 0.0, s.scratch.shares[:0]
	for j := range ms {
		if ms[j].group != i {
			continue
		}
		added, b := float64(s.wq[int(ms[j].w)*s.stride]), share{}
		if added > 0 {
			b.part = added / (area + added)
			b.weight = float64(area * b.part)
			area += added
		}
		shares = append(shares, b)
	}
	s.scratch.shares = shares
	q := s.wq[int(ms[keep].w)*s.stride : int(ms[keep].w+1)*s.stride]
	for k := 0; k < s.k && area > 0; k++ {
		// The mean of the members' functions at the new place.
		own, value := q[1+4*k], 0.0
		var slope vec
		next := 0
		for j := range ms {
			m := &ms[j]
			if m.group != i {
				continue
			}
			o := at
			if m.side == 1 {
				o = off
			}
			r := s.wq[int(m.w)*s.stride+1+4*k:][:4]
			g := vec{float64(r[1]), float64(r[2]), float64(r[3])}
			e := float64(r[0]) + g.dot(o) - value
			g = g.sub(slope)
			b := &shares[next]
			next++
			if b.weight > 0 {
				sum.addSquare(g, e, b.weight)
			}
			value += float64(e * b.part)
			slope = slope.add(g.scale(b.part))
		}
		if fixed {
			e := value - float64(own)
			sum.c += float64(float64(area*e) * e)
			value = float64(own)
		}
		q[1+4*k] = float32(value)
		q[2+4*k], q[3+4*k], q[4+4*k] = float32(slope.x), float32(slope.y), float32(slope.z)
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
