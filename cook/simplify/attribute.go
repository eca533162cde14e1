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

// normalWeight is the default weight of normals. On smooth meshes it is 0.33,
// which with creases keeps both distances and the deviation of normals below
// those of simplifiers that care for only one of them. Where places have several
// wedges, as at hard edges, those hold much of the shading, and half the weight
// does the same for less geometric error.
func (s *Simplifier) normalWeight() float64 {
	if len(s.wv) == 0 {
		return smoothWeight
	}
	seams := 1 - float64(len(s.nodes))/float64(len(s.wv))
	return smoothWeight * (1 - float64(0.5*min(1, float64(seams*6))))
}

const smoothWeight = 0.345

// setScales decides which attributes are in the metric, and their units.
func (s *Simplifier) setScales(area, areaUV [2]float64) {
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
				length = math.Sqrt(area[i] / areaUV[i])
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
	put := func(x float32) {
		out[k] = float64(finite(x) * s.scale[k])
		k++
	}
	if m.Normals != nil {
		for _, x := range m.Normals[v] {
			put(x)
		}
	}
	for _, uv := range m.UV {
		if uv != nil {
			put(uv[v][0])
			put(uv[v][1])
		}
	}
	if m.Colors != nil {
		for _, x := range m.Colors[v] {
			put(x)
		}
	}
}

// maxAttributes: a normal, two texture coordinates and a colour.
const maxAttributes = 11

// buildQuadrics sums the quadrics of all triangles.
func (s *Simplifier) buildQuadrics() {
	s.geo = make([]quad, len(s.nodes))
	s.wq = make([]float32, len(s.wv)*s.stride)
	s.meanAttributes()
	var at [3][maxAttributes]float64
	var grad [maxAttributes][3]float32 // times w
	for c := 0; c < len(s.cw); c += 3 {
		if s.cw[c] == none {
			continue
		}
		a, b, d := s.point(s.wv[s.cw[c]]), s.point(s.wv[s.cw[c+1]]), s.point(s.wv[s.cw[c+2]])
		e1, e2 := b.sub(a), d.sub(a)
		n := e1.cross(e2)
		n2 := n.length2()
		if !(n2 > 0) {
			continue
		}
		size := math.Sqrt(n2)
		w := size / 6
		plane := outer{}.plus(n.scale(1/size), w).f32()
		// Needles have wild gradients: damp them.
		long := max(e1.length2(), e2.length2(), e2.sub(e1).length2())
		inv := 1 / max(n2, float64(float64(1e-4*long)*long))
		g1, g2 := e2.cross(n).scale(inv), n.cross(e1).scale(inv)
		var f outer
		if s.k > 0 {
			s.cornerAttributes(c, &at)
		}
		for k := range s.k {
			g := g1.scale(at[1][k] - at[0][k]).add(g2.scale(at[2][k] - at[0][k]))
			f = f.plus(g, w)
			grad[k] = g.scale(w).f32()
		}
		attr := f.f32()
		for i := range 3 {
			w0 := s.cw[c+i]
			p := s.wv[w0]
			s.geo[p].addSquares(&plane)
			s.nodes[p].sum.addSquares(&attr)
			s.addWedge(w0, p, &grad, &at[i], w)
		}
	}
	s.reduceWedges()
	for i := range s.geo {
		g := &s.geo[i]
		s.nodes[i].sum.addSquares(&[6]float32{g.axx, g.ayy, g.azz, g.axy, g.axz, g.ayz})
	}
}

// cornerAttributes gets the attributes of a triangle's corners: those of their
// wedges, which are the vertices' own if nothing is welded.
func (s *Simplifier) cornerAttributes(c int, at *[3][maxAttributes]float64) {
	for i := range at {
		if s.opt.Seams == SeamsWeld {
			s.attributes(s.in.Indices[c+i], &at[i])
			continue
		}
		q := s.wq[int(s.cw[c+i])*s.stride : int(s.cw[c+i]+1)*s.stride]
		for k := 0; 1+4*k < len(q); k++ {
			at[i][k] = float64(q[1+4*k])
		}
	}
}

