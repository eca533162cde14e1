package mesh

import (
	"cmp"
	"slices"
	"sort"

	"github.com/untoldkit/untold/internal/geom"
)

// SplitCount tells what Split makes of triangles.
type SplitCount struct {
	Polygons int64 // one for every cell that a triangle has a part in
	Inner    int64 // those of them that fill their cell, as seen along an axis: each has four vertices of its own
}

// CountSplit counts what Split would make of the mesh and makes none of it, so
// that a mesh of many triangles that each span the whole grid can be refused
// before it fills the memory. It stops after the triangle with which the
// polygons become more than limit. Rounding may add or take single polygons.
func (m *Mesh) CountSplit(g ClipGrid, limit int64) SplitCount {
	var n SplitCount
	for i := 0; i+2 < len(m.Indices) && n.Polygons <= limit; i += 3 {
		poly := []geom.Vec3{m.Positions[m.Indices[i]], m.Positions[m.Indices[i+1]], m.Positions[m.Indices[i+2]]}
		var cells [3]int
		var list [3]int
		axes := list[:0]
		for axis := range g.Planes {
			first, last := g.span(axis, m, [3]uint32(m.Indices[i:i+3]), 0)
			if cells[axis] = last - first; last > first {
				axes = append(axes, axis)
			}
		}
		// The last axis costs no cuts.
		slices.SortStableFunc(axes, func(a, b int) int { return cmp.Compare(cells[a], cells[b]) })
		g.countCells(axes, poly, nil, &n)
	}
	return n
}

// slab is what lies between two planes of an axis.
type slab struct {
	axis      int
	low, high float64
}

// countCells counts the cells along some axes that a convex polygon has a part
// in. The polygon lies in a slab of the axis before, nil for none.
func (g *ClipGrid) countCells(axes []int, poly []geom.Vec3, in *slab, n *SplitCount) {
	if len(axes) == 0 {
		n.Polygons++
		return
	}
	axis, planes := axes[0], g.Planes[axes[0]]
	first, last := cellSpan(planes, lowest(poly, axis), highest(poly, axis), 0)
	if len(axes) == 1 {
		n.Polygons += int64(last - first + 1)
		n.Inner += in.filled(poly, axis, planes)
		return
	}
	var buffers [3][8]geom.Vec3
	below, above, spare := buffers[0][:0], buffers[1][:0], buffers[2][:0]
	for k := first; k < last; k++ {
		below, above = halves(poly, axis, planes[k], below[:0], above[:0])
		if len(below) > 2 {
			between := &slab{axis, planes[max(k-1, 0)], planes[k]}
			if k == 0 {
				between = nil // the first cell has no plane below it
			}
			g.countCells(axes[1:], below, between, n)
		}
		poly, above, spare = above, spare, above
	}
	if len(poly) > 2 {
		g.countCells(axes[1:], poly, nil, n) // it ends above its last plane
	}
}

// filled counts the cells along an axis that a polygon in a slab fills: a convex
// polygon that holds the corners of a cell holds all of it.
func (s *slab) filled(poly []geom.Vec3, axis int, planes []float64) int64 {
	if s == nil {
		return 0
	}
	from, to := lowest(poly, axis), highest(poly, axis)
	for _, plane := range []float64{s.low, s.high} {
		lo, hi, any := 0.0, 0.0, false
		for i := range poly {
			if along(&poly[i], s.axis) != plane {
				continue
			}
			x := along(&poly[i], axis)
			if !any {
				lo, hi, any = x, x, true
			}
			lo, hi = widen(lo, hi, x)
		}
		if !any {
			return 0
		}
		from, to = max(from, lo), min(to, hi)
	}
	first := sort.SearchFloat64s(planes, from)
	return max(0, int64(sort.Search(len(planes), func(i int) bool { return planes[i] > to })-first-1))
}

// halves appends the parts of a convex polygon on both sides of a plane.
func halves(poly []geom.Vec3, axis int, plane float64, below, above []geom.Vec3) (lo, hi []geom.Vec3) {
	for i := range poly {
		a, b := &poly[i], &poly[(i+1)%len(poly)]
		x, y := along(a, axis), along(b, axis)
		if x <= plane {
			below = append(below, *a)
		}
		if x >= plane {
			above = append(above, *a)
		}
		if min(x, y) < plane && max(x, y) > plane {
			t := (plane - x) / (y - x)
			p := geom.Vec3{geom.Mix(a[0], b[0], t), geom.Mix(a[1], b[1], t), geom.Mix(a[2], b[2], t)}
			if p[axis] = plane; axis == 2 {
				p[axis] = -plane
			}
			below, above = append(below, p), append(above, p)
		}
	}
	return below, above
}

func lowest(poly []geom.Vec3, axis int) float64 {
	x := along(&poly[0], axis)
	for i := range poly {
		x = min(x, along(&poly[i], axis))
	}
	return x
}

func highest(poly []geom.Vec3, axis int) float64 {
	x := along(&poly[0], axis)
	for i := range poly {
		x = max(x, along(&poly[i], axis))
	}
	return x
}
