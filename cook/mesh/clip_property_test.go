package mesh

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/partition"
)

// clipCase draws a grid and where a mesh for it has its corners.
type clipCase struct {
	origin, size geom.Vec3
	cells        [3]int32
	grid         ClipGrid
	lattice      bool
}

func drawClipCase(t *rapid.T) *clipCase {
	c := &clipCase{lattice: rapid.Bool().Draw(t, "lattice")}
	far := rapid.SampledFrom([]float64{0, 0, 100, 6.4e6}).Draw(t, "far")
	for i := range 3 {
		c.size[i] = rapid.SampledFrom([]float64{1, 25, 0.1, 7.3, 10000}).Draw(t, "size")
		c.origin[i] = math.Floor(far*rapid.Float64Range(-1, 1).Draw(t, "origin")/c.size[i]) * c.size[i]
		c.cells[i] = rapid.Int32Range(1, 6).Draw(t, "cells")
	}
	c.grid = gridOf(c.origin, c.size, c.cells[:]...)
	return c
}

// point draws a position in the range of cells or a little outside. With
// lattice it often has the exact coordinate of a plane.
func (c *clipCase) point(t *rapid.T) (p geom.Vec3) {
	for i := range p {
		x := rapid.Float64Range(-0.01, 1.01).Draw(t, "x") * float64(c.cells[i])
		if c.lattice && rapid.Bool().Draw(t, "snap") {
			x = math.Round(x)
		}
		p[i] = c.origin[i] + float64(x*c.size[i])
	}
	p[2] = -p[2]
	return p
}

// points draws corners; some lie close to others, which makes slivers.
func (c *clipCase) points(t *rapid.T, n int) []geom.Vec3 {
	out := make([]geom.Vec3, n)
	for i := range out {
		out[i] = c.point(t)
		if i > 0 && rapid.IntRange(0, 4).Draw(t, "near") == 0 {
			k := rapid.IntRange(0, i-1).Draw(t, "which")
			eps := rapid.SampledFrom([]float64{0, 1e-12, 1e-6, 1e-3}).Draw(t, "eps")
			for a := range 3 {
				out[i][a] = out[k][a] + (out[i][a]-out[k][a])*eps
			}
		}
	}
	return out
}

// closed draws a closed surface: an octahedron whose corners lie anywhere and
// whose sides are divided in four.
func (c *clipCase) closed(t *rapid.T) *Mesh {
	m := &Mesh{Positions: c.points(t, 18)}
	mid := map[[2]uint32]uint32{}
	middle := func(a, b uint32) uint32 {
		key := [2]uint32{min(a, b), max(a, b)}
		if mid[key] == 0 {
			mid[key] = uint32(6 + len(mid))
		}
		return mid[key]
	}
	for _, s := range [][3]uint32{{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}} {
		ab, bc, ca := middle(s[0], s[1]), middle(s[1], s[2]), middle(s[2], s[0])
		m.Indices = append(m.Indices, s[0], ab, ca, s[1], bc, ab, s[2], ca, bc, ab, bc, ca)
	}
	return m
}

// ball is a closed surface that does not meet itself.
func (c *clipCase) ball(t *rapid.T) *Mesh {
	m := c.closed(t)
	radius := rapid.Float64Range(2, 12).Draw(t, "radius")
	center := c.point(t)
	corner := [6]geom.Vec3{{1}, {-1}, {0, 1}, {0, -1}, {0, 0, 1}, {0, 0, -1}}
	copy(m.Positions, corner[:])
	for i := 0; i < len(m.Indices); i += 12 {
		a, b, c := m.Indices[i], m.Indices[i+3], m.Indices[i+6]
		for _, e := range [][3]uint32{{m.Indices[i+1], a, b}, {m.Indices[i+4], b, c}, {m.Indices[i+2], c, a}} {
			m.Positions[e[0]] = m.Positions[e[1]].Add(m.Positions[e[2]]).Normalize(0, geom.Vec3{})
		}
	}
	for i, p := range m.Positions {
		m.Positions[i] = p.Scale(radius).Add(center)
	}
	return m
}

func TestSplitSoup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClipCase(t)
		m := &Mesh{Positions: c.points(t, rapid.IntRange(3, 30).Draw(t, "points"))}
		for range rapid.IntRange(1, 20).Draw(t, "triangles") {
			for range 3 {
				m.Indices = append(m.Indices, uint32(rapid.IntRange(0, len(m.Positions)-1).Draw(t, "v")))
			}
		}
		was := copyOf(m)
		pieces := split(t, m, c.grid)
		if d := cmp.Diff(was.Positions, m.Positions) + cmp.Diff(was.Indices, m.Indices); d != "" {
			t.Fatalf("the source has changed: %s", d)
		}
		if d := cmp.Diff(pieces, m.Split(c.grid)); d != "" {
			t.Fatalf("not deterministic: %s", d)
		}
	})
}

