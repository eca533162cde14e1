package border

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// stripOf is a mesh of ground on one side of x = 0, as stored, with its cell.
func stripOf(heights []float64, dx float64, columns int) (*simplify.Mesh, *Cell) {
	p, indices := ground(heights, dx, columns)
	for i := range heights {
		p[i][1] = heights[i]
	}
	m := &simplify.Mesh{Positions: p, Indices: indices, Groups: make([]int32, len(indices)/3)}
	x := dx * float64(columns)
	return m, &Cell{
		Box:   geom.Box{Min: geom.Vec3{min(0, x), -100, 0}, Max: geom.Vec3{max(0, x), 100, float64(len(heights) - 1)}},
		Width: float64(len(heights) - 1),
	}
}

// TestNeighboursFindTheSameLevels: both sides have the same edges on each level; places
// of coarser levels are among those of the finer ones; and what a level leaves out lies
// on its edges or in the strips that close it.
func TestNeighboursFindTheSameLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		heights := rapid.SliceOfN(rapid.Float64Range(-0.3, 0.3), 3, 40).Draw(t, "heights")
		for i := range heights {
			heights[i] = float64(float32(heights[i]))
		}
		var finer [2]map[geom.Vec3]bool
		for _, ratio := range []float64{0.5, 0.2, 0.06} {
			var found [2]map[[2]geom.Vec3]bool
			for side, dx := range []float64{-9, 11} {
				m, cell := stripOf(heights, dx, rapid.IntRange(1, 3).Draw(t, "columns"))
				l := Find(m, []int32{7}, cell).At(ratio, false)
				settled := l.Settle(m)
				found[side] = edges(settled.Positions, settled.Indices)
				places := map[geom.Vec3]bool{}
				for e := range found[side] {
					places[e[0]], places[e[1]] = true, true
				}
				for p := range places {
					if finer[side] != nil && !finer[side][p] {
						t.Fatalf("ratio %v: %v is no place of the finer level", ratio, p)
					}
				}
				finer[side] = places
				assertClosed(t, m, l.Close(settled, 0), heights, found[side])
			}
			if !maps.Equal(found[0], found[1]) || len(found[0]) == 0 {
				t.Fatalf("ratio %v: %v and %v", ratio, found[0], found[1])
			}
		}
	})
}

// assertClosed looks for places of the full border that neither edges nor strips hold.
func assertClosed(t *rapid.T, full, closed *simplify.Mesh, heights []float64, left map[[2]geom.Vec3]bool) {
	for i := range heights {
		p, held := full.Positions[i], false
		for e := range left {
			held = held || fromSegment(p, e[0], e[1]) < 1e-5
		}
		for k := 0; k < len(closed.Indices) && !held; k += 3 {
			a, b, c := closed.Positions[closed.Indices[k]], closed.Positions[closed.Indices[k+1]], closed.Positions[closed.Indices[k+2]]
			held = a[0] == 0 && b[0] == 0 && c[0] == 0 && holds(p, a, b, c)
		}
		if !held {
			t.Fatalf("%v lies in a gap that nothing closes", p)
		}
	}
}

// holds reports whether a point of x = 0 lies in a triangle there, or at its rim.
func holds(p, a, b, c geom.Vec3) bool {
	turn := func(a, b geom.Vec3) float64 { return b.Sub(a).Cross(p.Sub(a))[0] }
	u, v, w := turn(a, b), turn(b, c), turn(c, a)
	const rim = 1e-6
	return min(u, v, w) >= -rim || max(u, v, w) <= rim
}

// TestLooksEndEdges: where the material changes on a straight line, the place stays.
func TestLooksEndEdges(t *testing.T) {
	m, cell := stripOf(make([]float64, 41), 5, 2)
	for i := range m.Groups {
		if m.Positions[m.Indices[3*i]][2] >= 17 {
			m.Groups[i] = 1
		}
	}
	change := geom.Vec3{0, 0, 17}
	for _, c := range []struct {
		labels []int32
		kept   bool
	}{{[]int32{3, 4}, true}, {[]int32{3, 3}, false}} {
		l := Find(m, c.labels, cell).At(0.5, false)
		s := l.Settle(m)
		if e := edges(s.Positions, s.Indices); len(e) != few {
			t.Errorf("labels %v: edges %v", c.labels, e)
		}
		if l.kept[change] != c.kept {
			t.Errorf("labels %v: the change is kept: %v", c.labels, l.kept[change])
		}
	}
}

// TestSettleTakesAttributes: what moves along a surface looks as that does where it
// goes, and the mesh it came from is not touched.
func TestSettleTakesAttributes(t *testing.T) {
	m, cell := stripOf(make([]float64, 21), 5, 2)
	for _, p := range m.Positions {
		m.UV[0] = append(m.UV[0], [2]float32{float32(p[0]), float32(p[2]) / 64})
		m.Normals = append(m.Normals, [3]float32{0, 1, 0})
	}
	before := slices.Clone(m.Positions)
	s := Find(m, []int32{0}, cell).At(0.5, false).Settle(m)
	for _, v := range s.Indices {
		if p := s.Positions[v]; s.UV[0][v] != [2]float32{float32(p[0]), float32(p[2]) / 64} {
			t.Fatalf("at %v the texture has %v", p, s.UV[0][v])
		}
	}
	if !slices.Equal(before, m.Positions) {
		t.Error("the source has moved")
	}
}

// TestSkirtsOfAnyOrder: an edge whose ends were exchanged by collapses has its strip,
// too, and shallow gaps have none.
func TestSkirtsOfAnyOrder(t *testing.T) {
	for _, heights := range [][]float64{{0.3, 0.1, 0, 0, 0, 0.2}, {0, 0.1, 0.3, 0.3, 0.3, 0.1}, {0.9, 0.835, 0.95, 0.92, 0.81}} {
		m, cell := stripOf(slices.Repeat(heights, 4), 60, 1)
		cell.Width = 60
		l := Find(m, []int32{0}, cell).At(0.06, false)
		s := l.Settle(m)
		off := 0
		for i := range l.edges {
			if l.edges[i].off(0) {
				off++
			}
		}
		if n := l.Skirts(s, 0); off == 0 || n < off {
			t.Errorf("%v: %d edges are off, %d triangles close them", heights, off, n)
		}
		if n := l.Skirts(s, 10); n != 0 {
			t.Errorf("%v: %d triangles close gaps below 10 m", heights, n)
		}
	}
}

// TestNothingCut: what lies within a cell has no border, and odd input does no harm.
func TestNothingCut(t *testing.T) {
	m, _ := stripOf(make([]float64, 5), 5, 1)
	if b := Find(m, []int32{0}, &Cell{Box: geom.Box{Min: geom.Vec3{-9, -9, -9}, Max: geom.Vec3{99, 99, 99}}, Width: 9}); b != nil {
		t.Error("a border where nothing was cut")
	}
	if b := Find(&simplify.Mesh{}, nil, &Cell{}); b != nil {
		t.Error("a border of nothing")
	}
}

// TestSidesAlone: what ends at a side that no other cell has holds the levels that are not
// free there.
func TestSidesAlone(t *testing.T) {
	m, cell := stripOf(make([]float64, 9), 5, 2)
	for side := range sides {
		cell.Alone[side] = true
		b := Find(m, []int32{0}, cell)
		if held, free := b.At(0.5, false), b.At(0.5, true); len(held.kept) == 0 || (len(free.kept) == 0) != (side == sides-1) {
			t.Errorf("sides up to %d are alone: %d and %d places are kept", side, len(held.kept), len(free.kept))
		}
	}
}
