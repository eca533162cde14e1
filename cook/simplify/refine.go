package simplify

import (
	"math"
)

// Collapses leave places where the planes around them fit best. Fitting moves
// them once more, to where the surface between them fits best: samples of the
// source are projected onto the mesh and pull the corners of the triangle that
// they hit, in proportion to their barycentric coordinates. It takes 10 to 20 %
// off the distances. The same is done for normals, twice with the same hits, as
// that is cheap: the second time is worth 1 to 4 % of their deviation. Where they
// pull different ways on different sides of a place, the place gets a second
// normal, see crease.go.
const (
	fitStep    = 1.5 // corners that pull the same way make single steps too short
	fitDensity = 10  // samples per place of the result; more gain little
	fitTurn    = 0.5 // least cosine between a triangle's normals before and after

	measureDensity = 2    // source vertices per place of the result
	measureLeast   = 2000 // source vertices, if there are as many
)

// fitter holds the sums of a pass.
type fitter struct {
	*finder
	places int    // that are left
	left   ranks  // triangles of the source
	wedges ranks  // those that are left
	pulls  []pull // of positions, per wedge that is left
	stride int    // of samples

	// For normals.
	hits  []sampleHit // of samples
	turns []pull      // per living corner, later per normal
	unit  float32
	fan   []uint32
	upTo  [creaseCorners + 1]sums // of a fan's first corners
}

// sampleHit is where a sample fell on the mesh, rounded to what normals need.
type sampleHit struct {
	i    uint32 // number of a corner of the triangle among the living ones
	u, v uint8  // barycentric coordinates of the next two corners, in 255ths
	area uint16 // the first half of the source triangle's double area as a float32, 0 for no hit
}

// pull is a weighted sum of displacements.
type pull struct{ x, y, z, w float32 }

func (p *pull) add(d vec32, w float32) {
	p.x += float32(d.x * w)
	p.y += float32(d.y * w)
	p.z += float32(d.z * w)
	p.w += w
}

func (p *pull) join(q *pull) {
	p.x += q.x
	p.y += q.y
	p.z += q.z
	p.w += q.w
}

// mean returns the step that the sum asks for.
func (p *pull) mean() vec32 { return vec32{p.x, p.y, p.z}.scale(fitStep / p.w) }

// fit improves positions and normals.
func (s *Simplifier) fit(near *finder) {
	x := fitter{finder: near}
	for i := range s.nodes {
		if s.nodes[i].first != none {
			x.places++
		}
	}
	x.plan()
	x.number()
	x.gather()
	x.move()
	if s.in.Normals != nil {
		x.turn()
	}
}

// number numbers what is left, and makes room for sums.
func (x *fitter) number() {
	s := x.s
	s.crease, x.wedges, x.left = s.numberNormals()
	x.pulls = make([]pull, s.crease.wedges)
	if s.in.Normals != nil {
		x.startNormals()
	}
}

// corner returns the number of a living corner among the living ones.
func (x *fitter) corner(c uint32) uint32 { return 3*x.left.of(c/3) + c%3 }

// Samples are taken halfway between a triangle's middle and its corners: unlike
// vertices they know the surface's mean. They are numbered, three to a triangle,
// of which large sources have every few taken.
func (x *fitter) plan() {
	density := fitDensity
	if len(x.s.wv) > 2*len(x.s.nodes) {
		density /= 2 // flat faces, as of buildings, show where they lie sooner
	}
	x.stride = max(1, len(x.s.in.Indices)/(density*x.places+1))
	if x.stride%3 == 0 {
		x.stride-- // all three in turn
	}
}

// sourceTriangle is what samples of a triangle have in common.
type sourceTriangle struct {
	sum  vec     // of its vertices' positions
	turn vec32   // of their normals
	area float32 // doubled
	q    query
}

// look reads the triangle of a sample.
func (x *fitter) look(t *sourceTriangle, first int) {
	m := x.s.in
	v := (*[3]uint32)(m.Indices[first:])
	a, b, c := position(m, v[0]), position(m, v[1]), position(m, v[2])
	t.sum = a.add(b).add(c)
	n := b.sub(a).cross(c.sub(a))
	t.area = float32(math.Sqrt(n.length2()))
	t.q.n = n.single()
	if m.Groups != nil {
		t.q.group = m.Groups[first/3]
	}
	if m.Normals != nil {
		t.turn = x.normalSum(v)
	}
}

// position returns where a vertex lies.
func position(m *Mesh, v uint32) vec {
	p := &m.Positions[v]
	return vec{p[0], p[1], p[2]}
}

// gather projects samples, and sums their pulls on positions and normals.
func (x *fitter) gather() {
	s := x.s
	in := s.in.Indices
	centre := vec{s.centre[0], s.centre[1], s.centre[2]}
	var t sourceTriangle
	last := -1
	for i, k := 0, 0; k < len(in); i, k = i+1, k+x.stride {
		v := in[k]
		place := x.start(v)
		if s.nodes[place].first == none {
			continue
		}
		if first := k - k%3; first != last {
			x.look(&t, first)
			last = first
		}
		if !(t.area > 0) {
			continue
		}
		t.q.p = t.sum.add(position(s.in, v).scale(3)).scale(1.0 / 6).sub(centre)
		h := nothing()
		x.descend(&t.q, place, &h)
		if h.c == none {
			continue
		}
		n := x.corner(h.c)
		x.pull(n, &h, t.area)
		if x.hits != nil {
			x.hits[i] = sampleHit{n, uint8(h.u * math.MaxUint8), uint8(h.v * math.MaxUint8), uint16(math.Float32bits(t.area) >> 16)}
			x.pullNormals(x.turns, true, n, h.u, h.v, t.area, x.sampleNormal(t.turn, v))
		}
	}
}

