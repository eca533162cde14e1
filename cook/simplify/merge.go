package simplify

// unite joins the wedges of a group of scratch.members, of which i is the first,
// into one of u, with the attributes that are best at the new place: at relative
// to u, off relative to v. What that costs is added to u's quadric.
func (s *Simplifier) unite(i int32, u uint32, at, off vec, fu, fv uint32) uint32 {
	ms := s.scratch.members
	count, last := ms[i].count, ms[i].last
	switch a, b := ms[i].w, ms[last].w; {
	case (fu|fv)&flagLocked != 0:
	case count == 1:
		if ms[i].side == 1 {
			at = off
		}
		s.mergeOne(a, at)
		s.wv[a] = u
		return a
	case count == 2 && ms[i].side != ms[last].side && s.mergePair(a, b, &s.nodes[u].sum, at, off):
		s.wv[a], s.wv[b] = u, gone|a
		return a
	}
	return s.mergeGroup(i, u, at, off, fu, fv)
}

// mergeOne moves a wedge.
func (s *Simplifier) mergeOne(w uint32, at vec) {
	x, y, z := float32(at.x), float32(at.y), float32(at.z)
	for q := s.wq[int(w)*s.stride:][:s.stride][1:]; len(q) >= 4; q = q[4:] {
		q[0] += float32(q[1]*x) + float32(q[2]*y) + float32(q[3]*z)
	}
}

// mergePair is mergeGroup for what most groups are: a wedge of each place, with
// an area. Others it leaves as they are.
func (s *Simplifier) mergePair(wu, wv uint32, sum *quad, at, off vec) bool {
	qu := s.wq[int(wu)*s.stride:][:s.stride]
	qv := s.wq[int(wv)*s.stride:][:s.stride]
	areaU, areaV := float64(qu[0]), float64(qv[0])
	if !(areaU > 0 && areaV > 0) {
		return false
	}
	area := areaU + areaV
	part := areaV / area
	qu[0] = float32(area)
	var xx, yy, zz, xy, xz, yz, bx, by, bz, c float32
	ux, uy, uz := float32(at.x), float32(at.y), float32(at.z)
	vx, vy, vz := float32(off.x), float32(off.y), float32(off.z)
	p := float32(part)
	for qu, qv = qu[1:], qv[1:]; len(qu) >= 4 && len(qv) >= 4; qu, qv = qu[4:], qv[4:] {
		a, b := (*[4]float32)(qu), (*[4]float32)(qv)
		a1, a2, a3 := a[1], a[2], a[3]
		b1, b2, b3 := b[1], b[2], b[3]
		// The mean of both functions at the new place.
		e := a[0] + (float32(a1*ux) + float32(a2*uy) + float32(a3*uz))
		f := b[0] + (float32(b1*vx) + float32(b2*vy) + float32(b3*vz)) - e
		b1, b2, b3 = b1-a1, b2-a2, b3-a3
		a[0], a[1], a[2], a[3] = e+float32(f*p), a1+float32(b1*p), a2+float32(b2*p), a3+float32(b3*p)
		xx += float32(b1 * b1)
		xy += float32(b1 * b2)
		xz += float32(b1 * b3)
		yy += float32(b2 * b2)
		yz += float32(b2 * b3)
		zz += float32(b3 * b3)
		bx += float32(b1 * f)
		by += float32(b2 * f)
		bz += float32(b3 * f)
		c += float32(f * f)
	}
	w := float32(areaU * part)
	sum.axx += float32(xx * w)
	sum.ayy += float32(yy * w)
	sum.azz += float32(zz * w)
	sum.axy += float32(xy * w)
	sum.axz += float32(xz * w)
	sum.ayz += float32(yz * w)
	sum.bx += float32(bx * w)
	sum.by += float32(by * w)
	sum.bz += float32(bz * w)
	sum.c += float32(c * w)
	return true
}

// share is the part that a member has in the mean of those up to it, and the
// weight of the square of its distance from the mean before.
type share struct{ part, weight float64 }

// mergeGroup is unite for any group.
func (s *Simplifier) mergeGroup(i int32, u uint32, at, off vec, fu, fv uint32) uint32 {
	ms := s.scratch.members
	keep := int(i)
	fixed := false
	if (fu|fv)&flagLocked != 0 {
		// Attributes of the locked side stay: the first one takes over what comes,
		// and others of that side stay on their own.
		side := int32(0)
		if fv&flagLocked != 0 {
			side = 1
		}
		for j := range ms {
			if ms[j].group != i || ms[j].side != side {
				continue
			}
			if fixed {
				ms[j].group = int32(j)
			} else {
				keep, fixed = j, true
			}
		}
	}
	var sum form
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
	s.nodes[u].sum.add(&sum)
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
