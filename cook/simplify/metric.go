package simplify

import (
	"math"
	"slices"
)

// Attributes follow Hoppe 1999, in a form that keeps numbers small. Over a
// triangle an attribute is a linear function of the position, g'y + e with
// the gradient g. A wedge sums over its triangles, with a third of each
// triangle's area as weight w:
//
//	W = sum w,  s = the attribute itself,  m = sum w g / W
//
// If the attribute at y is s + m'y, which is the best there is, as sum w e = 0
// relative to s, the error is
//
//	sum w (g'y + e)^2 - W (m'y)^2
//
// and the vertex sums that over all wedges and attributes, relative to itself.
// Where a wedge must have another value than that, W times the square of the
// difference comes on top. Two wedges that become one agree on the weighted
// mean, which costs, with functions f = s + m'y of both,
//
//	Wu Wv / (Wu + Wv) (fu - fv)^2
//
// In memory: W, then s and m for each attribute, the latter as a slope.

// metric is what attributes cost: the quadrics of wedges. It knows wedges by their
// numbers alone.
type metric struct {
	attributeCount int
	stride         int       // 1 + 3 attributeCount
	wedgeQuadrics  []float32 // per wedge: stride numbers, see metric.go
	gain           float64   // what squares of attributes in wedgeQuadrics are to be multiplied with
	scale          []float32 // per attribute: internal unit per unit
}

func (w Weights) withDefaults(normal float64) Weights {
	def := func(x *float64, d float64) {
		switch {
		case *x == 0:
			*x = d
		case !(*x > 0) || math.IsInf(*x, 0):
			*x = 0
		}
	}
	def(&w.Normal, normal)
	def(&w.UV, 0.1)
	def(&w.Color, 0.5)
	return w
}

// normalWeight is the default weight of normals. On smooth meshes it is 0.31,
// which with creases keeps both distances and the deviation of normals below
// those of simplifiers that care for only one of them. Where vertices have several
// wedges, as at hard edges, those hold much of the shading, and half the weight
// does the same for less geometric error.
func (s *surface) normalWeight() float64 {
	if len(s.wedgeVertex) == 0 {
		return smoothWeight
	}
	seams := 1 - float64(s.wedges.vertices)/float64(len(s.wedgeVertex))
	return smoothWeight * (1 - float64(0.5*min(1, float64(seams*6))))
}

const smoothWeight = 0.31

// setScales decides which attributes are in the metric, and their units.
func (s *Simplifier) setScales(area float64, areaUV [2]float64) {
	w := s.opt.Weights.withDefaults(s.normalWeight())
	add := func(n int, x float64) {
		if !(x > 0) || math.IsInf(x, 0) {
			x = float64(1e-6 * s.edge0) // what does not count still travels along
		}
		f := float32(min(max(x, leastScale), 1/leastScale))
		for range n {
			s.scale = append(s.scale, f)
		}
	}
	if s.in.Normals != nil {
		add(3, float64(w.Normal*s.edge0))
	}
	for i, uv := range s.in.UV {
		if uv != nil {
			length := 0.0
			if areaUV[i] > 0 {
				length = math.Sqrt(area / areaUV[i])
			}
			add(2, float64(w.UV*length))
		}
	}
	if s.in.Colors != nil {
		add(4, float64(w.Color*s.edge0))
	}
	s.attributeCount = len(s.scale)
	s.stride = 1 + 3*s.attributeCount
	s.gain = 1
}

// leastScale and its inverse leave single precision room for differences.
const leastScale = 1e-30

// maxAttributes: a normal, two texture coordinates and a colour.
const maxAttributes = 11

