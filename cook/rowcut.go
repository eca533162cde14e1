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
	z     []float64 // by vertex, in the world
	place []uint32  // by vertex: the same for those in the same place; nil if no tangents are made
	near  []uint64  // by place, some of which share a bit: scratch space of some
	remap []uint32  // by vertex: its number in what take gathers, plus one

	work       int64 // the sum of the squares of how many rows a triangle reaches
	begin, end []int // by row: how many triangles begin in it or before, and how many end
}

func newRowCut(b *tileBuilder, at placed, p *gltfscene.Primitive, world *geom.Mat4, grid mesh.ClipGrid) *rowCut {
	return &rowCut{b: b, of: part{placed: at, slot: p.Slot, material: b.material(p.Material)}, p: p, world: world, grid: grid}
}

// rowBatch is how many vertices or triangles are looked at together.
const rowBatch = 1 << 16

// mostRowWork is how many rows triangles may reach, by the mean of the squares: each is cut
// in every row that it reaches, at the planes of all of them.
const mostRowWork = 4

// divides tells whether rows can be cut by themselves, and there are several. Tangents that
// are made of texture coordinates with no direction, and directions that are repaired,
// depend on more than what is near; large triangles would be cut too often.
func (c *rowCut) divides() bool {
	c.locate()
	c.count()
	first := slices.IndexFunc(c.begin, func(n int) bool { return n > 0 })
	if c.end[first] == c.triangles() {
		return false // Split may return a mesh in one cell itself
	}
	if c.work > mostRowWork*int64(c.triangles()) {
		return false
	}
	n := len(c.p.Positions)
	for from := 0; from < n; from += rowBatch {
		m := mesh.Mesh{Positions: make([]geom.Vec3, min(rowBatch, n-from))}
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
	for from := 0; from < c.triangles(); from += rowBatch {
		part := c.take(from, min(from+rowBatch, c.triangles()), func(int) bool { return true })
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

// locate finds where the vertices are.
func (c *rowCut) locate() {
	c.z, c.remap = make([]float64, len(c.p.Positions)), make([]uint32, len(c.p.Positions))
	first := c.take(0, 1, func(int) bool { return true })
	if m := c.moved(&first); (m.Normals == nil || m.Tangents == nil) && m.UV[0] != nil {
		c.place = make([]uint32, len(c.p.Positions))
		n := 1
		for 8*n < len(c.place) { // eight bits for each, so that few share one
			n *= 2
		}
		c.near = make([]uint64, n)
	}
	for i, v := range c.p.Positions {
		at := geom.FromF32(v)
		if *c.world != geom.Identity() {
			at = c.world.Point(at)
		}
		c.z[i] = at[2]
		if c.place != nil {
			c.place[i] = placeHash(at)
		}
	}
}

// placeHash returns the same for the same place; both zeros are one.
func placeHash(at geom.Vec3) uint32 {
	h := uint64(0)
	for _, x := range at {
		h = (h ^ math.Float64bits(x+0)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return uint32(h >> 32)
}

// rows returns the rows that a triangle reaches.
func (c *rowCut) rows(triangle, hint int) (first, last int) {
	t := c.p.Indices[3*triangle : 3*triangle+3]
	return c.grid.Rows(c.z[t[0]], c.z[t[1]], c.z[t[2]], hint)
}

// take gathers some of the triangles between two numbers, in their order.
func (c *rowCut) take(from, to int, wanted func(triangle int) bool) gltfscene.Primitive {
	out := gltfscene.Primitive{Slot: c.p.Slot, Material: c.p.Material}
	var used []uint32
	for t := from; t < to; t++ {
		if !wanted(t) {
			continue
		}
		for _, v := range c.p.Indices[3*t : 3*t+3] {
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
	limit := int(max(1, most/(1+cutBytes(loadOf(c.p))/int64(c.triangles()))))
	gone := 0
	for first := 0; first < len(c.begin); {
		last := first
		for last+1 < len(c.begin) && c.begin[last+1]-gone <= limit {
			last++
		}
		if c.begin[last] > gone {
			if err := c.some(first, last, f); err != nil {
				return err
			}
		}
		gone, first = c.end[last], last+1
	}
	return nil
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

// some cuts the rows from first to last.
func (c *rowCut) some(first, last int, f func(of *part, piece *mesh.Piece) error) error {
	hint := 0
	reaches := func(t int) bool {
		lo, hi := c.rows(t, hint)
		hint = lo
		return hi >= first && lo <= last
	}
	wanted := reaches
	if c.place != nil {
		// Tangents depend on all triangles around a corner. Others that are taken with
		// them do no harm.
		near, mask := c.near, uint32(64*len(c.near)-1)
		clear(near)
		for t := range c.triangles() {
			if reaches(t) {
				for _, v := range c.p.Indices[3*t : 3*t+3] {
					h := c.place[v] & mask
					near[h/64] |= 1 << (h % 64)
				}
			}
		}
		wanted = func(t int) bool {
			for _, v := range c.p.Indices[3*t : 3*t+3] {
				if h := c.place[v] & mask; near[h/64]>>(h%64)&1 != 0 {
					return true
				}
			}
			return false
		}
	}
	p := c.take(0, c.triangles(), wanted)
	m := c.b.bakePrimitive(c.of.placed, &p, c.world).shape
	p = gltfscene.Primitive{}
	return m.SplitRows(c.grid, first, last, func(piece mesh.Piece) error { return f(&c.of, &piece) })
}
