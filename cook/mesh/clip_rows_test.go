package mesh

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestSplitRows: rows that are split by themselves, of the triangles that reach them, give
// the pieces of the whole.
func TestSplitRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClipCase(t)
		m := &Mesh{Positions: c.points(t, rapid.IntRange(3, 30).Draw(t, "points"))}
		for i := range m.Positions {
			m.Normals = append(m.Normals, [3]float32{float32(i), 1, 0})
		}
		for range rapid.IntRange(1, 20).Draw(t, "triangles") {
			for range 3 {
				m.Indices = append(m.Indices, uint32(rapid.IntRange(0, len(m.Positions)-1).Draw(t, "corner")))
			}
		}
		want := m.Split(c.grid)
		if len(want) < 2 {
			return // it may be m itself
		}
		var got []Piece
		rows := len(c.grid.Planes[2]) + 1
		for first := 0; first < rows; {
			last := rapid.IntRange(first, rows-1).Draw(t, "last")
			part := *m
			part.Indices = nil
			for i := 0; i < len(m.Indices); i += 3 {
				v := m.Indices[i : i+3]
				lo, hi := c.grid.Rows(m.Positions[v[0]][2], m.Positions[v[1]][2], m.Positions[v[2]][2], 0)
				if hi >= first && lo <= last || rapid.IntRange(0, 3).Draw(t, "others") == 0 {
					part.Indices = append(part.Indices, v...)
				}
			}
			if err := part.SplitRows(c.grid, first, last, func(p Piece) error {
				got = append(got, p)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			first = last + 1
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%.900s", d)
		}
	})
}

// TestDirections: what has none is told.
func TestDirections(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		m    Mesh
		fine bool
	}{
		{Mesh{}, true},
		{Mesh{Normals: [][3]float32{{0, 1e-9, 0}}, Tangents: [][4]float32{{1, 0, 0, 1}}}, true},
		{Mesh{Normals: [][3]float32{{0, 1, 0}, {}}}, false},
		{Mesh{Normals: [][3]float32{{0, 1, nan}}}, false},
		{Mesh{Tangents: [][4]float32{{3: 1}}}, false},
	} {
		if c.m.Directed() != c.fine {
			t.Errorf("%+v", c.m)
		}
	}
	m := hills(2)
	if !m.UVsHaveDirections() {
		t.Error("a grid")
	}
	m.UV[0] = make([][2]float32, len(m.Positions))
	if m.UVsHaveDirections() {
		t.Error("texture coordinates of one point")
	}
	for i := range m.Positions {
		m.Positions[i] = m.Positions[0]
	}
	if !m.UVsHaveDirections() {
		t.Error("triangles without an area")
	}
}

// TestSplitCells: cells that are split by themselves, of the triangles that reach them, give
// the pieces of the whole.
func TestSplitCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClipCase(t)
		m := &Mesh{Positions: c.points(t, rapid.IntRange(3, 30).Draw(t, "points"))}
		for range 3 * rapid.IntRange(1, 20).Draw(t, "triangles") {
			m.Indices = append(m.Indices, uint32(rapid.IntRange(0, len(m.Positions)-1).Draw(t, "corner")))
		}
		all := m.Split(c.grid)
		if len(all) < 2 {
			return // it may be m itself
		}
		odds := rapid.IntRange(1, 9).Draw(t, "odds")
		chosen := map[[3]int]bool{}
		wanted := func(cell [3]int) bool {
			yes, known := chosen[cell]
			if !known {
				yes = rapid.IntRange(0, 9).Draw(t, "wanted") < odds
				chosen[cell] = yes
			}
			return yes
		}
		var want, got []Piece
		for _, p := range all {
			if wanted(p.Cell) {
				want = append(want, p)
			}
		}
		part := *m
		part.Indices = nil
		for i := 0; i < len(m.Indices); i += 3 {
			v := m.Indices[i : i+3]
			first, last := c.grid.Reach(&m.Positions[v[0]], &m.Positions[v[1]], &m.Positions[v[2]], [3]int{})
			if AnyCell(first, last, wanted) || rapid.IntRange(0, 3).Draw(t, "others") == 0 {
				part.Indices = append(part.Indices, v...)
			}
		}
		if err := part.SplitCells(c.grid, wanted, func(p Piece) error {
			got = append(got, p)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%.900s", d)
		}
	})
}
