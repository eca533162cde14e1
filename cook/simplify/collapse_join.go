package simplify

// member is a wedge that takes part in a collapse: of u or of v.
type member struct {
	w     uint32
	group int32 // members with the same number, that of the first, become one wedge
	side  int32 // 0 for u, 1 for v
	// Of the first member of a group:
	count int32 // members
	last  int32 // number of the last
}

// join adds to a candidate what seek leaves out: what it costs that wedges of u
// and v get the same attributes, and a little for the edge's length. If there
// are several wedges, pairWedges must have been called.
func (s *Simplifier) join(u, v uint32, c *candidate) {
	nu, nv := &s.vertices[u], &s.vertices[v]
	d := fromF32(&nv.pos).sub(fromF32(&nu.pos))
	off := c.at.sub(d)
	cost := 0.0
	switch {
	case (nu.flags|nv.flags)&flagMulti != 0:
		c.area, cost = s.joinMembers(s.scratch.members, c.at, off)
	case nu.wedge != none && nv.wedge != none:
		c.area, cost = s.joinPair(nu.wedge, nv.wedge, c.at, off)
	}
	c.cost = bounded(c.cost + cost + float64(float64(c.area*shapeWeight)*d.length2()))
}

// shapeWeight is a small price for long edges, which orders collapses where
// everything is flat.
const shapeWeight = 1e-6

// joinPair returns the area around two wedges and what it costs that both get
// the same attributes at a point, which is given relative to each one's vertex.
// Only squares are added up: single precision does.
func (mt *metric) joinPair(wu, wedgeVertex uint32, at, off vec) (area, cost float64) {
	u, v := mt.record(wu), mt.record(wedgeVertex)
	areaU, areaV := float64(u[0]), float64(v[0])
	area = areaU + areaV
	if !(areaU > 0 && areaV > 0) {
		return area, 0
	}
	ux, uy, uz := float32(at.x), float32(at.y), float32(at.z)
	vx, vy, vz := float32(off.x), float32(off.y), float32(off.z)
	w := float64(mt.gain*float64(areaU*areaV)) / area
	var sum float32
	end := min(uint(mt.stride), uint(len(u)-2))
	for k := uint(1); k < end; k += 3 {
		a1, a2, a3 := slope(u[k+1], u[k+2])
		b1, b2, b3 := slope(v[k+1], v[k+2])
		e := (v[k] - u[k]) + (float32(b1*vx) - float32(a1*ux)) +
			((float32(b2*vy) - float32(a2*uy)) + (float32(b3*vz) - float32(a3*uz)))
		sum += float32(e * e)
	}
	return area, float64(float64(sum) * w)
}

// pairWedges finds which wedges of u and v become one: those that share a
// triangle on the edge. The rest stay wedges of their own. split must have been
// called.
func (s *Simplifier) pairWedges(v uint32, c *candidate) {
	x := &s.scratch
	x.wedU = s.wedgesOf(x.wedU[:0], x.atU.list(), x.aroundU())
	x.wedV = s.wedgesOf(x.wedV[:0], x.atV.list(), x.aroundV())
	x.members = x.members[:0]
	for i, w := range x.wedU {
		x.members = append(x.members, member{w: w, group: int32(i)})
	}
	for i, w := range x.wedV {
		x.members = append(x.members, member{w: w, group: int32(len(x.wedU) + i), side: 1})
	}
	ms := x.members
	for _, e := range x.atU.list() {
		cv, n2 := corners(e.c)
		if e.a != v {
			cv = n2
		}
		a := ms[indexOf(x.wedU, s.cornerWedge[e.c])].group
		b := ms[len(x.wedU)+indexOf(x.wedV, s.cornerWedge[cv])].group
		if a == b {
			continue
		}
		// A group of more than one of each side joins sides of a seam.
		var sides [2]int
		for k := range ms {
			m := &ms[k]
			in, g := one(m.group == a)|one(m.group == b), m.group
			if in != 0 {
				g = min(a, b)
			}
			m.group = g
			sides[m.side&1] += in
		}
		c.loose = c.loose || max(sides[0], sides[1]) > 1
	}
	x.countMembers()
}

// countMembers sets what the first members of groups know of them.
func (x *scratch) countMembers() {
	for k := range x.members {
		first := &x.members[x.members[k].group]
		first.count++
		first.last = int32(k)
	}
}

// indexOf returns where a wedge is in a list that has it.
func indexOf(list []uint32, w uint32) int {
	at := 0
	for i, x := range list {
		if x == w {
			at = i
		}
	}
	return at
}

// joinMembers is joinPair for any number of wedges: members of the same group
// become one.
func (mt *metric) joinMembers(ms []member, at, off vec) (area, cost float64) {
	for i := range ms {
		if int(ms[i].group) != i {
			continue // not the first of its group
		}
		count, last := ms[i].count, ms[i].last
		a, c := 0.0, 0.0
		switch {
		case count == 1:
			a = float64(mt.record(ms[i].w)[0])
		case count == 2 && ms[i].side == 0 && ms[last].side == 1:
			a, c = mt.joinPair(ms[i].w, ms[last].w, at, off)
		default:
			a, c = mt.joinGroup(ms, i, at, off)
		}
		area += a
		cost += c
	}
	return area, cost
}

// joinGroup is joinPair for the members of a group, of which i is the first.
// One after the other joins the mean of those before.
func (mt *metric) joinGroup(ms []member, i int, at, off vec) (area, cost float64) {
	var mean [maxAttributes]float64
	for j := i; j < len(ms); j++ {
		if int(ms[j].group) != i {
			continue
		}
		q := mt.record(ms[j].w)
		added := float64(q[0])
		if !(added > 0) {
			continue
		}
		o := at
		if ms[j].side == 1 {
			o = off
		}
		w := float64(mt.gain*float64(area*added)) / (area + added)
		part := added / (area + added)
		area += added
		for k := range mt.attributeCount {
			r := (*[3]float32)(q[1+3*k:])
			e := float64(r[0]) + slopeIn(r).dot(o) - mean[k]
			cost += float64(float64(w*e) * e)
			mean[k] += float64(e * part)
		}
	}
	return area, cost
}