// meanAttributes returns what wedges of several vertices have: for each wedge the
// area around it and the mean of each attribute by area. It returns nil if every
// wedge has the attributes of its vertex.
func (s *Simplifier) meanAttributes(m *Mesh) []float32 {
	if s.opt.Seams != SeamsWeld || s.attributeCount == 0 {
		return nil
	}
	n := s.attributeCount + 1
	mean := make([]float32, n*len(s.wedgeVertex))
	var own record
	for c := 0; c+2 < len(s.cornerWedge); c += 3 {
		if s.cornerWedge[c] == none {
			continue
		}
		v := uint32(c)
		area := float32(doubleArea(&s.vertices[s.at(v)].pos, &s.vertices[s.at(v+1)].pos, &s.vertices[s.at(v+2)].pos) / 6)
		for i := range 3 {
			sum := mean[int(s.cornerWedge[c+i])*n:][:n]
			sum[0] += area
			s.attributes(m, m.Indices[c+i], &own)
			for k := range s.attributeCount {
				sum[1+k] += float32(area * own[1+3*k])
			}
		}
	}
	for w := range s.wedgeVertex {
		sum := mean[w*n:][:n]
		if sum[0] > 0 {
			for k := range s.attributeCount {
				sum[1+k] /= sum[0]
			}
			continue
		}
		s.attributes(m, s.wedges.source(uint32(w)), &own)
		for k := range s.attributeCount {
			sum[1+k] = own[1+3*k]
		}
	}
	return mean
}

// finite returns x, or 0 if it is NaN, infinite or too large to square.
func finite(x float32) float64 {
	if !isFinite(x) {
		return 0
	}
	return float64(x)
}

func isFinite(x float32) bool { return x > -1e15 && x < 1e15 }

// sanitize returns a mesh with the same attributes as far as they are finite.
func (m *Mesh) sanitize() *Mesh {
	t := *m
	t.Normals, t.Colors = sanitize(m.Normals), sanitize(m.Colors)
	for i, uv := range m.UV {
		t.UV[i] = sanitize(uv)
	}
	return &t
}

type tuple interface {
	[2]float32 | [3]float32 | [4]float32
}

// sanitize returns a list itself if all is finite.
func sanitize[T tuple](list []T) []T {
	for i := range list {
		x, n := &list[i], len(list[i])
		a, b, c, d := (*x)[0], (*x)[1], (*x)[n-2], (*x)[n-1]
		if float32(a*a)+float32(b*b)+float32(c*c)+float32(d*d) < 1e30 { // then each is finite
			continue
		}
		list = slices.Clone(list)
		for i := range list {
			for k := range len(list[i]) {
				list[i][k] = float32(finite(list[i][k]))
			}
		}
		return list
	}
	return list
}

// attributes writes a vertex's attributes, in internal units, into a record.
func (mt *metric) attributes(m *Mesh, v uint32, to *record) {
	at, scale := uint(1), mt.scale
	if m.Normals != nil {
		x, f := &m.Normals[v], scale[0]
		to[1], to[4], to[7] = float32(x[0]*f), float32(x[1]*f), float32(x[2]*f)
		at = 10
	}
	for i := range m.UV {
		if uv := m.UV[i]; uv != nil && at < recordSize-3 { // it always is: no checks of bounds
			x, f := &uv[v], scale[at/3]
			to[at], to[at+3] = float32(x[0]*f), float32(x[1]*f)
			at += 6
		}
	}
	if m.Colors != nil {
		f := scale[at/3]
		for _, x := range m.Colors[v] {
			to[at] = float32(x * f)
			at += 3
		}
	}
}

// differences writes how much attributes change along the edges of a triangle
// from its first vertex: to the second where the attribute is in a record, and to
// the third behind that.
func (mt *metric) differences(m *Mesh, a, b, c uint32, to *record) {
	at, scale := uint(1), mt.scale
	if m.Normals != nil {
		p, q, r, f := &m.Normals[a], &m.Normals[b], &m.Normals[c], scale[0]
		to[1], to[2] = float32((q[0]-p[0])*f), float32((r[0]-p[0])*f)
		to[4], to[5] = float32((q[1]-p[1])*f), float32((r[1]-p[1])*f)
		to[7], to[8] = float32((q[2]-p[2])*f), float32((r[2]-p[2])*f)
		at = 10
	}
	for i := range m.UV {
		if uv := m.UV[i]; uv != nil && at < recordSize-4 { // it always is
			p, q, r, f := &uv[a], &uv[b], &uv[c], scale[at/3]
			to[at], to[at+1] = float32((q[0]-p[0])*f), float32((r[0]-p[0])*f)
			to[at+3], to[at+4] = float32((q[1]-p[1])*f), float32((r[1]-p[1])*f)
			at += 6
		}
	}
	if m.Colors != nil {
		p, q, r, f := &m.Colors[a], &m.Colors[b], &m.Colors[c], scale[at/3]
		for i, x := range p {
			to[at], to[at+1] = float32((q[i]-x)*f), float32((r[i]-x)*f)
			at += 3
		}
	}
}