// TestSplitClosed also takes the mesh apart into one mesh per triangle, each
// with a range of cells of its own: no vertex may depend on the neighbours or
// on the range.
func TestSplitClosed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClipCase(t)
		m := c.closed(t)
		if rapid.Bool().Draw(t, "move") {
			// The surface's edges match by place, not by vertex.
			m.FlatNormals()
		}
		whole := split(t, m, c.grid)

		var single []Piece
		for i := 0; i < len(m.Indices); i += 3 {
			s := &Mesh{Positions: m.Positions, Indices: m.Indices[i : i+3]}
			single = append(single, s.Split(c.narrow(s))...)
		}
		for _, stored := range []bool{false, true} {
			if open := edgeBalance(stored, meshesOf(single)...); len(open) != 0 {
				t.Fatalf("%d edges between objects are open: %v", len(open), open)
			}
		}
		// The whole and its parts have the same surface, edge by edge.
		if a, b := places(whole), places(single); !cmp.Equal(a, b) {
			t.Fatalf("the whole and its triangles differ: %s", cmp.Diff(a, b))
		}
	})
}

// TestSplitPlanesIndependent: a plane cuts an edge where it would without the
// other planes, as it must for objects that share the edge but, sticking out
// of their cells by less than 0.1 mm, not the planes.
func TestSplitPlanesIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClipCase(t)
		m := c.closed(t)
		axis := rapid.IntRange(0, 2).Draw(t, "axis")
		var all, one ClipGrid
		all.Planes[axis] = c.grid.Planes[axis]
		whole := places(split(t, m, all))
		for _, p := range c.grid.Planes[axis] {
			one.Planes[axis] = []float64{p}
			for q := range places(split(t, m, one)) {
				if !whole[q] {
					t.Fatalf("with all planes, plane %v does not cut at %v", p, q)
				}
			}
		}
	})
}

// narrow is the grid of the cells that a mesh's triangles overlap only.
func (c *clipCase) narrow(m *Mesh) ClipGrid {
	g := c.grid
	box := geom.EmptyBox()
	for _, v := range m.Indices {
		box = box.Extend(m.Positions[v])
	}
	lo, hi := geom.Vec3{box.Min[0], box.Min[1], -box.Max[2]}, geom.Vec3{box.Max[0], box.Max[1], -box.Min[2]}
	for i := range 3 {
		first, last := cellSpan(g.Planes[i], lo[i], hi[i], 0)
		g.Planes[i] = g.Planes[i][first:last]
	}
	return g
}

// places is the set of all places of vertices.
func places(pieces []Piece) map[geom.Vec3]bool {
	out := map[geom.Vec3]bool{}
	for _, p := range pieces {
		for _, v := range p.Mesh.Indices {
			q := p.Mesh.Positions[v]
			out[geom.Vec3{q[0] + 0, q[1] + 0, q[2] + 0}] = true
		}
	}
	return out
}

// TestSplitPlan splits what the partition assigned to tiles: every tile of the
// plan's range is cut at the planes of its cell, and at those only.
func TestSplitPlan(t *testing.T) {
	race.Checks(t, 25) // make test does all of them without the detector
	rapid.Check(t, func(t *rapid.T) {
		c := &clipCase{size: geom.Vec3{20, 5, 20}, cells: [3]int32{9, 3, 9}, lattice: rapid.Bool().Draw(t, "lattice")}
		c.origin[0] = rapid.SampledFrom([]float64{0, -40.25, 6.4e6}).Draw(t, "origin")
		var meshes []*Mesh
		var objects []partition.Object
		for i := range rapid.IntRange(1, 4).Draw(t, "objects") {
			meshes = append(meshes, c.closed(t))
			objects = append(objects, partition.Object{ID: i, Name: fmt.Sprint(i), Box: meshes[i].Bounds(), Policy: partition.PolicyForceLocal})
		}
		plan, err := partition.Grid(objects, partition.GridOptions{TileSize: c.size, Clip: true})
		if err != nil {
			t.Fatalf("%v", err)
		}
		tiles := map[[3]int]partition.Tile{}
		for _, tile := range plan.Tiles {
			tiles[tile.Coord] = tile
		}
		for i, m := range meshes {
			r := plan.Objects[i].Cells
			for _, p := range split(t, m, NewClipGrid(plan, r)) {
				coord := [3]int{p.Cell[0] + int(r.Min[0]), p.Cell[1] + int(r.Min[1]), p.Cell[2] + int(r.Min[2])}
				tile, ok := tiles[coord]
				if !ok || !r.Contains(coord) {
					t.Fatalf("object %d has a piece in %v, not in its range %v", i, coord, r)
				}
				box := p.Mesh.Bounds()
				if !tile.Content.Contains(box, 0) {
					t.Fatalf("tile %v: %v is outside of its content %v", coord, box, tile.Content)
				}
				// 0.1 mm is what objects may stick out of their range.
				if !tile.Cell.Contains(box, 1.001e-4) {
					t.Fatalf("tile %v: %v is outside of its cell %v", coord, box, tile.Cell)
				}
			}
		}
	})
}

