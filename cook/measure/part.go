package measure

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// Part is some triangles of an indexed surface, which takes little time to make. It is safe
// for concurrent use.
type Part struct {
	x         *Index
	only      filter
	triangles []uint32  // in the surface's order
	sums      []float64 // running sums of their areas
}

// Part returns the triangles that are kept.
func (x *Index) Part(keep func(triangle int) bool) *Part {
	p := &Part{x: x, only: filter{only: make([]bool, len(x.tris))}}
	kept := make([]bool, len(x.tris))
	sum := 0.0
	for t := range kept {
		if kept[t] = keep(t); kept[t] {
			sum += x.s.area(uint32(t))
			p.triangles, p.sums = append(p.triangles, uint32(t)), append(p.sums, sum)
		}
	}
	for leaf, t := range x.order {
		p.only.only[leaf] = kept[t]
	}
	return p
}

// Area returns the sum of the areas of all triangles of the part.
func (p *Part) Area() float64 { return last(p.sums) }

// Touches reports whether the part has a point within a distance in metres, and returns a
// hint for a query nearby.
func (p *Part) Touches(at geom.Vec3, within float64, hint Hint) (Hint, bool) {
	best := p.x.nearestOf(at, int32(hint)-1, float64(within*within), notAbove(within), &p.only, nil)
	return Hint(best.leaf + 1), best.leaf >= 0
}

// nearest finds the point of the part that is nearest.
func (p *Part) nearest(at geom.Vec3, hint int32) hit {
	return p.x.nearestOf(at, hint, 0, math.Inf(1), &p.only, nil)
}

// point returns the point of a sample by the part's sums.
func (p *Part) point(s sample) geom.Vec3 {
	s.tri = p.triangles[s.tri]
	return p.x.s.point(s)
}
