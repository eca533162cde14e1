package simplify

// Normals follow samples of the source as vertices do, see fit_positions.go. What samples
// ask for is summed per corner of the mesh: d, how far normals between corners are
// off, each weighted by its barycentric coordinate there. From these sums it
// follows what remains of them when normals turn, if samples are taken to spread
// over a triangle as barycentric coordinates drawn from a Dirichlet distribution
// with their means; so normals turn a few times without another look at any
// sample.
const (
	turnRounds = 3
	turnStep   = 1.5
	// turnSpread is what part of a corner's weight does not depend on where the
	// others are: 1/4 if samples were spread evenly, none if there was one.
	turnSpread = 0.17
	// turnSoft is the deviation, in radians, from which on samples count for less.
	turnSoft = 0.07
	// turnLeast is the least weight that counts: its inverse is a number.
	turnLeast = 1e-37
)

// normalSum returns the sum of the normals at three vertices.
func (x *fitter) normalSum(v *[3]uint32) vec32 {
	m := x.s.in.Normals
	a, b, c := &m[v[0]], &m[v[1]], &m[v[2]]
	return vec32{a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2]}
}

// sampleNormal returns the normal of a sample near a vertex of a triangle with
// that sum of normals, in internal units.
func (x *fitter) sampleNormal(sum vec32, v uint32) vec32 {
	n := &x.s.in.Normals[v]
	return vec32{n[0], n[1], n[2]}.scale(3).add(sum).scale(x.unit / 6)
}

// pullNormals draws the normals of the triangle that a sample fell on towards
// the sample's. A sample that is far off, or not a number, belongs to the other
// side of an edge.
func (x *fitter) pullNormals(h *hit, area float32, n vec32) {
	s := x.s
	c0 := h.c
	c1, c2 := corners(c0)
	u, v := h.u, h.v
	w := 1 - u - v
	n = n.sub(s.normal(s.cornerWedge[c0]).scale(w)).sub(s.normal(s.cornerWedge[c1]).scale(u)).sub(s.normal(s.cornerWedge[c2]).scale(v))
	d2 := n.length2()
	if !(d2 < float32(x.unit*x.unit)) {
		return
	}
	t := c0 / 3
	t = x.sums.start(t) - 3*t
	c0, c1, c2 = c0+t, c1+t, c2+t
	xy := x.sums.xy
	zw := x.sums.zw[:len(xy)]
	a, b, c := unpack(xy[c0], zw[c0]), unpack(xy[c1], zw[c1]), unpack(xy[c2], zw[c2])
	// So weighted, sums get close to what makes the mean angle least, not the
	// mean of squares. What the triangle's samples ask for in common does not
	// count as deviation.
	soft := float32(turnSoft * x.unit)
	area = float32(area * x.unit)
	all := a.w + b.w + c.w + area/(sqrt32(d2)+soft)
	if !(all > turnLeast) {
		return
	}
	rest := n.sub(vec32{a.x + b.x + c.x, a.y + b.y + c.y, a.z + b.z + c.z}.scale(1 / all))
	area /= sqrt32(rest.length2()) + soft
	n = n.scale(area)
	xy[c0], zw[c0] = a.more(n, w, area)
	xy[c1], zw[c1] = b.more(n, u, area)
	xy[c2], zw[c2] = c.more(n, v, area)
}

// more adds a part of d, which has this weight, and packs the sum.
func (p pull) more(d vec32, part, weight float32) (xy, zw uint32) {
	return pack(p.x+float32(d.x*part), p.y+float32(d.y*part)), pack(p.z+float32(d.z*part), p.w+float32(weight*part))
}

// normal returns a wedge's normal, in internal units.
func (mt *metric) normal(w uint32) vec32 {
	r := mt.record(w)
	return vec32{r[1], r[4], r[7]}
}

func (mt *metric) setNormal(w uint32, n vec32) {
	r := mt.record(w)
	r[1], r[4], r[7] = n.x, n.y, n.z
}

// turn turns normals to where the sums draw them.
func (x *fitter) turn() {
	k := &x.s.crease
	x.pulls = x.pulls[:x.normals+k.count()] // of normals now: those of wedges, then second ones
	for i := range turnRounds {
		if i > 0 {
			x.applySteps()
		}
		clear(x.pulls)
		x.gatherPulls()
		x.step(i == 0)
	}
}

