package cook

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/cook/internal/border"
	"github.com/untoldkit/untold/internal/geom"
)

// bumps is a bumpy ground that goes beyond none of a cell's sides.
func bumps(n int) *levelSource {
	s := &levelSource{names: make([]drawable, 1)}
	m := &s.joint
	for i := range n + 1 {
		for k := range n + 1 {
			high := math.Sin(float64(i*i)) + math.Cos(float64(3*k+i))
			m.Positions, m.Normals = append(m.Positions, geom.Vec3{float64(i), high, float64(k)}), append(m.Normals, [3]float32{0, 1, 0})
			if i > 0 && k > 0 {
				a, b := uint32((i-1)*(n+1)+k-1), uint32(i*(n+1)+k-1)
				m.Indices = append(m.Indices, a, a+1, b, b, a+1, b+1)
				s.groups = append(s.groups, 0, 0)
			}
		}
	}
	return s
}

// TestLevelsWithFewTriangles: whatever number of triangles pays, a level that does has a
// mesh, also where it does only with those that close the gaps at its border.
func TestLevelsWithFewTriangles(t *testing.T) {
	const n = 16
	cell := &border.Cell{Box: geom.Box{Min: geom.Vec3{0, -9, 0}, Max: geom.Vec3{n, 9, n}}, Width: n}
	for side := range cell.Beside {
		cell.Beside[side] = 512
	}
	o := ClassicOptions()
	o.LODMaxErrorPixels = -1
	if err := o.checkLevels(); err != nil {
		t.Fatal(err)
	}
	closed := 0
	for least := 10; least < 300; least += 3 {
		src := bumps(n)
		chain := newLevelChain(&o, src, cell, []int32{0})
		l := &level{ratio: 0.2, hlod: true, distance: 1}
		pays := func(triangles int) bool { return triangles >= least }
		r, err := chain.reduce(l, atLeast(l.ratio, src.triangles()), pays)
		if err != nil {
			t.Fatal(err)
		}
		if r.mesh == nil && pays(r.all()) {
			t.Fatalf("%d + %d triangles pay from %d on, and there is no mesh", r.Triangles, r.gaps, least)
		}
		closed += r.gaps
	}
	if closed == 0 {
		t.Error("no gap was closed")
	}
}
