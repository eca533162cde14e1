package simplify

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

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

// TestPoles: edges of needles, for which the best place would turn neighbours
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
