package simplify

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
)

// TestCrowds: places and edges with very many triangles must not make the run
// quadratic. With n^2 steps these would take minutes.
func TestCrowds(t *testing.T) {
	n := 21_000
	if race.Enabled {
		n = 5000 // with the race detector this takes as long; make test runs the others without it
	}
	ring := func(i int) geom.Vec3 {
		// A rational circle: no trigonometry, the same everywhere.
		x := float64(i)/float64(n)*2 - 1
		return geom.Vec3{2 * x / (1 + x*x), 0, (1 - x*x) / (1 + x*x)}
	}
	fan := &Mesh{Positions: []geom.Vec3{{0, 1, 0}}}
	edge := &Mesh{Positions: []geom.Vec3{{0, 1, 0}, {0, 2, 0}}}
	place := &Mesh{}
	for i := range n {
		p := ring(i)
		fan.Positions = append(fan.Positions, p)
		edge.Positions = append(edge.Positions, p)
		for k := range 3 { // triangles of their own that all start at one place
			q := ring((i + k*n/3) % n)
			if k == 0 {
				q = geom.Vec3{}
			}
			place.Positions = append(place.Positions, q)
			place.Normals = append(place.Normals, [3]float32{float32(i), 1, 0})
		}
	}
	for i := range uint32(n) - 1 {
		fan.Indices = append(fan.Indices, 0, i+1, i+2)
		edge.Indices = append(edge.Indices, 0, 1, i+2)
		place.Indices = append(place.Indices, 3*i, 3*i+1, 3*i+2)
	}
	for _, c := range []struct {
		name string
		m    *Mesh
	}{{"fan", fan}, {"edge", edge}, {"place", place}} {
		t.Run(c.name, func(t *testing.T) {
			_, r := must(t, c.m, Options{}, 10, 0)
			t.Log(r)
			_, r = must(t, c.m, Options{Sloppy: true, PruneBelow: math.Inf(1)}, 10, 0)
			t.Log(r)
			if r.Stop != Reached {
				t.Error(r)
			}
		})
	}
}
