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
// In memory: W, then s and m for each attribute.

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

// normalWeight is the default weight of normals. On smooth meshes it is 0.345,
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

const smoothWeight = 0.345

// setScales decides which attributes are in the metric, and their units.
func (s *Simplifier) setScales(area float64, areaUV [2]float64) {
	w := s.opt.Weights.withDefaults(s.normalWeight())
	if s.in.Normals != nil {
		for range 3 {
			s.scale = append(s.scale, float64(w.Normal*s.edge0))
		}
	}
	for i, uv := range s.in.UV {
		if uv != nil {
			length := 0.0
			if areaUV[i] > 0 {
				length = math.Sqrt(area / areaUV[i])
			}
			s.scale = append(s.scale, float64(w.UV*length), float64(w.UV*length))
		}
	}
	if s.in.Colors != nil {
		for range 4 {
			s.scale = append(s.scale, float64(w.Color*s.edge0))
		}
	}
	for i, x := range s.scale {
		// An attribute that does not count still travels along.
		if !(x > 0) || math.IsInf(x, 0) {
			s.scale[i] = float64(1e-6*s.edge0) + 1e-30
		}
	}
	s.k = len(s.scale)
	s.stride = 1 + 4*s.k
}

// finite returns x, or 0 if it is NaN, infinite or too large to square.
func finite(x float32) float64 {
	if !(x > -1e15 && x < 1e15) {
		return 0
	}
	return float64(x)
}

// attributes writes a vertex's attributes in internal units.
func (s *Simplifier) attributes(v uint32, out *[maxAttributes]float64) {
	m := s.in
	k := 0
	if m.Normals != nil {
		k = s.convert(m.Normals[v][:], out, k)
	}
	for _, uv := range m.UV {
		if uv != nil {
			k = s.convert(uv[v][:], out, k)
		}
	}
	if m.Colors != nil {
		s.convert(m.Colors[v][:], out, k)
	}
}

// convert writes some attributes, the first of which is k, and returns the
// number of the next.
func (s *Simplifier) convert(from []float32, out *[maxAttributes]float64, k int) int {
	scale, to := s.scale[k:], out[k:]
	scale, to = scale[:len(from)], to[:len(from)]
	for i, x := range from {
		to[i] = float64(finite(x) * scale[i])
	}
	return k + len(from)
}

// maxAttributes: a normal, two texture coordinates and a colour.
const maxAttributes = 11

// meanAttributes sets every wedge's attributes: those of its vertex, or, where
// vertices are welded, the area-weighted mean, and then the area too.
func (s *Simplifier) meanAttributes() {
	if s.opt.Seams != SeamsWeld {
		s.ownAttributes()
		return
	}
	s.sumAttributes()
	var at [maxAttributes]float64
	for w := range s.wv {
		q := s.record(uint32(w))
		if q[0] > 0 {
			for k := range s.k {
				q[1+4*k] = float32(float64(q[1+4*k]) / float64(q[0]))
			}
			continue
		}
		s.attributes(s.wedges.source(uint32(w)), &at)
		for k, x := range at[:s.k] {
			q[1+4*k] = float32(x)
		}
	}
}

// ownAttributes sets every wedge's attributes to those of its vertex.
func (s *Simplifier) ownAttributes() {
	m, stride := s.in, s.stride
	wq := s.wq[:cap(s.wq)]
	k := 0
	if m.Normals != nil {
		f := (*[3]float64)(s.scale)
		for w, at := 0, 1; w < len(s.wv); w, at = w+1, at+stride {
			q, x := (*[9]float32)(wq[at:at+9]), &m.Normals[s.wedges.source(uint32(w))]
			q[0], q[4], q[8] = scaled(x[0], f[0]), scaled(x[1], f[1]), scaled(x[2], f[2])
		}
		k = 3
	}
	for _, uv := range m.UV {
		if uv == nil {
			continue
		}
		f := (*[2]float64)(s.scale[k:])
		for w, at := 0, 1+4*k; w < len(s.wv); w, at = w+1, at+stride {
			q, x := (*[5]float32)(wq[at:at+5]), &uv[s.wedges.source(uint32(w))]
			q[0], q[4] = scaled(x[0], f[0]), scaled(x[1], f[1])
		}
		k += 2
	}
	if m.Colors != nil {
		f := (*[4]float64)(s.scale[k:])
		for w, at := 0, 1+4*k; w < len(s.wv); w, at = w+1, at+stride {
			q, x := (*[13]float32)(wq[at:at+13]), &m.Colors[s.wedges.source(uint32(w))]
			q[0], q[4], q[8], q[12] = scaled(x[0], f[0]), scaled(x[1], f[1]), scaled(x[2], f[2]), scaled(x[3], f[3])
		}
	}
}

func scaled(x float32, scale float64) float32 { return float32(finite(x) * scale) }

// sumAttributes sums areas, and attributes times areas.
func (s *Simplifier) sumAttributes() {
	var at [maxAttributes]float64
	for c := 0; c+2 < len(s.cw); c += 3 {
		if s.cw[c] == none {
			continue
		}
		v := uint32(c)
		area := doubleArea(&s.nodes[s.at(v)].pos, &s.nodes[s.at(v+1)].pos, &s.nodes[s.at(v+2)].pos) / 6
		for i := range 3 {
			q := s.record(s.cw[c+i])
			q[0] += float32(area)
			s.attributes(s.in.Indices[c+i], &at)
			for k := range s.k {
				q[1+4*k] += float32(area * at[k])
			}
		}
	}
}
