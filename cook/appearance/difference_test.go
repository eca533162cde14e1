package appearance

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// A plate that is smaller, and one of another colour.
func TestDifference(t *testing.T) {
	plate := func(side float64, material int32) *Mesh {
		m := &Mesh{Positions: []geom.Vec3{{-side, 0, -side}, {side, 0, -side}, {side, 0, side}, {-side, 0, side}}}
		m.Indices, m.Materials = []uint32{0, 2, 1, 0, 3, 2}, []int32{material, material}
		return m
	}
	gray := func(v float32) Material { return Material{Color: [4]float32{v, v, v, 1}, Unlit: true} }
	r := New(plate(1, 0), []Material{gray(0.5), gray(0.25)})
	look := func(m *Mesh) *Difference {
		d := &Difference{}
		for side := range Views {
			if err := d.Add(r.Draw(nil, side, 0.02), r.Draw(m, side, 0.02)); err != nil {
				t.Fatal(err)
			}
		}
		return d
	}
	if d := look(plate(1, 0)); d.FLIP() != 0 || d.Drift() != 0 || d.Coverage() != 1 {
		t.Errorf("the same: %v, %v, %v", d.FLIP(), d.Drift(), d.Coverage())
	}
	if d := look(plate(0.5, 0)); d.Drift() != 0 || math.Abs(d.Coverage()-0.25) > 0.01 || !(d.FLIP() > 0.01) {
		t.Errorf("half as wide: %v, %v, %v", d.FLIP(), d.Drift(), d.Coverage())
	}
	// 0.5 and 0.25 are 187.5 and 136.96 of 255 in sRGB.
	if d := look(plate(1, 1)); math.Abs(d.Drift()-50.6) > 0.2 || d.Coverage() != 1 {
		t.Errorf("darker: %v, %v, %v", d.FLIP(), d.Drift(), d.Coverage())
	}
	if d := look(&Mesh{}); d.Drift() != 0 || d.Coverage() != 0 {
		t.Errorf("nothing: %v, %v, %v", d.FLIP(), d.Drift(), d.Coverage())
	}
}

// The drift does not depend on the size of pixels, and the error does.
func TestDrift(t *testing.T) {
	m, other := sphere(24), sphere(24)
	mats := []Material{{Color: [4]float32{0.5, 0.5, 0.5, 1}, Unlit: true}, {Color: [4]float32{0.25, 0.5, 0.5, 1}, Unlit: true}}
	for i := range other.Materials {
		other.Materials[i] = 1
	}
	r := New(m, mats)
	if _, drift := r.Compare(m); drift != 0 {
		t.Errorf("the same drifts by %v", drift)
	}
	// The square roots of 0.5 and 0.25.
	if _, drift := r.Compare(other); math.Abs(drift-52.8) > 0.3 {
		t.Errorf("drift %v", drift)
	}
	if size, drift := r.Compare(&Mesh{}); size == 0 || drift != 0 {
		t.Errorf("nothing: %v, %v", size, drift)
	}
}
