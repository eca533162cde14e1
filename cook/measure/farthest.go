package measure

import "math"

// Farthest returns the largest distance of a vertex of one surface to the
// other, seen from both: 0 for two surfaces without triangles, +Inf when one of
// them has none. It works in the calling goroutine.
func Farthest(a, b *Index) float64 {
	if len(a.tris) == 0 && len(b.tris) == 0 {
		return 0
	}
	if len(a.tris) == 0 || len(b.tris) == 0 {
		return math.Inf(1)
	}
	return math.Sqrt(farthest(b, a, farthest(a, b, 0)))
}

// farthest returns the largest squared distance of a's vertices to b, or known
// if that is more.
func farthest(a, b *Index, known float64) float64 {
	hint := int32(-1)
	done := make([]bool, len(a.s.Positions))
	for _, v := range a.s.Indices {
		if done[v] {
			continue
		}
		done[v] = true
		// Only a vertex beyond the largest distance so far matters.
		h := b.nearest(a.s.Positions[v], hint, known)
		hint = h.leaf
		known = max(known, h.d2)
	}
	return known
}
