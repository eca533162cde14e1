package pyramid

import (
	"testing"

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
		dropFlush(m, locked, 0.5)
		if m.Triangles() != c.leaves || len(m.Groups) != c.leaves || m.Positions[m.Indices[0]] != (geom.Vec3{}) {
			t.Errorf("%s: %d triangles, %d groups are left, want %d", c.name, m.Triangles(), len(m.Groups), c.leaves)
		}
	}
}
