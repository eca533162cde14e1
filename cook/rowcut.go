package cook

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
)

// rowCut bakes and splits a primitive some rows of tiles at a time, so that what it takes
// does not grow with the primitive: a terrain of one primitive may be larger than memory
// has room for its tangents. The pieces are those of all of it, bit for bit.
type rowCut struct {
	b     *tileBuilder
	of    part // of all pieces
	p     *gltfscene.Primitive
	world *geom.Mat4
	grid  mesh.ClipGrid
	z     []float64 // by vertex, in the world; nil once triangles are sorted
	place []uint32  // by vertex: the first in the same place; nil if no tangents are made, too
	remap []uint32  // by vertex: its number in what take gathers, plus one

	work       int64 // the sum of the squares of how many rows a triangle reaches
	begin, end []int // by row: how many triangles begin in it or before, and how many end
}

// rowBatch is some rows that are cut together.
type rowBatch struct {
	first, last int
	triangles   []uint32 // those that reach them, and those on which their tangents depend
}

func newRowCut(b *tileBuilder, at placed, p *gltfscene.Primitive, world *geom.Mat4, grid mesh.ClipGrid) *rowCut {
	return &rowCut{b: b, of: part{placed: at, slot: p.Slot, material: b.material(p.Material)}, p: p, world: world, grid: grid}
}

// lookBatch is how many vertices or triangles are looked at together.
const lookBatch = 1 << 16

// mostBatches is how many batches there are at most.
const mostBatches = math.MaxUint16

// mostRowWork is how many rows triangles may reach, by the mean of the squares: each is cut
// in every row that it reaches, at the planes of all of them.
const mostRowWork = 4

// divides tells whether rows can be cut by themselves, and there are several. Large
// triangles would be cut too often.
func (c *rowCut) divides() bool {
	if len(c.grid.Planes[2]) >= mostBatches {
		return false
	}
	c.locate()
	c.z = make([]float64, len(c.p.Positions))
	for i := range c.z {
		c.z[i] = c.at(uint32(i))[2]
	}
	c.count()
	first := slices.IndexFunc(c.begin, func(n int) bool { return n > 0 })
	if c.end[first] == c.triangles() {
		return false // Split may return a mesh in one cell itself
	}
	return c.work <= mostRowWork*int64(c.triangles()) && c.local()
}

// local tells whether what is in a cell depends on the triangles alone that reach it and on
// those that have a corner in the same place as these. Tangents that are made of texture
// coordinates with no direction, and directions that are repaired, depend on more.
func (c *rowCut) local() bool {
	n := len(c.p.Positions)
	for from := 0; from < n; from += lookBatch {
		c.b.garbage.check()
		m := mesh.Mesh{Positions: make([]geom.Vec3, min(lookBatch, n-from))}
		if c.p.Normals != nil {
			m.Normals = c.p.Normals[from : from+len(m.Positions)]
		}
		if c.p.Tangents != nil {
			m.Tangents = c.p.Tangents[from : from+len(m.Positions)]
		}
		if m.Transform(c.world); !m.Directed() {
			return false
		}
	}
	if c.place == nil {
		return true
	}
	for from := 0; from < c.triangles(); from += lookBatch {
		c.b.garbage.check()
		part := c.take(between(from, min(from+lookBatch, c.triangles())))
		if !c.moved(&part).UVsHaveDirections() {
			return false
		}
	}
	return true
}

func (c *rowCut) triangles() int { return len(c.p.Indices) / 3 }

// moved is a primitive before anything is repaired or made.
func (c *rowCut) moved(p *gltfscene.Primitive) *mesh.Mesh {
	m := meshOf(p, &c.b.plans[c.of.material])
	m.Transform(c.world)
	return m
}

// locate finds the vertices in the same place, if that matters.
func (c *rowCut) locate() {
	c.remap = make([]uint32, len(c.p.Positions))
	first := c.take(between(0, 1))
	if m := c.moved(&first); makesTangents(m) {
		c.place = firstInPlace(len(c.p.Positions), c.at)
	}
}

// at returns where a vertex is in the world.
func (c *rowCut) at(vertex uint32) geom.Vec3 {
	at := geom.FromF32(c.p.Positions[vertex])
	if *c.world != geom.Identity() {
		at = c.world.Point(at)
	}
	return at
}

// makesTangents tells whether bakePrimitive makes tangents of a mesh as it is before.
func makesTangents(m *mesh.Mesh) bool {
	return (m.Normals == nil || m.Tangents == nil) && m.UV[0] != nil
}

// between are the numbers from first to before last.
func between(first, last int) []uint32 {
	out := make([]uint32, last-first)
	for i := range out {
		out[i] = uint32(first + i)
	}
	return out
}

// rows returns the rows that a triangle reaches.
func (c *rowCut) rows(triangle, hint int) (first, last int) {
	t := c.p.Indices[3*triangle : 3*triangle+3]
	return c.grid.Rows(c.z[t[0]], c.z[t[1]], c.z[t[2]], hint)
}