// numbers returns the numbers of the normals of a triangle's corners; n is the
// triangle's rank among those that are left.
func (x *fitter) numbers(t, n uint32) (a, b, c uint32) {
	w := (*[3]uint32)(x.s.cornerWedge[3*t:])
	a, b, c = x.wedges.of(w[0]), x.wedges.of(w[1]), x.wedges.of(w[2])
	if k := &x.s.crease; k.away != nil {
		if k.cut(3 * n) {
			a = uint32(x.normals) + k.wedges.of(w[0])
		}
		if k.cut(3*n + 1) {
			b = uint32(x.normals) + k.wedges.of(w[1])
		}
		if k.cut(3*n + 2) {
			c = uint32(x.normals) + k.wedges.of(w[2])
		}
	}
	return a, b, c
}

// gatherPulls adds up, for each normal, the sums of its corners.
func (x *fitter) gatherPulls() {
	xy := x.sums.xy
	zw := x.sums.zw[:len(xy)]
	for n, t := range x.sums.left.all() {
		i := 3 * x.sums.at[n]
		a, b, c := x.numbers(t, n)
		x.pulls[a].join(unpack(xy[i], zw[i]))
		x.pulls[b].join(unpack(xy[i+1], zw[i+1]))
		x.pulls[c].join(unpack(xy[i+2], zw[i+2]))
	}
}

// step turns all normals at once, and leaves their steps in place of the sums.
// At first the normals of wedges that have a crease, from which further levels
// start, turn to where all of their corners draw them.
func (x *fitter) step(first bool) {
	s := x.s
	k := &s.crease
	for n, w := range x.wedges.all() {
		p := &x.pulls[n]
		switch {
		case s.vertices[s.wedgeVertex[w]].flags&flagLocked != 0:
			*p = pull{}
		case k.away != nil && k.wedges.has(w):
			i := int(k.wedges.of(w))
			q := &x.pulls[x.normals+i]
			if first {
				own := *p
				own.join(*q)
				s.turnNormal(w, own.step(turnStep))
			}
			*p, *q = p.step(turnStep), q.step(turnStep)
			a, b := &k.normals[2*i], &k.normals[2*i+1]
			*a, *b = a.add(vec32{p.x, p.y, p.z}), b.add(vec32{q.x, q.y, q.z})
		default:
			*p = p.step(turnStep)
			s.turnNormal(w, *p)
		}
	}
}

// step returns the step of a normal that a sum asks for.
func (p pull) step(f float32) pull {
	if !(p.w > turnLeast) {
		return pull{}
	}
	f /= p.w
	return pull{x: float32(p.x * f), y: float32(p.y * f), z: float32(p.z * f)}
}

// turnNormal adds a step to a wedge's normal.
func (mt *metric) turnNormal(w uint32, p pull) {
	mt.setNormal(w, mt.normal(w).add(vec32{p.x, p.y, p.z}))
}

// applySteps subtracts from the sum of every corner what the steps have achieved.
func (x *fitter) applySteps() {
	xy := x.sums.xy
	zw := x.sums.zw[:len(xy)]
	for n, t := range x.sums.left.all() {
		i := 3 * x.sums.at[n]
		w0, w1, w2 := high(zw[i]), high(zw[i+1]), high(zw[i+2])
		all := w0 + w1 + w2
		if !(all > turnLeast) {
			continue
		}
		a, b, c := x.numbers(t, n)
		p, q, r := &x.pulls[a], &x.pulls[b], &x.pulls[c]
		f := (1 - turnSpread) / all
		f0, f1, f2 := float32(f*w0), float32(f*w1), float32(f*w2)
		mean := vec32{
			float32(p.x*f0) + float32(q.x*f1) + float32(r.x*f2),
			float32(p.y*f0) + float32(q.y*f1) + float32(r.y*f2),
			float32(p.z*f0) + float32(q.z*f1) + float32(r.z*f2),
		}
		xy[i], zw[i] = p.given(mean, w0, xy[i], zw[i])
		xy[i+1], zw[i+1] = q.given(mean, w1, xy[i+1], zw[i+1])
		xy[i+2], zw[i+2] = r.given(mean, w2, xy[i+2], zw[i+2])
	}
}

// given subtracts from a sum of this weight the step of its normal and the mean step
// of its triangle.
func (p *pull) given(mean vec32, w float32, xy, zw uint32) (uint32, uint32) {
	x, y, z := float32(turnSpread*p.x)+mean.x, float32(turnSpread*p.y)+mean.y, float32(turnSpread*p.z)+mean.z
	return pack(low(xy)-float32(x*w), high(xy)-float32(y*w)), packLow(low(zw)-float32(z*w), zw)
}
