package simplify

import "math"

// candidate is a possible collapse of u and v.
type candidate struct {
	cost  float64 // geometry and attributes, area times metres squared
	geo   float64 // geometry alone
	area  float64 // around u and v
	at    vec     // the new place, relative to u
	loose bool    // sides of a seam would be joined
}

// member is a wedge that takes part in a collapse: of u or of v.
type member struct {
	w     uint32
	group int32 // members with the same number become one wedge
	side  uint8
}

// price finds the best place for the collapse of u and v, and what it costs.
// Of places with several wedges the fans must be in scratch.
func (s *Simplifier) price(u, v uint32) (c candidate) {
	nu, nv := &s.nodes[u], &s.nodes[v]
	p := fromF32(&nu.pos)
	d := fromF32(&nv.pos).sub(p)
	sum := nu.sum.plus(&nv.sum, d)
	flags := nu.flags | nv.flags
	switch {
	case flags&flagMulti != 0:
		s.pairWedges(u, v, &c)
		s.joinMembers(&sum, d, &c)
	case nu.wedge != none && nv.wedge != none:
		c.area = s.joinPair(&sum, nu.wedge, nv.wedge, d)
	}
	at := vec{}
	switch {
	case flags&flagLocked == 0:
		at = sum.near(d)
	case nv.flags&flagLocked != 0:
		at = d
	}
	s.scratch.sum = sum
	s.place(u, v, at, &c)
	return c
}

// place moves the collapse of u and v to a point relative to u, and finds what
// that costs. The sum of their quadrics must be in scratch.
func (s *Simplifier) place(u, v uint32, at vec, c *candidate) {
	nu, nv := &s.nodes[u], &s.nodes[v]
	p := fromF32(&nu.pos)
	d := fromF32(&nv.pos).sub(p)
	sum := &s.scratch.sum
	// Round as it will be stored.
	c.at.x = float64(float32(p.x+at.x)) - p.x
	c.at.y = float64(float32(p.y+at.y)) - p.y
	c.at.z = float64(float32(p.z+at.z)) - p.z
	// What it adds to the error that is there already decides.
	c.cost = max(sum.at(c.at)-float64(nu.sum.c)-float64(nv.sum.c), 0)
	c.cost += float64(float64(c.area*shapeWeight) * d.length2())
	if !(c.cost < math.MaxFloat32) {
		c.cost = math.MaxFloat32
	}
}

// near returns the point where f is least; if that is far from the edge to d,
// as where planes are nearly parallel, the best of its ends and its middle.
func (f *form) near(d vec) vec {
	middle := d.scale(0.5)
	at := f.least(middle)
	if at.sub(middle).length2() <= float64(reach*reach*d.length2()) {
		return at
	}
	at = middle
	best := f.at(at)
	for _, p := range [2]vec{{}, d} {
		if e := f.at(p); e < best {
			at, best = p, e
		}
	}
	return at
}

// reach is how far from the middle of its edge a new place may lie, in lengths
// of the edge.
const reach = 2

// floor returns a lower bound of the price that needs no wedges: that of
// geometry alone.
func (s *Simplifier) floor(u, v uint32) float64 {
	nu, nv := &s.nodes[u], &s.nodes[v]
	d := fromF32(&nv.pos).sub(fromF32(&nu.pos))
	f := s.geo[u].plus(&s.geo[v], d)
	least := f.at(f.least(d.scale(0.5)))
	// The pull towards the middle of the edge and rounding cost a little.
	return max(float64(0.99*least)-float64(nu.sum.c)-float64(nv.sum.c), 0)
}

// plus returns the sum of two quadrics, the other one's origin being at d.
func (q *quad) plus(o *quad, d vec) form {
	xx, yy, zz := float64(o.axx), float64(o.ayy), float64(o.azz)
	xy, xz, yz := float64(o.axy), float64(o.axz), float64(o.ayz)
	bx, by, bz := float64(o.bx), float64(o.by), float64(o.bz)
	// A d, and from it the other one's b and c here.
	ax := float64(xx*d.x) + float64(xy*d.y) + float64(xz*d.z)
	ay := float64(xy*d.x) + float64(yy*d.y) + float64(yz*d.z)
	az := float64(xz*d.x) + float64(yz*d.y) + float64(zz*d.z)
	return form{
		xx + float64(q.axx), yy + float64(q.ayy), zz + float64(q.azz),
		xy + float64(q.axy), xz + float64(q.axz), yz + float64(q.ayz),
		vec{bx - ax + float64(q.bx), by - ay + float64(q.by), bz - az + float64(q.bz)},
		float64(q.c) + float64(o.c) +
			float64(d.x*(ax-bx-bx)) + float64(d.y*(ay-by-by)) + float64(d.z*(az-bz-bz)),
	}
}

// deviation returns the geometric part of a collapse's cost: the squared
// distance from the source's planes, times area.
func (s *Simplifier) deviation(u, v uint32, at vec) float64 {
	d := s.point(v).sub(s.point(u))
	geo := s.geo[u].form()
	e := geo.at(at)
	geo = s.geo[v].form()
	return max(e+geo.at(at.sub(d)), 0)
}

// shapeWeight is a small price for long edges, which orders collapses where
// everything is flat.
const shapeWeight = 1e-6