// take gathers some of the triangles.
func (c *rowCut) take(triangles []uint32) gltfscene.Primitive {
	out := gltfscene.Primitive{Slot: c.p.Slot, Material: c.p.Material, Indices: make([]uint32, 0, 3*len(triangles))}
	var used []uint32
	for _, t := range triangles {
		for _, v := range c.p.Indices[3*t:][:3] {
			if c.remap[v] == 0 {
				used = append(used, v)
				c.remap[v] = uint32(len(used))
			}
			out.Indices = append(out.Indices, c.remap[v]-1)
		}
	}
	for _, v := range used {
		c.remap[v] = 0
	}
	out.Positions, out.Normals, out.Tangents = pick(c.p.Positions, used), pick(c.p.Normals, used), pick(c.p.Tangents, used)
	out.UV = [2][][2]float32{pick(c.p.UV[0], used), pick(c.p.UV[1], used)}
	out.Colors = pick(c.p.Colors, used)
	return out
}

// each hands every piece to f, in the order of Mesh.SplitEach. Rows are taken together as
// long as they take no more than so many bytes; one row may take more.
func (c *rowCut) each(most int64, f func(of *part, piece *mesh.Piece) error) error {
	batches := c.batches(most)
	c.sort(batches)
	c.z, c.place = nil, nil
	for i := range batches {
		c.b.garbage.check()
		if err := c.some(&batches[i], f); err != nil {
			return err
		}
	}
	return nil
}

// batches divides the rows, without their triangles.
func (c *rowCut) batches(most int64) (out []rowBatch) {
	limit := int(max(1, most/(1+cutBytes(loadOf(c.p))/int64(c.triangles()))))
	gone := 0
	for first := 0; first < len(c.begin); {
		last := first
		for last+1 < len(c.begin) && c.begin[last+1]-gone <= limit {
			last++
		}
		out = append(out, rowBatch{first: first, last: last})
		gone, first = c.end[last], last+1
	}
	return out
}

// sort finds the triangles of all batches, so that they are not looked for once for each.
// Tangents depend on all triangles around a corner.
func (c *rowCut) sort(batches []rowBatch) {
	of := make([]uint16, len(c.begin)) // by row
	for i := range batches {
		for row := batches[i].first; row <= batches[i].last; row++ {
			of[row] = uint16(i)
		}
	}
	type span struct{ first, last uint16 }
	var around []span // by place: the batches that triangles reach which have a corner there
	hint := 0
	reached := func(t int) span {
		first, last := c.rows(t, hint)
		hint = first
		return span{of[first], of[last]}
	}
	wanted := reached
	if c.place != nil {
		around = make([]span, len(c.place))
		for v := range around {
			around[v].first = mostBatches
		}
		for t := range c.triangles() {
			s := reached(t)
			for _, v := range c.p.Indices[3*t:][:3] {
				a := &around[c.place[v]]
				a.first, a.last = min(a.first, s.first), max(a.last, s.last)
			}
		}
		wanted = func(t int) span {
			s := span{first: mostBatches}
			for _, v := range c.p.Indices[3*t:][:3] {
				a := around[c.place[v]]
				s.first, s.last = min(s.first, a.first), max(s.last, a.last)
			}
			return s
		}
	}
	ends := make([]int, len(batches)+1) // of the batch before
	for t := range c.triangles() {
		for s := wanted(t); s.first <= s.last; s.first++ {
			ends[s.first+1]++
		}
	}
	for i := range batches {
		ends[i+1] += ends[i]
	}
	all := make([]uint32, ends[len(batches)])
	for i := range batches {
		batches[i].triangles = all[ends[i]:ends[i]:ends[i+1]]
	}
	for t := range c.triangles() {
		for s := wanted(t); s.first <= s.last; s.first++ {
			b := &batches[s.first]
			b.triangles = append(b.triangles, uint32(t))
		}
	}
}

func (c *rowCut) count() {
	n := len(c.grid.Planes[2]) + 1
	c.begin, c.end = make([]int, n), make([]int, n)
	hint := 0
	for t := range c.triangles() {
		first, last := c.rows(t, hint)
		c.begin[first]++
		c.end[last]++
		n := int64(last-first) + 1
		c.work += n * n
		hint = first
	}
	for i := 1; i < n; i++ {
		c.begin[i] += c.begin[i-1]
		c.end[i] += c.end[i-1]
	}
}

// some cuts the rows of a batch.
func (c *rowCut) some(b *rowBatch, f func(of *part, piece *mesh.Piece) error) error {
	if len(b.triangles) == 0 {
		return nil
	}
	p := c.take(b.triangles)
	b.triangles = nil
	m := c.b.bakePrimitive(c.of.placed, &p, c.world).shape
	p = gltfscene.Primitive{}
	return m.SplitRows(c.grid, b.first, b.last, func(piece mesh.Piece) error { return f(&c.of, &piece) })
}
