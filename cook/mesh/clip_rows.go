package mesh

import "slices"

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
