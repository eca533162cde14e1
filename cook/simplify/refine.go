package simplify

import (
	"math"
)

// Collapses leave places where the planes around them fit best. Fitting moves
// them once more, to where the surface between them fits best: samples of the
// source are projected onto the mesh and pull the corners of the triangle that
// they hit, in proportion to their barycentric coordinates. It takes 10 to 20 %
// off the distances. The same is done for normals; where they pull different
// ways on different sides of a place, the place gets a second normal, see
// crease.go.
const (
	fitPasses  = 2   // more gain little
	fitStep    = 1.5 // corners that pull the same way make single steps too short
	fitDensity = 12  // samples per place of the result
	fitTurn    = 0.5 // least cosine between a triangle's normals before and after

	measureDensity = 2 // source vertices per place of the result
)

// fitter holds the sums of a pass.
type fitter struct {
	finder
	places ranks // those that are left
	pulls  []pull
	turns  []pull // of normals, per living corner; nil if there are none
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
func (s *Simplifier) fit() {
	x := fitter{finder: finder{s: s}}
	x.places = newRanks(len(s.nodes), func(i int) bool { return s.nodes[i].first != none })
	x.pulls = make([]pull, x.places.count)
	s.crease = creases{}
	if s.in.Normals != nil {
		s.crease.number(s)
		x.turns = make([]pull, len(s.crease.of))
	}
	for pass := range fitPasses {
		x.loaded = none
		x.gather()
		x.move()
		if x.turns == nil {
			continue
		}
		if pass == 0 {
			x.crease()
		}
		x.turn(pass == 0)
	}
}

// gather projects samples and sums their pulls. Up to three samples are taken
// of a triangle, halfway between its middle and its corners: unlike vertices
// they know the surface's mean. Of large sources it takes every few.
func (x *fitter) gather() {
	s, m := x.s, x.s.in
	n := len(m.Indices) // samples are numbered, three to a triangle
	stride := max(1, n/(fitDensity*len(x.pulls)+1))
	if stride%3 == 0 {
		stride-- // all three in turn
	}
	for k := 0; k < n; k += stride {
		t := k - k%3
		i := m.Indices[t : t+3]
		a, b, c := s.sourcePoint(i[0]), s.sourcePoint(i[1]), s.sourcePoint(i[2])
		q := query{n: b.sub(a).cross(c.sub(a))}
		area := math.Sqrt(q.n.length2())
		if !(area > 0) {
			continue
		}
		j := k % 3
		q.p = a.add(b).add(c).add([3]vec{a, b, c}[j].scale(3)).scale(1.0 / 6)
		if m.Groups != nil {
			q.group = m.Groups[t/3]
		}
		h := hit{d2: math.Inf(1)}
		x.descend(&q, x.start(i[j]), &h)
		if math.IsInf(h.d2, 1) {
			continue
		}
		off := q.p.sub(h.at)
		for j, c := range h.corner {
			if w := float64(area * h.b[j]); w > 0 {
				x.pulls[x.places.of(s.at(c))].add(off, w)
			}
		}
		if m.Normals != nil {
			x.gatherNormal(i, j, area, &h)
		}
	}
}

// gatherNormal sums the pull on normals of a sample near one corner of a source
// triangle. A sample that is far off belongs to the other side of an edge.
func (x *fitter) gatherNormal(i []uint32, near int, area float64, h *hit) {
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
	for j, c := range h.corner {
		n = n.sub(s.normal(c).scale(h.b[j]))
	}
	d2 := n.length2()
	if !(d2 < float64(unit*unit)) {
		return
	}
	// So weighted, sums get close to what makes the mean angle least, not the
	// mean of squares.
	area *= unit / (math.Sqrt(d2) + float64(0.05*unit))
	for j, c := range h.corner {
		if w := float64(area * h.b[j]); w > 0 {
			x.turns[s.crease.index(c)].add(n, w)
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
			s.gather(uint32(i), f, maxCorners)
			if to != nd.pos && s.upright(f, from, fromF32(&to), fitTurn) {
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
func (s *Simplifier) distances() (worst, rms float64) {
	x := finder{s: s, loaded: none}
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
