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
	f2 := float32(f * f)
	s.gain = float64(s.gain * float64(f2))
	for i := range s.nodes {
		if s.nodes[i].first == none {
			continue
		}
		s.nodes[i].sum.scaleFrom(&s.geo[i], f2)
	}
}

// attributeGrowth is the power of the edge length that weights follow.
const attributeGrowth = 1.3

// scaleFrom replaces q by g + s (q - g).
func (q *quad) scaleFrom(g *quad, s float32) {
	q.axx = g.axx + float32(s*(q.axx-g.axx))
	q.ayy = g.ayy + float32(s*(q.ayy-g.ayy))
	q.azz = g.azz + float32(s*(q.azz-g.azz))
	q.axy = g.axy + float32(s*(q.axy-g.axy))
	q.axz = g.axz + float32(s*(q.axz-g.axz))
	q.ayz = g.ayz + float32(s*(q.ayz-g.ayz))
	q.bx = g.bx + float32(s*(q.bx-g.bx))
	q.by = g.by + float32(s*(q.by-g.by))
	q.bz = g.bz + float32(s*(q.bz-g.bz))
	q.c = g.c + float32(s*(q.c-g.c))
}
