package simplify

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
)

// TestCrowds: vertices and edges with very many triangles must not make the run
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
	vertex := &Mesh{}
	for i := range n {
		p := ring(i)
		fan.Positions = append(fan.Positions, p)
		edge.Positions = append(edge.Positions, p)
		for k := range 3 { // triangles of their own that all start at one vertex
			q := ring((i + k*n/3) % n)
			if k == 0 {
				q = geom.Vec3{}
			}
			vertex.Positions = append(vertex.Positions, q)
			vertex.Normals = append(vertex.Normals, [3]float32{float32(i), 1, 0})
		}
	}
	for i := range uint32(n) - 1 {
		fan.Indices = append(fan.Indices, 0, i+1, i+2)
		edge.Indices = append(edge.Indices, 0, 1, i+2)
		vertex.Indices = append(vertex.Indices, 3*i, 3*i+1, 3*i+2)
	}
	for _, c := range []struct {
		name string
		m    *Mesh
	}{{"fan", fan}, {"edge", edge}, {"vertex", vertex}} {
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

// globe makes a rough sphere of rings and meridians, with needles at its poles.
func globe(rings, meridians int) *Mesh {
	m := &Mesh{Positions: []geom.Vec3{{0, 0, 1}}}
	for j := 1; j < rings; j++ {
		lat := math.Pi * float64(j) / float64(rings)
		for i := range meridians {
			lon := 2 * math.Pi * float64(i) / float64(meridians)
			r := 1 + rough(float64(i)/float64(meridians), float64(j)/float64(rings))
			m.Positions = append(m.Positions, geom.Vec3{
				r * math.Sin(lat) * math.Cos(lon), r * math.Sin(lat) * math.Sin(lon), r * math.Cos(lat),
			})
		}
	}
	south := uint32(len(m.Positions))
	m.Positions = append(m.Positions, geom.Vec3{0, 0, -1})
	n := uint32(meridians)
	for i := range n {
		next := (i + 1) % n
		m.Indices = append(m.Indices, 0, 1+i, 1+next, south, south-n+next, south-n+i)
		for j := range uint32(rings - 2) {
			a, b := 1+j*n, 1+(j+1)*n
			m.Indices = append(m.Indices, a+i, b+i, a+next, a+next, b+i, b+next)
		}
	}
	return m
}

// TestPoles: edges of needles, for which the best position would turn neighbours
// over, collapse to another one. Where they could not, the root mean square
// distance was 0.00023.
func TestPoles(t *testing.T) {
	m := globe(90, 360)
	_, r := must(t, m, Options{}, m.Triangles()/10, 0)
	t.Log(r)
	if r.Stop != Reached || r.MeanError > 0.0002 {
		t.Errorf("%v: more than 0.0002", r)
	}
}