// TestSplitAttributesProperty: attributes that are linear in the position stay
// so, whatever is cut in which order.
func TestSplitAttributesProperty(t *testing.T) {
	uv := func(p geom.Vec3) (out [2]float32) {
		return [2]float32{float32(p[0]/8 - p[2]/4), float32(1 - p[1]/8 + p[2]/16)}
	}
	color := func(p geom.Vec3) [4]float32 {
		return [4]float32{float32(p[0]+100) / 200, float32(p[1]+100) / 200, float32(p[2]+100) / 200, float32(p[0]+p[1]+200) / 400}
	}
	rapid.Check(t, func(t *rapid.T) {
		c := &clipCase{size: geom.Vec3{7.3, 10, 4}, cells: [3]int32{5, 4, 6}, lattice: rapid.Bool().Draw(t, "lattice")}
		c.grid = gridOf(c.origin, c.size, c.cells[:]...)
		m := c.ball(t)
		for _, p := range m.Positions {
			m.UV[0], m.UV[1] = append(m.UV[0], uv(p)), append(m.UV[1], uv(p.Scale(2)))
			m.Colors = append(m.Colors, color(p))
			m.Normals = append(m.Normals, p.Normalize(0, geom.Vec3{1}).F32())
			d := p.Cross(geom.Vec3{1, 2, 3}).Normalize(0, geom.Vec3{1}).F32()
			m.Tangents = append(m.Tangents, [4]float32{d[0], d[1], d[2], -1})
		}
		type attributes struct {
			normal  [3]float32
			tangent [4]float32
		}
		seen := map[[3]float64]attributes{}
		for _, piece := range split(t, m, c.grid) {
			p := piece.Mesh
			for i, q := range p.Positions {
				near32(t, "uv0", p.UV[0][i][:], ptr(uv(q))[:])
				near32(t, "uv1", p.UV[1][i][:], ptr(uv(q.Scale(2)))[:])
				near32(t, "color", p.Colors[i][:], ptr(color(q))[:])
				if l := geom.FromF32(p.Normals[i]).Len(); math.Abs(l-1) > 1e-6 {
					t.Fatalf("normal of length %v", l)
				}
				if l := vec(p.Tangents[i]).Len(); math.Abs(l-1) > 1e-6 || p.Tangents[i][3] != -1 {
					t.Fatalf("tangent %v of length %v", p.Tangents[i], l)
				}
				// Both sides of a cut shade alike.
				a := attributes{p.Normals[i], p.Tangents[i]}
				if b, ok := seen[q]; ok && a != b {
					t.Fatalf("at %v: %v and %v", q, a, b)
				}
				seen[q] = a
			}
		}
	})
}

func ptr[T any](v T) *T { return &v }

func near32(t must, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if d := math.Abs(float64(got[i] - want[i])); d > 1e-5*(1+math.Abs(float64(want[i]))) {
			t.Fatalf("%s %v, want %v", what, got, want)
		}
	}
}

func TestCellSpanProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var planes []float64
		x := 0.0
		for range rapid.IntRange(0, 6).Draw(t, "planes") {
			x += float64(rapid.IntRange(0, 2).Draw(t, "step"))
			planes = append(planes, x)
		}
		lo := rapid.Float64Range(-1, 8).Draw(t, "lo")
		hi := lo + rapid.Float64Range(0, 8).Draw(t, "size")
		if rapid.Bool().Draw(t, "round") {
			lo, hi = math.Floor(lo), math.Floor(hi)
		}
		wantFirst, wantLast := 0, 0
		for _, p := range planes {
			if p <= lo {
				wantFirst++
			}
			if p <= lo || p < hi {
				wantLast++
			}
		}
		hint := rapid.IntRange(0, len(planes)).Draw(t, "hint")
		if first, last := cellSpan(planes, lo, hi, hint); first != wantFirst || last != wantLast {
			t.Fatalf("%v to %v in %v: %d to %d, want %d to %d", lo, hi, planes, first, last, wantFirst, wantLast)
		}
	})
}
