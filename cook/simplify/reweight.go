package simplify

import "math"

// reweight raises the weight of attributes as the mesh gets coarser: squared
// distances grow faster with the triangles' size than attributes' deviations.
func (s *Simplifier) reweight() {
	if s.k == 0 || s.triangles*3 > s.scaled*2 {
		return
	}
	f := math.Sqrt(math.Sqrt(float64(s.scaled) / float64(max(s.triangles, 1))))
	f = 1 + float64(attributeGrowth*(f-1))
	s.scaled = s.triangles
	for k := range s.scale {
		s.scale[k] = float64(s.scale[k] * f)
	}
	f32 := float32(f)
	for w := range s.wv {
		if s.wv[w]&gone != 0 {
			continue
		}
		q := s.wq[w*s.stride+1 : (w+1)*s.stride]
		for k := range q {
			q[k] = float32(q[k] * f32)
		}
	}
	f2 := float64(f * f)
	for i := range s.nodes {
		if s.nodes[i].first == none {
			continue
		}
		a, g := s.nodes[i].sum.form(), s.geo[i].form()
		a.scaleFrom(&g, f2)
		s.nodes[i].sum = a.quad()
	}
}

// attributeGrowth is the power of the edge length that weights follow.
const attributeGrowth = 1.3

// scaleFrom replaces f by g + s (f - g).
func (f *form) scaleFrom(g *form, s float64) {
	mix := func(a, b float64) float64 { return b + float64(s*(a-b)) }
	f.axx, f.ayy, f.azz = mix(f.axx, g.axx), mix(f.ayy, g.ayy), mix(f.azz, g.azz)
	f.axy, f.axz, f.ayz = mix(f.axy, g.axy), mix(f.axz, g.axz), mix(f.ayz, g.ayz)
	f.b = vec{mix(f.b.x, g.b.x), mix(f.b.y, g.b.y), mix(f.b.z, g.b.z)}
	f.c = mix(f.c, g.c)
}
