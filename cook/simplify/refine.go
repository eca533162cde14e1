package simplify

import (
	"math"
)

// Collapses leave places where the planes around them fit best. Fitting moves
// them once more, to where the surface between them fits best: samples of the
// source are projected onto the mesh and pull the corners of the triangle that
// they hit, in proportion to their barycentric coordinates. It takes 10 to 20 %
// off the distances. The same is done for normals, twice with the same hits, as
// that is cheap; where they pull different ways on different sides of a place,
// the place gets a second normal, see crease.go.
const (
	fitStep    = 1.5 // corners that pull the same way make single steps too short
	fitDensity = 10  // samples per place of the result; more gain little
	fitTurn    = 0.5 // least cosine between a triangle's normals before and after
	turnPasses = 2   // of normals

	measureDensity = 2 // source vertices per place of the result
)

// fitter holds the sums of a pass.
type fitter struct {
	*finder
	places ranks // those that are left
	pulls  []pull
	turns  []pull      // of normals, per living corner; nil if there are none
	stride int         // of samples
	hits   []sampleHit // of samples, for normals
}

// sampleHit is where a sample fell on the mesh, rounded to what normals need.
type sampleHit struct {
	t    uint32 // first corner of the triangle, or none
	u, v uint8  // barycentric coordinates of the other corners, in 255ths
	area uint16 // the first half of the source triangle's double area as a float32
}

// pull is a weighted sum of displacements.
type pull struct{ x, y, z, w float32 }

func (p *pull) add(d vec, w float64) {
	p.x += float32(float64(d.x * w))
	p.y += float32(float64(d.y * w))
	p.z += float32(float64(d.z * w))
	p.w += float32(w)
}

func (p *pull) join(q *pull) {
	p.x += q.x
	p.y += q.y
	p.z += q.z
	p.w += q.w
}

// mean returns the step that the sum asks for.
func (p *pull) mean() vec {
	s := fitStep / float64(p.w)
	return vec{float64(p.x), float64(p.y), float64(p.z)}.scale(s)
}

// fit improves positions and normals.
func (s *Simplifier) fit(near *finder) {
	x := fitter{finder: near}
	x.places = newRanks(len(s.nodes), func(i int) bool { return s.nodes[i].first != none })
	x.pulls = make([]pull, x.places.count)
	s.crease = creases{}
	x.plan()
	x.gather()
	x.move()
	if s.in.Normals == nil {
		return
	}
	s.crease.number(s)
	x.turns = make([]pull, len(s.crease.of))
	for pass := range turnPasses {
		x.gatherNormals()
		if pass == 0 {
			x.crease()
		}
		x.turn(pass == 0)
	}
}

// Samples are taken halfway between a triangle's middle and its corners: unlike
// vertices they know the surface's mean. They are numbered, three to a triangle,
// of which large sources have every few taken.
func (x *fitter) plan() {
	n := len(x.s.in.Indices)
	x.stride = max(1, n/(fitDensity*len(x.pulls)+1))
	if x.stride%3 == 0 {
		x.stride-- // all three in turn
	}
	if x.s.in.Normals != nil {
		x.hits = make([]sampleHit, (n+x.stride-1)/x.stride)
	}
}

// gather projects samples and sums their pulls.
func (x *fitter) gather() {
	s, m := x.s, x.s.in
	for i, k := 0, 0; k < len(m.Indices); i, k = i+1, k+x.stride {
		t, j := k-k%3, k%3
		v := m.Indices[t : t+3]
		a, b, c := s.sourcePoint(v[0]), s.sourcePoint(v[1]), s.sourcePoint(v[2])
		q := query{n: b.sub(a).cross(c.sub(a))}
		h := hit{d2: math.Inf(1)}
		if area := math.Sqrt(q.n.length2()); area > 0 {
			q.p = a.add(b).add(c).add([3]vec{a, b, c}[j].scale(3)).scale(1.0 / 6)
			if m.Groups != nil {
				q.group = m.Groups[t/3]
			}
			x.descend(&q, x.start(v[j]), &h)
			if !math.IsInf(h.d2, 1) {
				x.pull(&h, q.p.sub(h.at), area)
			}
		}
		if x.hits != nil {
			x.hits[i] = h.sample(math.Sqrt(q.n.length2()))
		}
	}
}

// sample rounds a hit.
func (h *hit) sample(area float64) sampleHit {
	if math.IsInf(h.d2, 1) {
		return sampleHit{t: none}
	}
	return sampleHit{h.t, uint8(h.b[1] * math.MaxUint8), uint8(h.b[2] * math.MaxUint8), uint16(math.Float32bits(float32(area)) >> 16)}
}

