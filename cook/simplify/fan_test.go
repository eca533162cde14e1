package simplify

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// cone is a fan of n triangles around a tip, which takes no part in collapses
// until the fan is small enough.
func cone(n int) *Mesh {
	m := &Mesh{Positions: []geom.Vec3{{0, 0.5, 0}}}
	for i := range n {
		a := 2 * math.Pi * float64(i) / float64(n)
		m.Positions = append(m.Positions, geom.Vec3{math.Cos(a), 0, math.Sin(a)})
		m.Indices = append(m.Indices, 0, uint32(1+(i+1)%n), uint32(1+i))
	}
	return m
}

// TestLargeFan: a fan that is too large for collapses shrinks at its rim, in the
// first step already.
func TestLargeFan(t *testing.T) {
	for _, n := range []int{3 * ringMax, 40 * ringMax} {
		m := cone(n)
		for _, target := range []int{n / 2, 40} {
			_, r := must(t, m, Options{}, target, 0.01)
			t.Logf("%d: %v", n, r)
			if r.Stop != Reached || r.Error > 0.005 {
				t.Errorf("%d triangles: %v", n, r)
			}
		}
	}
}