// reduceWedges divides the wedges' sums of gradients by their areas, and takes
// from the places what the best attributes at each point save.
func (s *Simplifier) reduceWedges() {
	if s.k == 0 {
		return
	}
	for w, p := range s.wv {
		q := s.wq[w*s.stride : (w+1)*s.stride]
		area := q[0]
		if !(area > 0) {
			continue
		}
		var saved form
		for r := q[1:]; len(r) >= 4; r = r[4:] {
			r[1], r[2], r[3] = r[1]/area, r[2]/area, r[3]/area
			saved.addSquare(vec{float64(r[1]), float64(r[2]), float64(r[3])}, 0, -float64(area))
		}
		addTo(&s.nodes[p].sum, &saved)
	}
}

// addTo adds the quadratic part.
func addTo(q *quad, f *form) {
	q.axx += float32(f.axx)
	q.ayy += float32(f.ayy)
	q.azz += float32(f.azz)
	q.axy += float32(f.axy)
	q.axz += float32(f.axz)
	q.ayz += float32(f.ayz)
}

// outer is the quadratic part of a form: a sum of outer products.
type outer struct{ xx, yy, zz, xy, xz, yz float64 }

// plus adds w gg'.
func (o outer) plus(g vec, w float64) outer {
	x, y, z := float64(g.x*w), float64(g.y*w), float64(g.z*w)
	return outer{
		o.xx + float64(x*g.x), o.yy + float64(y*g.y), o.zz + float64(z*g.z),
		o.xy + float64(x*g.y), o.xz + float64(x*g.z), o.yz + float64(y*g.z),
	}
}

func (o outer) f32() [6]float32 {
	return [6]float32{float32(o.xx), float32(o.yy), float32(o.zz), float32(o.xy), float32(o.xz), float32(o.yz)}
}

// addSquares adds a quadratic part.
func (q *quad) addSquares(o *[6]float32) {
	q.axx += o[0]
	q.ayy += o[1]
	q.azz += o[2]
	q.axy += o[3]
	q.axz += o[4]
	q.ayz += o[5]
}

// addWedge adds a triangle's attributes to the wedge of one of its corners,
// where m is a sum so far.
func (s *Simplifier) addWedge(w, p uint32, grad *[maxAttributes][3]float32, at *[maxAttributes]float64, weight float64) {
	q := s.wq[int(w)*s.stride : int(w+1)*s.stride]
	weld := s.opt.Seams == SeamsWeld
	if !weld {
		q[0] += float32(weight)
	}
	for k, r := 0, q[1:]; len(r) >= 4; k, r = k+1, r[4:] {
		g := &grad[k]
		r[1] += g[0]
		r[2] += g[1]
		r[3] += g[2]
		// Not 0 only where vertices with different attributes are welded. The
		// constant part, a price already paid, is left out.
		if weld {
			a, e := &s.nodes[p].sum, float32(at[k]-float64(r[0]))
			a.bx += float32(e * g[0])
			a.by += float32(e * g[1])
			a.bz += float32(e * g[2])
		}
	}
}

// meanAttributes sets every wedge's attributes: those of its vertex, or, where
// vertices are welded, the area-weighted mean, and then the area too.
func (s *Simplifier) meanAttributes() {
	var at [maxAttributes]float64
	if s.opt.Seams != SeamsWeld {
		for w := range s.wv {
			s.attributes(s.wedges.source(uint32(w)), &at)
			for k := range s.k {
				s.wq[w*s.stride+1+4*k] = float32(at[k])
			}
		}
		return
	}
	for c := 0; c < len(s.cw); c += 3 {
		if s.cw[c] == none {
			continue
		}
		a := s.point(s.wv[s.cw[c]])
		n := s.point(s.wv[s.cw[c+1]]).sub(a).cross(s.point(s.wv[s.cw[c+2]]).sub(a))
		area := math.Sqrt(n.length2()) / 6
		for i := range 3 {
			q := s.wq[int(s.cw[c+i])*s.stride:]
			q[0] += float32(area)
			s.attributes(s.in.Indices[c+i], &at)
			for k := range s.k {
				q[1+4*k] += float32(area * at[k])
			}
		}
	}
	for w := range s.wv {
		q := s.wq[w*s.stride : (w+1)*s.stride]
		if q[0] > 0 {
			for k := range s.k {
				q[1+4*k] = float32(float64(q[1+4*k]) / float64(q[0]))
			}
			continue
		}
		s.attributes(s.wedges.source(uint32(w)), &at)
		for k := range s.k {
			q[1+4*k] = float32(at[k])
		}
	}
}
