package mesh

import (
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// Rows returns the first and the last row, which is a cell's number along v, that a
// triangle reaches whose corners have such Z coordinates. hint is a row that is likely.
func (g *ClipGrid) Rows(a, b, c float64, hint int) (first, last int) {
	planes := g.Planes[2]
	if len(planes) == 0 {
		return 0, 0
	}
	lo, hi := widen(-a, -a, -b)
	lo, hi = widen(lo, hi, -c)
	return cellSpan(planes, lo, hi, hint)
}

// Reach returns the first and the last cell along each axis that a triangle with such
// corners has a part in. hint is a cell that is likely.
func (g *ClipGrid) Reach(a, b, c *geom.Vec3, hint [3]int) (first, last [3]int) {
	for axis, planes := range g.Planes {
		if len(planes) == 0 {
			continue
		}
		lo := along(a, axis)
		lo, hi := widen(lo, lo, along(b, axis))
		lo, hi = widen(lo, hi, along(c, axis))
		first[axis], last[axis] = cellSpan(planes, lo, hi, hint[axis])
	}
	return first, last
}

// SplitRows is SplitEach for the cells of the rows from first to last alone; see Rows. The
// pieces of a mesh in several rows are those of SplitEach, bit for bit, if m is what all
// of its triangles that reach these rows make, in their order. None is m itself.
func (m *Mesh) SplitRows(g ClipGrid, first, last int, f func(Piece) error) error {
	c := newClipper(m, g)
	for i := 0; i+2 < len(m.Indices); i += 3 {
		t := [3]uint32(m.Indices[i : i+3])
		if lo, hi := g.span(2, m, t, c.hint[2]); hi >= first && lo <= last {
			c.triangle(t)
		}
	}
	c.buckets = slices.DeleteFunc(c.buckets, func(b clipBucket) bool { return b.cell[2] < first || b.cell[2] > last })
	return c.pieces(f)
}

// SplitCells is SplitEach for some cells alone. The pieces of a mesh with triangles in
// several cells are those of SplitEach, bit for bit, if m is what all of its triangles
// make, in their order, that reach a wanted cell; see Reach. None is m itself.
func (m *Mesh) SplitCells(g ClipGrid, wanted func(cell [3]int) bool, f func(Piece) error) error {
	c := newClipper(m, g)
	for i := 0; i+2 < len(m.Indices); i += 3 {
		t := [3]uint32(m.Indices[i : i+3])
		first, last := g.Reach(&m.Positions[t[0]], &m.Positions[t[1]], &m.Positions[t[2]], c.hint)
		if AnyCell(first, last, wanted) {
			c.triangle(t)
		}
	}
	c.buckets = slices.DeleteFunc(c.buckets, func(b clipBucket) bool { return !wanted(b.cell) })
	return c.pieces(f)
}

// AnyCell reports whether one of the cells from first to last is wanted.
func AnyCell(first, last [3]int, wanted func(cell [3]int) bool) bool {
	for v := first[2]; v <= last[2]; v++ {
		for h := first[1]; h <= last[1]; h++ {
			for u := first[0]; u <= last[0]; u++ {
				if wanted([3]int{u, h, v}) {
					return true
				}
			}
		}
	}
	return false
}