// joinPair adds to the sum of two wedges' quadrics what it costs that both get
// the same attributes. It returns the area around both.
func (s *Simplifier) joinPair(sum *form, wu, wv uint32, d vec) float64 {
	qu := s.wq[int(wu)*s.stride : int(wu+1)*s.stride]
	qv := s.wq[int(wv)*s.stride : int(wv+1)*s.stride]
	areaU, areaV := float64(qu[0]), float64(qv[0])
	if !(areaU > 0 && areaV > 0) {
		return areaU + areaV
	}
	// Only squares are added up here: single precision does, and saves
	// conversions. Two loops, as registers do not hold the sums of both.
	qv = qv[:len(qu)]
	var xx, yy, zz, xy, xz, yz float32
	for i := 4; i < len(qu); i += 4 {
		mx, my, mz := qv[i-2]-qu[i-2], qv[i-1]-qu[i-1], qv[i]-qu[i]
		xx += float32(mx * mx)
		xy += float32(mx * my)
		xz += float32(mx * mz)
		yy += float32(my * my)
		yz += float32(my * mz)
		zz += float32(mz * mz)
	}
	dx, dy, dz := float32(d.x), float32(d.y), float32(d.z)
	var bx, by, bz, c float32
	for i := 4; i < len(qu); i += 4 {
		mx, my, mz := qv[i-2], qv[i-1], qv[i]
		e := (qv[i-3] - qu[i-3] - float32(mx*dx)) - (float32(my*dy) + float32(mz*dz))
		bx += float32((mx - qu[i-2]) * e)
		by += float32((my - qu[i-1]) * e)
		bz += float32((mz - qu[i]) * e)
		c += float32(e * e)
	}
	area := areaU + areaV
	w := float64(areaU*areaV) / area
	sum.axx += float64(float64(xx) * w)
	sum.ayy += float64(float64(yy) * w)
	sum.azz += float64(float64(zz) * w)
	sum.axy += float64(float64(xy) * w)
	sum.axz += float64(float64(xz) * w)
	sum.ayz += float64(float64(yz) * w)
	sum.b.x += float64(float64(bx) * w)
	sum.b.y += float64(float64(by) * w)
	sum.b.z += float64(float64(bz) * w)
	sum.c += float64(float64(c) * w)
	return area
}

// pairWedges finds which wedges of u and v become one: those that share a
// triangle on the edge. The rest stay wedges of their own.
func (s *Simplifier) pairWedges(u, v uint32, c *candidate) {
	x := &s.scratch
	x.wedU = s.wedgesOf(x.u.c, x.wedU)
	x.wedV = s.wedgesOf(x.v.c, x.wedV)
	x.members = x.members[:0]
	for i, w := range x.wedU {
		x.members = append(x.members, member{w: w, side: 0, group: int32(i)})
	}
	for i, w := range x.wedV {
		x.members = append(x.members, member{w: w, side: 1, group: int32(len(x.wedU) + i)})
	}
	find := func(w uint32, side uint8) int {
		for i := range x.members {
			if x.members[i].w == w && x.members[i].side == side {
				return i
			}
		}
		return -1
	}
	for i, cu := range x.u.c {
		if x.u.a[i] != v && x.u.b[i] != v {
			continue
		}
		cv, n2 := corners(cu)
		if x.u.a[i] != v {
			cv = n2
		}
		i, j := find(s.cw[cu], 0), find(s.cw[cv], 1)
		a, b := x.members[i].group, x.members[j].group
		if a == b {
			continue
		}
		// A group of more than one of each side joins sides of a seam.
		nu, nv := 0, 0
		for k := range x.members {
			if g := x.members[k].group; g == a || g == b {
				x.members[k].group = min(a, b)
				if x.members[k].side == 0 {
					nu++
				} else {
					nv++
				}
			}
		}
		if nu > 1 || nv > 1 {
			c.loose = true
		}
	}
}

// joinMembers is joinPair for any number of wedges: members of the same group
// become one.
func (s *Simplifier) joinMembers(sum *form, d vec, c *candidate) {
	ms := s.scratch.members
	for i := range ms {
		if int(ms[i].group) != i {
			continue // not the first of its group
		}
		count, last := 0, i
		for j := i; j < len(ms); j++ {
			if int(ms[j].group) == i {
				count++
				last = j
			}
		}
		switch {
		case count == 1:
			c.area += float64(s.wq[int(ms[i].w)*s.stride])
		case count == 2 && ms[i].side == 0 && ms[last].side == 1:
			c.area += s.joinPair(sum, ms[i].w, ms[last].w, d)
		default:
			c.area += s.joinGroup(sum, i, d)
		}
	}
}

// joinGroup is joinPair for the members of a group, of which i is the first.
// One after the other joins the mean of those before.
func (s *Simplifier) joinGroup(sum *form, i int, d vec) float64 {
	ms := s.scratch.members
	var mean [maxAttributes]struct {
		s float64
		m vec
	}
	area := 0.0
	for j := i; j < len(ms); j++ {
		if int(ms[j].group) != i {
			continue
		}
		q := s.wq[int(ms[j].w)*s.stride : int(ms[j].w+1)*s.stride]
		added := float64(q[0])
		if !(added > 0) {
			continue
		}
		w := float64(area*added) / (area + added)
		part := added / (area + added)
		area += added
		for k := range s.k {
			r := q[1+4*k : 5+4*k]
			m := vec{float64(r[1]), float64(r[2]), float64(r[3])}
			e := float64(r[0])
			if ms[j].side == 1 {
				e -= m.dot(d)
			}
			f := &mean[k]
			m, e = m.sub(f.m), e-f.s
			if w > 0 {
				sum.addSquare(m, e, w)
			}
			f.s += float64(e * part)
			f.m = f.m.add(m.scale(part))
		}
	}
	return area
}
