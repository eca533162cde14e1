package mesh

import (
	"cmp"
	"slices"
)

// Piece is the part of a mesh in one cell of a ClipGrid.
type Piece struct {
	Cell [3]int // along u, h and v, each from 0 to the number of planes
	Mesh *Mesh
}

// Split cuts the mesh exactly at the grid's planes (Sutherland and Hodgman,
// "Reentrant polygon clipping", 1974) and returns a mesh per cell that holds
// any triangle, sorted by v, then h, then u.
//
// Every point of the surface ends up in exactly one piece: a cell holds what
// lies between its planes, and of the triangles that lie in a plane those at
// its low side, as the cells of the partition do. Whether and where an edge is
// cut depends on nothing but its two ends and the planes, so that triangles
// that share an edge, in this mesh or another, and the pieces on both sides of
// a plane get the same vertices, bit for bit: no cracks, no T-junctions. The
// coordinate of a cut vertex along the cut axis is the plane's, exactly; no
// other coordinate leaves the range of the edge's ends.
//
// Attributes are interpolated along the cut edge, normals and tangents
// renormalised; a vertex has the same attributes on both sides of a cut.
// Normals and tangents must therefore be there before the mesh is split.
// Vertices that only triangles of other cells use are left out; a triangle
// that no plane cuts keeps its corners and their order.
//
// A mesh with triangles in one cell only is returned itself, not a copy; else
// the pieces share nothing with it. A mesh without triangles has no pieces.
// Positions must be finite. The mesh is only read. The cost is linear in the
// triangles and in the polygons that they are cut into; see CountSplit.
func (m *Mesh) Split(g ClipGrid) (out []Piece) {
	m.SplitEach(g, func(p Piece) error {
		out = append(out, p)
		return nil
	})
	return out
}

// SplitEach is Split that hands each piece to f as soon as it is made, so that not all
// of them need be in memory. It ends with the first error of f and returns it.
func (m *Mesh) SplitEach(g ClipGrid, f func(Piece) error) error {
	if len(m.Indices) < 3 {
		return nil
	}
	if cell, ok := g.cellOfAll(m); ok {
		return f(Piece{Cell: cell, Mesh: m})
	}
	c := newClipper(m, g)
	for i := 0; i+2 < len(m.Indices); i += 3 {
		c.triangle([3]uint32(m.Indices[i : i+3]))
	}
	if len(c.buckets) == 1 && len(c.cuts) == 0 {
		return f(Piece{Cell: c.buckets[0].cell, Mesh: m})
	}
	return c.pieces(f)
}

// clipper is one run of Split.
type clipper struct {
	grid ClipGrid
	src  *Mesh
	// m holds the source's vertices and, behind them, those made by cuts. Its
	// slices are the source's until the first cut appends to them.
	m       Mesh
	cuts    map[cutKey]uint32
	buckets []clipBucket
	lookup  map[[3]int]int // buckets by cell
	current int            // the bucket used last
	scratch [3]clipScratch // by axis
	hint    [3]int         // the cells of the last triangle
	side    []int8
	ears    []uint32
}

// clipBucket gathers the triangles of a cell.
type clipBucket struct {
	cell    [3]int
	indices []uint32 // into clipper.m
}

func newClipper(m *Mesh, g ClipGrid) *clipper {
	c := &clipper{grid: g, src: m, m: *m, cuts: map[cutKey]uint32{}, lookup: map[[3]int]int{}}
	c.m.Indices = nil
	c.m.Positions = slices.Clip(m.Positions)
	c.m.Normals, c.m.Tangents = slices.Clip(m.Normals), slices.Clip(m.Tangents)
	c.m.UV[0], c.m.UV[1] = slices.Clip(m.UV[0]), slices.Clip(m.UV[1])
	c.m.Colors = slices.Clip(m.Colors)
	return c
}

// triangle sorts a triangle into its cell, or cuts it into several.
func (c *clipper) triangle(t [3]uint32) {
	var cell [3]int
	cut := false
	for axis := range 3 {
		first, last := c.grid.span(axis, c.src, t, c.hint[axis])
		cell[axis], cut = first, cut || last > first
	}
	c.hint = cell
	if !cut {
		b := c.bucket(cell)
		b.indices = append(b.indices, t[0], t[1], t[2])
		return
	}
	c.cut(0, []clipCorner{
		{v: t[0], from: t[0], to: t[1]}, {v: t[1], from: t[1], to: t[2]}, {v: t[2], from: t[2], to: t[0]},
	}, cell)
}

// bucket returns the bucket of a cell. The pointer holds until the next call.
func (c *clipper) bucket(cell [3]int) *clipBucket {
	if c.current < len(c.buckets) && c.buckets[c.current].cell == cell {
		return &c.buckets[c.current]
	}
	k, ok := c.lookup[cell]
	if !ok {
		k = len(c.buckets)
		c.lookup[cell] = k
		c.buckets = append(c.buckets, clipBucket{cell: cell})
	}
	c.current = k
	return &c.buckets[k]
}

// pieces makes meshes of the buckets.
func (c *clipper) pieces(f func(Piece) error) error {
	c.cuts, c.lookup = nil, nil
	slices.SortFunc(c.buckets, func(a, b clipBucket) int {
		return cmp.Or(cmp.Compare(a.cell[2], b.cell[2]), cmp.Compare(a.cell[1], b.cell[1]), cmp.Compare(a.cell[0], b.cell[0]))
	})
	remap := make([]uint32, len(c.m.Positions)) // vertex + 1, 0 between pieces
	var used []uint32
	for i := range c.buckets {
		b := &c.buckets[i]
		used = used[:0]
		for k, v := range b.indices {
			if remap[v] == 0 {
				used = append(used, v)
				remap[v] = uint32(len(used))
			}
			b.indices[k] = remap[v] - 1
		}
		for _, v := range used {
			remap[v] = 0
		}
		if err := f(Piece{Cell: b.cell, Mesh: c.m.take(used, b.indices)}); err != nil {
			return err
		}
		b.indices = nil
	}
	return nil
}

// take returns a mesh of some of the vertices.
func (m *Mesh) take(vertices, indices []uint32) *Mesh {
	return &Mesh{
		Positions: gather(m.Positions, vertices),
		Normals:   gather(m.Normals, vertices),
		Tangents:  gather(m.Tangents, vertices),
		UV:        [2][][2]float32{gather(m.UV[0], vertices), gather(m.UV[1], vertices)},
		Colors:    gather(m.Colors, vertices),
		Indices:   indices,
	}
}
