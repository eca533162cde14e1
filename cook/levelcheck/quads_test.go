package levelcheck

import (
	"testing"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/internal/geom"
)

// panes is a row of quads of 2 x 1 m in one plane, a metre apart.
func panes(n int) *appearance.Mesh {
	m := &appearance.Mesh{}
	for i := range n {
		addFace(m, geom.Vec3{float64(3 * i)}, geom.Vec3{2, 0, 0}, geom.Vec3{0, 1, 0})
	}
	return m
}

// addFace adds a quad with vertices of its own.
func addFace(m *appearance.Mesh, at, u, v geom.Vec3) {
	first := uint32(len(m.Positions))
	n := u.Cross(v).Normalize(1e-9, geom.Vec3{})
	for _, p := range []geom.Vec3{at, at.Add(u), at.Add(u).Add(v), at.Add(v)} {
		m.Positions = append(m.Positions, p)
		m.Normals = append(m.Normals, n.F32())
		m.UV = append(m.UV, [2]float32{})
		m.Colors = append(m.Colors, [4]float32{1, 1, 1, 1})
	}
	m.Indices = append(m.Indices, first, first+1, first+2, first, first+2, first+3)
	m.Materials = append(m.Materials, 0, 0)
}

// without returns a mesh without some triangles.
func without(m *appearance.Mesh, gone ...int) *appearance.Mesh {
	out := *m
	out.Indices, out.Materials = nil, nil
	for t := range m.Materials {
		skip := false
		for _, g := range gone {
			skip = skip || t == g
		}
		if !skip {
			out.Indices = append(out.Indices, m.Indices[3*t:3*t+3]...)
			out.Materials = append(out.Materials, 0)
		}
	}
	return &out
}

func TestHalfQuads(t *testing.T) {
	c := &checker{kindOf: []int32{0, 1}}
	full := panes(5)
	quads := findQuads(full)
	if len(quads) != 5 {
		t.Fatalf("%d quads of 5", len(quads))
	}
	bent := without(full)
	bent.Positions = append([]geom.Vec3(nil), full.Positions...)
	bent.Positions[3][2] = 0.6 // one corner, of both triangles or of the one that has it alone
	other := without(full, 0, 1)
	other.Indices = append(other.Indices, 1, 2, 3, 1, 3, 0)
	other.Materials = append(other.Materials, 0, 0)
	alien := without(full)
	alien.Materials[0] = 1
	backed := without(full, 3)
	for k := range 2 { // the back of the first two quads' triangles
		v := full.Indices[6*k : 6*k+6]
		backed.Indices = append(backed.Indices, v[0], v[2], v[1], v[3], v[5], v[4])
		backed.Materials = append(backed.Materials, 0, 0)
	}
	for _, x := range []struct {
		name        string
		level       *appearance.Mesh
		whole, half int
	}{
		{"the same", full, 5, 0},
		{"two whole ones gone", without(full, 0, 1, 4, 5), 3, 0},
		{"one half gone", without(full, 3), 4, 1},
		{"all halves gone", without(full, 0, 3, 4, 7, 8), 0, 5},
		{"a corner moved", bent, 4, 0},
		{"the other diagonal", other, 5, 0},
		{"half has another material", alien, 4, 0},
		{"half of a pane that has a back", backed, 4, 1},
		{"nothing left", without(full, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), 0, 0},
	} {
		if whole, half := c.countQuads(full, quads, x.level); whole != x.whole || half != x.half {
			t.Errorf("%s: %d whole, %d half, want %d and %d", x.name, whole, half, x.whole, x.half)
		}
	}
}

// Pairs that are bent, or share a vertex with others, are no quads.
func TestFindQuads(t *testing.T) {
	m := panes(1)
	m.Positions[3][2] = 0.1
	if q := findQuads(m); len(q) != 0 {
		t.Errorf("bent: %v", q)
	}
	m = panes(2)
	m.Indices[6] = 1
	if q := findQuads(m); len(q) != 0 {
		t.Errorf("joined: %v", q)
	}
	if q := findQuads(&appearance.Mesh{}); len(q) != 0 {
		t.Errorf("empty: %v", q)
	}
}