// pull draws the corners of the triangle that was hit.
func (x *fitter) pull(h *hit, off vec, area float64) {
	for j, b := range h.b {
		if w := float64(area * b); w > 0 {
			x.pulls[x.places.of(x.s.at(h.t+uint32(j)))].add(off, w)
		}
	}
}

// gatherNormals sums the pulls on normals where samples fell.
func (x *fitter) gatherNormals() {
	for i := range x.hits {
		if h := &x.hits[i]; h.t != none {
			k := i * x.stride
			x.gatherNormal(x.s.in.Indices[k-k%3:][:3], k%3, h)
		}
	}
}

// gatherNormal sums the pull on normals of a sample near one corner of a source
// triangle. A sample that is far off belongs to the other side of an edge.
func (x *fitter) gatherNormal(i []uint32, near int, h *sampleHit) {
	s := x.s
	unit := s.scale[0]
	var n vec
	for j, v := range i {
		a := s.in.Normals[v]
		w := 1.0
		if j == near {
			w = 4
		}
		n = n.add(vec{finite(a[0]), finite(a[1]), finite(a[2])}.scale(w))
	}
	n = n.scale(unit / 6)
	const part = 1.0 / math.MaxUint8
	b1, b2 := float64(float64(h.u)*part), float64(float64(h.v)*part)
	b := [3]float64{1 - b1 - b2, b1, b2}
	first := s.crease.index(h.t)
	for j, w := range b {
		n = n.sub(s.normalAt(h.t+uint32(j), first+uint32(j)).scale(w))
	}
	d2 := n.length2()
	if !(d2 < float64(unit*unit)) {
		return
	}
	// So weighted, sums get close to what makes the mean angle least, not the
	// mean of squares.
	area := float64(math.Float32frombits(uint32(h.area)<<16)) * unit / (math.Sqrt(d2) + float64(0.05*unit))
	for j, w := range b {
		if w = float64(area * w); w > 0 {
			x.turns[first+uint32(j)].add(n, w)
		}
	}
}

// move applies the pulls on positions, one place after the other, as far as no
// triangle turns over.
func (x *fitter) move() {
	s := x.s
	f := &s.scratch.u
	for i := range s.nodes {
		nd := &s.nodes[i]
		if !x.places.has(uint32(i)) {
			continue
		}
		p := &x.pulls[x.places.of(uint32(i))]
		if p.w > 0 && nd.flags&flagLocked == 0 {
			from := fromF32(&nd.pos)
			to := from.add(p.mean()).f32()
			crowded := s.gatherApart(uint32(i), none, f, &s.scratch.atU, ringMax) > ringMax
			if to != nd.pos && !crowded && s.upright(f.list(), from, fromF32(&to), fitTurn) {
				s.shift(uint32(i), fromF32(&to).sub(from))
				nd.pos = to
				nd.flags |= flagMoved
			}
		}
		*p = pull{}
	}
}

// shift moves the origin of a place's quadrics.
func (s *Simplifier) shift(v uint32, d vec) {
	for _, q := range [2]*quad{&s.nodes[v].sum, &s.geo[v]} {
		f := q.form()
		f.recentre(d)
		*q = f.quad()
	}
}

// sourcePoint returns a source vertex relative to the centre.
func (s *Simplifier) sourcePoint(v uint32) vec {
	p := s.in.Positions[v]
	return vec{p[0] - s.centre[0], p[1] - s.centre[1], p[2] - s.centre[2]}
}

// distances measures how far source vertices lie from the mesh: the greatest
// distance and the root mean square. Components that are gone do not count. Of
// large sources it takes every few triangles' first corner.
func (s *Simplifier) distances(x *finder) (worst, rms float64) {
	x.forget()
	m := s.in
	places := s.triangles/2 + 1
	stride := max(1, len(m.Indices)/3/(2*measureDensity*places))
	sum, weight := 0.0, 0.0
	for t := 0; t < len(m.Indices)/3; t += stride {
		i := m.Indices[3*t : 3*t+3]
		v := i[t%3]
		place := x.start(v)
		if s.nodes[place].first == none {
			continue
		}
		q := query{p: s.sourcePoint(v)}
		if m.Groups != nil {
			q.group = m.Groups[t]
		}
		h := hit{d2: math.Inf(1)}
		x.descend(&q, place, &h)
		if h.d2 > worst {
			x.spread(&q, place, &h)
		}
		if math.IsInf(h.d2, 1) {
			continue
		}
		a := s.sourcePoint(i[0])
		w := math.Sqrt(s.sourcePoint(i[1]).sub(a).cross(s.sourcePoint(i[2]).sub(a)).length2())
		sum += float64(w * h.d2)
		weight += w
		worst = max(worst, h.d2)
	}
	if weight > 0 {
		rms = math.Sqrt(sum / weight)
	}
	return math.Sqrt(worst), rms
}
