package pyramid

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// slab adds a rectangle in the plane y = height, seen from above or from below.
func slab(m *simplify.Mesh, x, z, size, height float64, up bool, group int32) {
	base := uint32(len(m.Positions))
	m.Positions = append(m.Positions, geom.Vec3{x, height, z}, geom.Vec3{x, height, z + size}, geom.Vec3{x + size, height, z + size}, geom.Vec3{x + size, height, z})
	quad := []uint32{0, 1, 2, 0, 2, 3}
	if !up {
		quad = []uint32{0, 2, 1, 0, 3, 2}
	}
	for _, v := range quad {
		m.Indices = append(m.Indices, base+v)
	}
	m.Groups = append(m.Groups, group, group)
}

// TestDropFlush: what lies on something larger goes; what stands off, faces the other
// way, belongs to another child or must stay is kept, and so is the larger one.
func TestDropFlush(t *testing.T) {
	for _, c := range []struct {
		name   string
		add    func(m *simplify.Mesh)
		lock   bool
		leaves int
	}{
		{"a window on its wall", func(m *simplify.Mesh) { slab(m, 3, 3, 2, 0.1, true, 0) }, false, 2},
		{"behind it, facing the same way", func(m *simplify.Mesh) { slab(m, 3, 3, 2, -0.1, true, 0) }, false, 2},
		{"too far off", func(m *simplify.Mesh) { slab(m, 3, 3, 2, 0.6, true, 0) }, false, 4},
		{"the back of a wall", func(m *simplify.Mesh) { slab(m, 3, 3, 2, -0.1, false, 0) }, false, 4},
		{"reaching over the edge", func(m *simplify.Mesh) { slab(m, 9, 9, 3, 0.1, true, 0) }, false, 4},
		{"of another child", func(m *simplify.Mesh) { slab(m, 3, 3, 2, 0.1, true, 1) }, false, 4},
		{"on what goes itself", func(m *simplify.Mesh) { slab(m, 3, 3, 4, 0.1, true, 0); slab(m, 4, 4, 1, 0.4, true, 0) }, false, 2},
		{"as large as what is behind", func(m *simplify.Mesh) { slab(m, 0, 0, 10, 0.1, true, 0) }, false, 4},
		{"locked", func(m *simplify.Mesh) { slab(m, 3, 3, 2, 0.1, true, 0) }, true, 4},
	} {
		m := &simplify.Mesh{}
		slab(m, 0, 0, 10, 0, true, 0)
		c.add(m)
		var locked []bool
		if c.lock {
			locked = make([]bool, len(m.Positions))
			locked[len(locked)-1] = true
		}
		of, costs := dropFlush(m, locked, 0.5)
		for _, p := range of {
			if int(p) >= len(costs) {
				t.Errorf("%s: piece %d of %d", c.name, p, len(costs))
			}
		}
		if m.Triangles() != c.leaves || len(m.Groups) != c.leaves || len(of) != c.leaves || m.Positions[m.Indices[0]] != (geom.Vec3{}) {
			t.Errorf("%s: %d triangles, %d groups are left, want %d", c.name, m.Triangles(), len(m.Groups), c.leaves)
		}
	}
}

// TestPieceCosts: what vanishes costs its area times the square of how far it stands off
// something larger, at most its own size, and the largest never vanishes.
func TestPieceCosts(t *testing.T) {
	for _, c := range []struct {
		name string
		add  func(m *simplify.Mesh)
		want float64
	}{
		{"2 m above the ground", func(m *simplify.Mesh) { slab(m, 3, 3, 2, 2, true, 0) }, 4 * 4},
		{"the same from below", func(m *simplify.Mesh) { slab(m, 3, 3, 2, 2, false, 0) }, 4 * 4},
		{"high up", func(m *simplify.Mesh) { slab(m, 3, 3, 2, 100, true, 0) }, 4 * 8},
		{"of another child", func(m *simplify.Mesh) { slab(m, 3, 3, 2, 2, true, 1) }, math.Inf(1)},
		{"as large as the ground", func(m *simplify.Mesh) { slab(m, 0, 0, 10, 2, true, 0) }, math.Inf(1)},
		{"beyond all measure", func(m *simplify.Mesh) { slab(m, 3, 3, 2, 1e200, true, 0) }, 4 * 8},
	} {
		m := &simplify.Mesh{}
		slab(m, 0, 0, 10, 0, true, 0)
		c.add(m)
		of, costs := dropFlush(m, nil, 0.5)
		if got := costs[of[len(of)-1]]; got != c.want && !(math.Abs(got-c.want) < 1e-9) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if !math.IsInf(costs[of[0]], 1) {
			t.Errorf("%s: the ground costs %v", c.name, costs[of[0]])
		}
	}
}

// TestLedgesGoBeforeHouses: with fewer triangles than ledges have, houses stand, and
// each as a box.
func TestLedgesGoBeforeHouses(t *testing.T) {
	parts := []Part{block(geom.Vec3{0, -1, 0}, geom.Vec3{100, 0, 100})}
	const houses, high = 9, 12.0
	for i := range houses {
		x, z := float64(10+30*(i%3)), float64(10+30*(i/3))
		parts = append(parts, block(geom.Vec3{x, 0, z}, geom.Vec3{x + 15, high, z + 15}))
		for floor := range 5 {
			y := float64(2 + 2*floor)
			parts = append(parts, block(geom.Vec3{x - 1, y, z - 1}, geom.Vec3{x + 16, y + 0.3, z + 16}))
		}
	}
	m := built(t, Join([]Child{{Parts: parts}}), Options{Triangles: 140, Side: 128, Flush: 0.3, Jobs: 1})
	surface := measure.NewIndex(&measure.Surface{Positions: m.Mesh.Positions, Indices: m.Mesh.Indices})
	for i := range houses {
		x, z := float64(10+30*(i%3)), float64(10+30*(i/3))
		for _, corner := range []geom.Vec3{{x, high, z}, {x + 15, high, z}, {x, high, z + 15}, {x + 15, high, z + 15}} {
			if !surface.Near(corner, 1.5, func(int) bool { return true }) {
				t.Errorf("house %d: nothing is near its corner %v", i, corner)
			}
		}
	}
}

// TestPiecesWithoutArea: pieces without area come after all that have some, however small
// these are.
func TestPiecesWithoutArea(t *testing.T) {
	m := &simplify.Mesh{
		Positions: []geom.Vec3{{9, 0, 0}, {10, 0, 0}, {11, 0, 0}, {0, 0, 0}, {0, 0, 0.1}, {0.1, 0, 0}},
		Indices:   []uint32{0, 1, 2, 3, 4, 5},
	}
	p := piecesOf(m)
	if len(p) != 2 || p[0].area == 0 || p[1].area != 0 || p[0].class <= p[1].class {
		t.Errorf("%+v", p)
	}
}