// pull draws the corners of the triangle that was hit, i being the number of the
// first one.
func (x *fitter) pull(i uint32, h *hit, area float32) {
	i1, i2 := corners(i)
	of := x.s.crease.of
	a, b, c := of[i], of[i1], of[i2]
	u, v := h.u, h.v
	off := h.off
	x.pulls[a].add(off, float32(area*(1-u-v)))
	x.pulls[b].add(off, float32(area*u))
	x.pulls[c].add(off, float32(area*v))
}

// move applies the pulls on positions, one place after the other, as far as no
// triangle turns over.
func (x *fitter) move() {
	s := x.s
	f := &s.scratch.around
	for i := range s.nodes {
		nd := &s.nodes[i]
		if nd.first == none || nd.flags&flagLocked != 0 {
			continue
		}
		f.n = 0
		if s.gatherApart(uint32(i), none, f, &s.scratch.atU, ringMax) > ringMax {
			continue
		}
		p := x.pullAt(nd, f.list())
		if !(p.w > 0) {
			continue
		}
		from := fromF32(&nd.pos)
		to := from.add(p.mean().double()).f32()
		if to != nd.pos && s.upright(f.list(), from, fromF32(&to), fitTurn) {
			s.shift(uint32(i), fromF32(&to).sub(from))
			nd.pos = to
			nd.flags |= flagMoved
		}
	}
}

// pullAt sums the pulls on the wedges of a place.
func (x *fitter) pullAt(nd *node, around []ray) (p pull) {
	s := x.s
	if nd.flags&flagMulti == 0 {
		return x.pulls[x.wedges.of(nd.wedge)]
	}
	s.scratch.wedU = s.wedgesOf(s.scratch.wedU[:0], around)
	for _, w := range s.scratch.wedU {
		p.join(&x.pulls[x.wedges.of(w)])
	}
	return p
}

// gatherNormals sums the pulls on normals where samples fell, for each normal.
func (x *fitter) gatherNormals(sums []pull) {
	in := x.s.in.Indices
	var sum vec32
	last := -1
	for i, k := 0, 0; i < len(x.hits); i, k = i+1, k+x.stride {
		h := x.hits[i]
		if h.area == 0 {
			continue
		}
		if first := k - k%3; first != last {
			sum = x.normalSum((*[3]uint32)(in[first:]))
			last = first
		}
		const part = 1.0 / math.MaxUint8
		area := math.Float32frombits(uint32(h.area) << 16)
		x.pullNormals(sums, false, h.i, float32(float32(h.u)*part), float32(float32(h.v)*part), area, x.sampleNormal(sum, in[k]))
	}
}

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
// the sample's. The sums are those of corners or of normals. A sample that is far
// off, or not a number, belongs to the other side of an edge.
func (x *fitter) pullNormals(sums []pull, corner bool, i uint32, u, v, area float32, n vec32) {
	k := &x.s.crease
	i1, i2 := corners(i)
	a, b, c := k.of[i], k.of[i1], k.of[i2]
	w := 1 - u - v
	n = n.sub(k.normals[a].scale(w)).sub(k.normals[b].scale(u)).sub(k.normals[c].scale(v))
	d2 := n.length2()
	if !(d2 < float32(x.unit*x.unit)) {
		return
	}
	// So weighted, sums get close to what makes the mean angle least, not the
	// mean of squares.
	area = float32(area*x.unit) / (sqrt32(d2) + float32(0.05*x.unit))
	if corner {
		a, b, c = i, i1, i2
	}
	sums[a].add(n, float32(area*w))
	sums[b].add(n, float32(area*u))
	sums[c].add(n, float32(area*v))
}

// shift moves the origin of a place's quadrics.
func (s *Simplifier) shift(v uint32, d vec) {
	for _, q := range [2]*quad{&s.nodes[v].sum, &s.geo[v]} {
		f := q.form()
		f.recentre(d)
		*q = f.quad()
	}
}

// distances measures how far source vertices lie from the mesh: the greatest
// distance and the root mean square. Components that are gone do not count. Of
// large sources it takes every few triangles' first corner.
func (s *Simplifier) distances(x *finder) (most, rms float64) {
	x.forget()
	m := s.in
	worst := float32(0)
	centre := vec{s.centre[0], s.centre[1], s.centre[2]}
	places := s.triangles/2 + 1
	stride := max(1, len(m.Indices)/3/max(2*measureDensity*places, measureLeast))
	sum, weight := 0.0, 0.0
	for t := 0; t < len(m.Indices)/3; t += stride {
		i := m.Indices[3*t : 3*t+3]
		v := i[t%3]
		place := x.start(v)
		if s.nodes[place].first == none {
			continue
		}
		q := query{p: position(m, v).sub(centre)}
		if m.Groups != nil {
			q.group = m.Groups[t]
		}
		h := nothing()
		x.descend(&q, place, &h)
		if h.d2 > worst {
			x.spread(&q, place, &h)
		}
		if h.c == none {
			continue
		}
		a := position(m, i[0])
		w := math.Sqrt(position(m, i[1]).sub(a).cross(position(m, i[2]).sub(a)).length2())
		sum += float64(w * float64(h.d2))
		weight += w
		worst = max(worst, h.d2)
	}
	if weight > 0 {
		rms = math.Sqrt(sum / weight)
	}
	return math.Sqrt(float64(worst)), rms
}
