package mesh

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

func TestCountSplit(t *testing.T) {
	g := gridOf(geom.Vec3{}, geom.Vec3{1, 1, 1}, 10, 10, 10)
	flat := gridOf(geom.Vec3{}, geom.Vec3{1, 100, 1}, 10, 1, 10)
	half := soup(geom.Vec3{0, 0, 0}, geom.Vec3{10, 0, 0}, geom.Vec3{0, 0, -10})
	for _, c := range []struct {
		name string
		mesh *Mesh
		grid ClipGrid
		want SplitCount
	}{
		{"in a cell", soup(geom.Vec3{0.5, 0.5, -0.5}, geom.Vec3{0.6, 0.5, -0.5}, geom.Vec3{0.5, 0.6, -0.5}), g, SplitCount{1, 0}},
		{"half of a square", half, flat, SplitCount{55, 28}},
		{"a diagonal, thin as a needle", soup(geom.Vec3{0.1, 0, -0.3}, geom.Vec3{9.9, 0, -9.6}, geom.Vec3{9.9, 0, -9.7}), flat, SplitCount{19, 0}},
		{"a wall across", soup(geom.Vec3{0, 0, -0.5}, geom.Vec3{10, 0, -0.5}, geom.Vec3{0, 10, -0.5}), g, SplitCount{55, 28}},
		{"all three axes, and a point", soup(geom.Vec3{0, 0, 0}, geom.Vec3{10, 10, 0}, geom.Vec3{0, 10, -10}, geom.Vec3{}, geom.Vec3{}, geom.Vec3{}), g, SplitCount{101, 0}},
	} {
		n := c.mesh.CountSplit(c.grid, math.MaxInt64)
		if n != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, n, c.want)
		}
		if made := madeBySplit(c.mesh, c.grid); n.Polygons != made {
			t.Errorf("%s: %d polygons are counted, %d made", c.name, n.Polygons, made)
		}
	}
	if n := soup(append(half.Positions, half.Positions...)...).CountSplit(flat, 20); n.Polygons != 55 {
		t.Errorf("beyond the limit: %+v", n)
	}
}

// madeBySplit sums up in how many cells each triangle has a part, by cutting
// them one by one.
func madeBySplit(m *Mesh, g ClipGrid) (n int64) {
	for i := 0; i+2 < len(m.Indices); i += 3 {
		one := *m
		one.Indices = m.Indices[i : i+3]
		n += int64(len(one.Split(g)))
	}
	return n
}

// TestCountSplitProperty: as many polygons are counted as are made, but for
// those that rounding makes of what touches a plane.
func TestCountSplitProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClipCase(t)
		c.lattice = false
		var corners []geom.Vec3
		for range 3 * rapid.IntRange(1, 8).Draw(t, "triangles") {
			corners = append(corners, c.point(t))
		}
		m := soup(corners...)
		n, made := m.CountSplit(c.grid, math.MaxInt64), madeBySplit(m, c.grid)
		if d, most := n.Polygons-made, 1+touches(m, c.grid); d < -most || d > most {
			t.Fatalf("%+v, %d are made", n, made)
		}
	})
}

// TestCountSplitAlongCorners: an edge through corners of cells has at each of them a polygon
// more or less, by rounding.
func TestCountSplitAlongCorners(t *testing.T) {
	g := gridOf(geom.Vec3{}, geom.Vec3{1, 25, 1}, 3, 3, 1)
	at := func(x, y float64) geom.Vec3 { return geom.Vec3{float64(x * 3), float64(y * 3 * 25), -1.01} }
	m := soup(at(1.01, 0.5), at(1.01, 1.01), at(0x1p-56, 0x1p-54))
	n, made, corners := m.CountSplit(g, math.MaxInt64).Polygons, madeBySplit(m, g), touches(m, g)
	if d := made - n; d < -corners || d > corners || corners == 0 {
		t.Errorf("%d are counted, %d made, with %d at corners", n, made, corners)
	}
}

// touches counts, for each of the planes, where edges of triangles meet two of them at once:
// there rounding says whether the cells beyond have a part.
func touches(m *Mesh, g ClipGrid) (n int64) {
	for i := range m.Indices {
		a, b := &m.Positions[m.Indices[i]], &m.Positions[m.Indices[i-i%3+(i+1)%3]]
		for axis, planes := range g.Planes {
			x, y := along(a, axis), along(b, axis)
			for _, plane := range planes {
				if x == y || plane < min(x, y) || plane > max(x, y) {
					continue
				}
				for other, others := range g.Planes {
					u, v := along(a, other), along(b, other)
					meets := u + (plane-x)/(y-x)*(v-u)
					near := 1e-14 * (max(math.Abs(u), math.Abs(v)) + max(math.Abs(x), math.Abs(y))*math.Abs((v-u)/(y-x)))
					for _, p := range others {
						if other != axis && math.Abs(meets-p) <= near {
							n++
						}
					}
				}
			}
		}
	}
	return n
}
