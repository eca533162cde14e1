package simplify

import "math"

// Collapses leave places where the planes around them fit best. Fitting moves
// them once more, to where the surface between them fits best: samples of the
// source are projected onto the mesh and pull the corners of the triangle that
// they hit, in proportion to their barycentric coordinates. The same is done
// for normals. It takes 10 to 20 % off the distances.
const (
	fitPasses  = 1   // more gain little
	fitStep    = 1.5 // corners that pull the same way make single steps too short
	fitDensity = 6   // samples per place of the result
	fitTurn    = 0.5 // least cosine between a triangle's normals before and after

	measureDensity = 2 // source vertices per place of the result
)

// fitter holds the sums of a pass.
type fitter struct {
	finder
	slot  []uint32 // per place: index of its pull, none if it is gone
	pulls []pull
	wslot []uint32 // per wedge
	turns []pull   // of normals
}

// pull is a weighted sum of displacements.
type pull struct{ x, y, z, w float32 }

func (p *pull) add(d vec, w float64) {
	p.x += float32(float64(d.x * w))
	p.y += float32(float64(d.y * w))
	p.z += float32(float64(d.z * w))
	p.w += float32(w)
}

func (p *pull) mean() vec {
	s := fitStep / float64(p.w)
	return vec{float64(p.x), float64(p.y), float64(p.z)}.scale(s)
}

// fit improves positions and normals.
func (s *Simplifier) fit() {
	x := fitter{finder: finder{s: s}}
	x.slot = make([]uint32, len(s.nodes))
	n := uint32(0)
	for i := range s.nodes {
		x.slot[i] = none
		if s.nodes[i].first != none {
			x.slot[i] = n
			n++
		}
	}
	x.pulls = make([]pull, n)
	if s.in.Normals != nil {
		x.wslot = make([]uint32, len(s.wv))
		n = 0
		for w, v := range s.wv {
			x.wslot[w] = none
			if v&gone == 0 {
				x.wslot[w] = n
				n++
			}
		}
		x.turns = make([]pull, n)
	}
	for range fitPasses {
		x.loaded = none
		x.gather()
		x.move()
		x.turn()
	}
}

// gather projects samples and sums their pulls. Samples are the middles of the
// source's triangles: unlike vertices they know the surface's mean.
func (x *fitter) gather() {
	s, m := x.s, x.s.in
	stride := max(1, len(m.Indices)/3/(fitDensity*len(x.pulls)+1))
	for t := 0; t < len(m.Indices)/3; t += stride {
		i := m.Indices[3*t : 3*t+3]
		a, b, c := s.sourcePoint(i[0]), s.sourcePoint(i[1]), s.sourcePoint(i[2])
		q := query{p: a.add(b).add(c).scale(1.0 / 3), n: b.sub(a).cross(c.sub(a))}
		area := math.Sqrt(q.n.length2())
		if !(area > 0) {
			continue
		}
		if m.Groups != nil {
			q.group = m.Groups[t]
		}
		h := hit{d2: math.Inf(1)}
		x.descend(&q, x.start(i[0]), &h)
		if math.IsInf(h.d2, 1) {
			continue
		}
		off := q.p.sub(h.at)
		for j, c := range h.corner {
			if w := float64(area * h.b[j]); w > 0 {
				x.pulls[x.slot[s.at(c)]].add(off, w)
			}
		}
		if m.Normals != nil {
			x.gatherNormal(i, area, &h)
		}
	}
}

// gatherNormal sums the pull on normals. A sample that is far off belongs to
// the other side of an edge.
func (x *fitter) gatherNormal(i []uint32, area float64, h *hit) {
	s := x.s
	unit := s.scale[0]
	var n vec
	for _, v := range i {
		a := s.in.Normals[v]
		n = n.add(vec{finite(a[0]), finite(a[1]), finite(a[2])})
	}
	n = n.scale(unit / 3)
	for j, c := range h.corner {
		r := s.wq[int(s.cw[c])*s.stride:]
		n = n.sub(vec{float64(r[1]), float64(r[5]), float64(r[9])}.scale(h.b[j]))
	}
	if !(n.length2() < float64(unit*unit)/2) {
		return
	}
	for j, c := range h.corner {
		if w := float64(area * h.b[j]); w > 0 {
			x.turns[x.wslot[s.cw[c]]].add(n, w)
		}
	}
}

// move applies the pulls on positions, one place after the other, as far as no
// triangle turns over.
func (x *fitter) move() {
	s := x.s
	ring := &s.scratch.ringU
	for i := range s.nodes {
		nd := &s.nodes[i]
		if x.slot[i] == none {
			continue
		}
		p := &x.pulls[x.slot[i]]
		if p.w > 0 && nd.flags&flagLocked == 0 {
			from := fromF32(&nd.pos)
			to := from.add(p.mean()).f32()
			*ring = s.ring(uint32(i), *ring)
			if to != nd.pos && s.upright(*ring, none, from, fromF32(&to), fitTurn) {
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

// turn applies the pulls on normals.
func (x *fitter) turn() {
	s := x.s
	for w, n := range x.wslot {
		if n == none {
			continue
		}
		p := &x.turns[n]
		if p.w > 0 && s.nodes[s.wv[w]].flags&flagLocked == 0 {
			d := p.mean()
			r := s.wq[w*s.stride:]
			r[1] += float32(d.x)
			r[5] += float32(d.y)
			r[9] += float32(d.z)
		}
		*p = pull{}
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
