package simplify

// mergeWedges joins the wedges of a group of scratch.members, of which i is the
// first, into one of u, with the attributes that are best at the new vertex: at
// relative to u, off relative to v. What that costs is added to u's quadric.
func (s *Simplifier) mergeWedges(i int32, u uint32, at, off vec, fu, fv uint32) uint32 {
	ms := s.scratch.members
	locked := (fu|fv)&flagLocked != 0
	switch a, b := ms[i].w, ms[ms[i].last].w; {
	case locked:
	case ms[i].count == 1: // it only moves
		if ms[i].side == 1 {
			at = off
		}
		x, y, z := float32(at.x), float32(at.y), float32(at.z)
		for q := s.record(a)[1:s.stride]; len(q) >= 3; q = q[3:] {
			gx, gy, gz := slope(q[1], q[2])
			q[0] += float32(gx*x) + float32(gy*y) + float32(gz*z)
		}
		s.wedgeVertex[a] = u
		return a
	case ms[i].count == 2 && ms[i].side != ms[ms[i].last].side && s.mergePair(a, b, &s.vertices[u].sum, &s.scratch.gaps, at, off):
		s.wedgeVertex[a], s.wedgeVertex[b] = u, gone|a
		return a
	}
	keep, fixed := int(i), false
	if locked {
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
	var sum quadric
	area, shares := 0.0, s.scratch.shares[:0]
	for j := range ms {
		if ms[j].group != i {
			continue
		}
		added, b := float64(s.record(ms[j].w)[0]), share{}
		if added > 0 {
			b.part = added / (area + added)
			b.weight = float64(float64(area*b.part) * s.gain)
			area += added
		}
		shares = append(shares, b)
	}
	s.scratch.shares = shares
	q := s.record(ms[keep].w)
	for k := 0; k < s.attributeCount && area > 0; k++ {
		// The mean of the members' functions at the new position.
		own, value := q[1+3*k], 0.0
		var mean vec
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
			r := (*[3]float32)(s.record(m.w)[1+3*k:])
			g := slopeIn(r)
			e := float64(r[0]) + g.dot(o) - value
			g = g.sub(mean)
			b := &shares[next]
			next++
			if b.weight > 0 {
				sum.addSquare(g, e, b.weight)
			}
			value += float64(e * b.part)
			mean = mean.add(g.scale(b.part))
		}
		if fixed {
			e := value - float64(own)
			sum.c += float64(float64(float64(area*s.gain)*e) * e)
			value = float64(own)
		}
		q[1+3*k] = float32(value)
		setSlope((*[3]float32)(q[1+3*k:]), mean)
	}
	q[0] = float32(area)
	s.vertices[u].sum.add(&sum)
	for j := range ms {
		if ms[j].group != i {
			continue
		}
		if j == keep {
			s.wedgeVertex[ms[j].w] = u
		} else {
			s.wedgeVertex[ms[j].w] = gone | ms[keep].w
		}
	}
	return ms[keep].w
}

// mergePair joins what most groups are: a wedge of each vertex, with
// an area. Others it leaves as they are.
func (mt *metric) mergePair(wu, wedgeVertex uint32, sum *quadric32, gaps *[maxAttributes]gap, at, off vec) bool {
	u, v := mt.record(wu), mt.record(wedgeVertex)
	areaU, areaV := float64(u[0]), float64(v[0])
	if !(areaU > 0 && areaV > 0) {
		return false
	}
	area := areaU + areaV
	part := areaV / area
	u[0] = float32(area)
	ux, uy, uz := float32(at.x), float32(at.y), float32(at.z)
	vx, vy, vz := float32(off.x), float32(off.y), float32(off.z)
	p := float32(part)
	end := min(uint(mt.stride), uint(len(u)-2))
	n := uint(0)
	for k := uint(1); k < end && n < maxAttributes; k += 3 {
		a1, a2, a3 := slope(u[k+1], u[k+2])
		b1, b2, b3 := slope(v[k+1], v[k+2])
		// The mean of both functions at the new position.
		e := u[k] + (float32(a1*ux) + float32(a2*uy) + float32(a3*uz))
		f := v[k] + (float32(b1*vx) + float32(b2*vy) + float32(b3*vz)) - e
		b1, b2, b3 = b1-a1, b2-a2, b3-a3
		gaps[n] = gap{b1, b2, b3, f}
		u[k] = e + float32(f*p)
		u[k+1], u[k+2] = slopeOf(a1+float32(b1*p), a2+float32(b2*p), a3+float32(b3*p))
		n++
	}
	sum.addGaps(gaps[:n], float32(float64(areaU*part)*mt.gain))
	return true
}

// gap is the difference of two linear functions: x x + y y + z z + c.
type gap struct{ x, y, z, c float32 }

// addGaps adds the squares of differences, times w.
func (q *quadric32) addGaps(gaps []gap, w float32) {
	// Two loops, as ten sums are more than there are registers for.
	var xx, xy, xz, bx, c float32
	for i := range gaps {
		g := &gaps[i]
		x := g.x
		xx += float32(x * x)
		xy += float32(x * g.y)
		xz += float32(x * g.z)
		bx += float32(x * g.c)
		c += float32(g.c * g.c)
	}
	var yy, yz, by, zz, bz float32
	for i := range gaps {
		g := &gaps[i]
		y, z := g.y, g.z
		yy += float32(y * y)
		yz += float32(y * z)
		by += float32(y * g.c)
		zz += float32(z * z)
		bz += float32(z * g.c)
	}
	q.axx += float32(xx * w)
	q.ayy += float32(yy * w)
	q.azz += float32(zz * w)
	q.axy += float32(xy * w)
	q.axz += float32(xz * w)
	q.ayz += float32(yz * w)
	q.bx += float32(bx * w)
	q.by += float32(by * w)
	q.bz += float32(bz * w)
	q.c += float32(c * w)
}

// share is the part that a member has in the mean of those up to it, and the
// weight of the square of its distance from the mean before.
type share struct{ part, weight float64 }
