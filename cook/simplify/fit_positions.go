package simplify

import (
	"math"
)

// Collapses leave vertices where the planes around them fit best. Fitting moves
// them once more, to where the surface between them fits best: samples of the
// source are projected onto the mesh and pull the corners of the triangle that
// they hit, in proportion to their barycentric coordinates. It takes 10 to 20 %
// off the distances. The same samples pull at normals, see fit_normals.go. Where they
// pull different ways on different sides of a vertex, the vertex gets a second
// normal, see fit_creases.go.
const (
	fitStep    = 1.5 // corners that pull the same way make single steps too short
	fitDensity = 12  // samples per vertex of the result; more gain little
	fitTurn    = 0.5 // least cosine between a triangle's normals before and after

	measureDensity = 2    // source vertices per vertex of the result
	measureLeast   = 2000 // source vertices, if there are as many
)

// fitter holds the sums of a pass.
type fitter struct {
	*finder
	wedges  ranks  // that are left
	normals int    // of these
	stride  int    // of samples
	pulls   []pull // of positions, per wedge; later of normals

	// For normals.
	sums cornerSums
	unit float32
	fan  []uint32
	cuts []cut                   // of a vertex
	upTo [creaseCorners + 1]sums // of a fan's first corners
}

// pull is a weighted sum of displacements.
type pull struct{ x, y, z, w float32 }

func (p *pull) add(d vec32, w float32) {
	p.x += float32(d.x * w)
	p.y += float32(d.y * w)
	p.z += float32(d.z * w)
	p.w += w
}

func (p *pull) join(q pull) {
	p.x += q.x
	p.y += q.y
	p.z += q.z
	p.w += q.w
}

// mean returns the step that the sum asks for.
func (p *pull) mean() vec32 { return vec32{p.x, p.y, p.z}.scale(fitStep / p.w) }

// fit improves positions and normals.
func (s *Simplifier) fit(near *finder) {
	x := fitter{finder: near, wedges: newRanks(len(s.wedgeVertex))}
	for _, w := range s.cornerWedge {
		if w != none {
			x.wedges.put(w)
		}
	}
	x.normals = x.wedges.number()
	x.plan()
	if s.in.Normals == nil {
		x.pulls = make([]pull, x.normals)
		x.gather()
		x.move()
		return
	}
	x.pulls = make([]pull, x.normals, x.normals+x.budget())
	x.unit = s.scale[0]
	x.sums = s.borrow(x.left)
	x.gather()
	x.move()
	x.crease()
	x.turn()
	s.giveBack(&x.sums)
}

// Samples are taken halfway between a triangle's middle and its corners: unlike
// vertices they know the surface's mean. They are numbered, three to a triangle,
// of which large sources have every few taken.
func (x *fitter) plan() {
	density := fitDensity
	if len(x.s.wedgeVertex) > 2*len(x.s.vertices) {
		density /= 2 // flat faces, as of buildings, show where they lie sooner
	}
	x.stride = max(1, len(x.s.in.Indices)/(density*x.count+1))
	if x.stride%3 == 0 {
		x.stride-- // all three in turn
	}
}

// sourceTriangle is what the samples of one source triangle share.
type sourceTriangle struct {
	sum  vec     // of its vertices' positions
	turn vec32   // of their normals
	area float32 // doubled
	q    query
}

// look reads a sample's triangle.
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
	for k := 0; k < len(in); k += x.stride {
		v := in[k]
		vertex := x.start(v)
		if s.vertices[vertex].first == none || s.lost(k) {
			continue
		}
		if first := k - k%3; first != last {
			x.look(&t, first)
			last = first
		}
		if !(t.area > 0) {
			continue
		}
		h := hit{c: uint32(k), u: 1.0 / 6, v: 1.0 / 6}
		if s.vertices[vertex].flags&flagsTouched != 0 || !x.untouched(uint32(k)) {
			t.q.p = t.sum.add(position(s.in, v).scale(3)).scale(1.0 / 6).sub(centre)
			h = nothing()
			x.descend(&t.q, vertex, &h)
			if h.c == none {
				continue
			}
		}
		x.pull(&h, t.area)
		if s.in.Normals != nil {
			x.pullNormals(&h, t.area, x.sampleNormal(t.turn, v))
		}
	}
}

