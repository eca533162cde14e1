package simplify

import "math"

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
// and the place sums that over all wedges and attributes, relative to itself.
// Where a wedge must have another value than that, W times the square of the
// difference comes on top. Two wedges that become one agree on the weighted
// mean, which costs, with functions f = s + m'y of both,
//
//	Wu Wv / (Wu + Wv) (fu - fv)^2
//
// In memory: W, then s and m for each attribute, the latter as a slope.

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
// those of simplifiers that care for only one of them. Where places have several
// wedges, as at hard edges, those hold much of the shading, and half the weight
// does the same for less geometric error.
func (s *Simplifier) normalWeight() float64 {
	if len(s.wv) == 0 {
		return smoothWeight
	}
	seams := 1 - float64(s.wedges.places)/float64(len(s.wv))
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
	s.k = len(s.scale)
	s.stride = 1 + 3*s.k
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
	if s.opt.Seams != SeamsWeld || s.k == 0 {
		return nil
	}
	n := s.k + 1
	mean := make([]float32, n*len(s.wv))
	var own record
	for c := 0; c+2 < len(s.cw); c += 3 {
		if s.cw[c] == none {
			continue
		}
		v := uint32(c)
		area := float32(doubleArea(&s.nodes[s.at(v)].pos, &s.nodes[s.at(v+1)].pos, &s.nodes[s.at(v+2)].pos) / 6)
		for i := range 3 {
			sum := mean[int(s.cw[c+i])*n:][:n]
			sum[0] += area
			s.attributes(m, m.Indices[c+i], &own)
			for k := range s.k {
				sum[1+k] += float32(area * own[1+3*k])
			}
		}
	}
	for w := range s.wv {
		sum := mean[w*n:][:n]
		if sum[0] > 0 {
			for k := range s.k {
				sum[1+k] /= sum[0]
			}
			continue
		}
		s.attributes(m, s.wedges.source(uint32(w)), &own)
		for k := range s.k {
			sum[1+k] = own[1+3*k]
		}
	}
	return mean
}