// flagsTouched mark vertices that others were merged into.
const flagsTouched = flagMoved | flagLocked

// untouched reports whether a triangle is as it was in the source. Nothing was merged
// into the vertex of its corner c.
func (x *fitter) untouched(c uint32) bool {
	s := x.s
	if left := x.sums.left; left != nil && !left.has(c/3) || left == nil && s.cornerWedge[c] == none {
		return false
	}
	n1, n2 := corners(c)
	return (s.vertices[s.at(n1)].flags|s.vertices[s.at(n2)].flags)&flagsTouched == 0
}

// pull draws the corners of the triangle that was hit.
func (x *fitter) pull(h *hit, area float32) {
	s := x.s
	c1, c2 := corners(h.c)
	a, b, c := x.wedges.of(s.cornerWedge[h.c]), x.wedges.of(s.cornerWedge[c1]), x.wedges.of(s.cornerWedge[c2])
	u, v := h.u, h.v
	off := h.off
	x.pulls[a].add(off, float32(area*(1-u-v)))
	x.pulls[b].add(off, float32(area*u))
	x.pulls[c].add(off, float32(area*v))
}

// move applies the pulls on positions, one vertex after the other, as far as no
// triangle turns over.
func (x *fitter) move() {
	s := x.s
	f := &s.scratch.around
	for _, i := range x.left.all() {
		nd := &s.vertices[i]
		if nd.flags&flagLocked != 0 {
			continue
		}
		f.n = 0
		if s.gatherApart(i, none, f, &s.scratch.atU, ringMax) > ringMax {
			continue
		}
		p := x.pullAt(nd, f.list())
		if !(p.w > 0) {
			continue
		}
		from := fromF32(&nd.pos)
		to := from.add(p.mean().double()).f32()
		if to != nd.pos && s.fanKeepsOrientation(f.list(), from, fromF32(&to), fitTurn) {
			s.shift(i, fromF32(&to).sub(from))
			nd.pos = to
			nd.flags |= flagMoved
		}
	}
}

// pullAt sums the pulls on the wedges of a vertex.
func (x *fitter) pullAt(nd *vertex, around []ray) (p pull) {
	s := x.s
	if nd.flags&flagMulti == 0 {
		return x.pulls[x.wedges.of(nd.wedge)]
	}
	s.scratch.wedU = s.wedgesOf(s.scratch.wedU[:0], around)
	for _, w := range s.scratch.wedU {
		p.join(x.pulls[x.wedges.of(w)])
	}
	return p
}

// shift moves the origin of a vertex's quadrics.
func (s *surface) shift(v uint32, d vec) {
	for _, q := range [2]*quadric32{&s.vertices[v].sum, &s.geo[v]} {
		f := q.double()
		f.recentre(d)
		*q = f.single()
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
	vertices := s.triangles/2 + 1
	stride := max(1, len(m.Indices)/3/max(2*measureDensity*vertices, measureLeast))
	sum, weight := 0.0, 0.0
	for t := 0; t < len(m.Indices)/3; t += stride {
		i := m.Indices[3*t : 3*t+3]
		v := i[t%3]
		vertex := x.start(v)
		if s.vertices[vertex].first == none || s.lost(3*t) {
			continue
		}
		h := hit{} // of the source vertex itself, unless the vertex has other ones
		if s.vertices[vertex].flags&flagsTouched != 0 || m.Groups != nil {
			q := query{p: position(m, v).sub(centre)}
			if m.Groups != nil {
				q.group = m.Groups[t]
			}
			h = nothing()
			x.descend(&q, vertex, &h)
			if h.d2 > worst {
				x.spread(&q, vertex, &h)
			}
			if h.c == none {
				continue
			}
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
