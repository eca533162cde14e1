package cook

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
)

// A step is a power of two, of one of so many parts of an error no less than a half.
func TestGridStep(t *testing.T) {
	for _, c := range []struct {
		err   float64
		parts int
		want  float64
	}{
		{0, 64, 0},
		{-1, 64, 0},
		{math.NaN(), 64, 0},
		{math.Inf(1), 64, 0},
		{1, 64, 1.0 / 64},
		{0.23, 64, 1.0 / 512},
		{0.9, 64, 1.0 / 128},
		{6.2, 256, 1.0 / 64},
		{64, 1, 64},
	} {
		if got := gridStep(c.err, c.parts); got != c.want {
			t.Errorf("%v in %d parts: %v instead of %v", c.err, c.parts, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		err := rapid.Float64Range(1e-12, 1e12).Draw(t, "error")
		parts := rapid.IntRange(1, 1000).Draw(t, "parts")
		step := gridStep(err, parts)
		if f, _ := math.Frexp(step); f != 0.5 || step > err/float64(parts) || 2*step <= err/float64(parts) {
			t.Errorf("%v in %d parts: %v", err, parts, step)
		}
	})
}

// Places come to the grid, but for those in the sides of boxes, which stay where they are; none
// moves by more than is said, none comes to lie in a side, equal ones stay equal, and along an
// axis none passes another.
func TestToGrid(t *testing.T) {
	box := geom.Box{Min: geom.Vec3{-7.3, 0, -1}, Max: geom.Vec3{9.1, 8, 12.7}}
	box.Min[0], box.Max[2] = float64(float32(box.Min[0])), float64(float32(box.Max[2]))
	onSide := func(p geom.Vec3) bool {
		for axis := range p {
			if float32(p[axis]) == float32(box.Min[axis]) || float32(p[axis]) == float32(box.Max[axis]) {
				return true
			}
		}
		return false
	}
	coordinate := rapid.OneOf(rapid.Float64Range(-20, 20), rapid.SampledFrom([]float64{box.Min[0], 9.1, 0, 8, -1, box.Max[2], 8 + 1e-9}))
	rapid.Check(t, func(t *rapid.T) {
		step := math.Ldexp(1, rapid.IntRange(-12, 1).Draw(t, "step"))
		m := &mesh.Mesh{}
		for range rapid.IntRange(1, 20).Draw(t, "places") {
			m.Positions = append(m.Positions, geom.Vec3{coordinate.Draw(t, "x"), coordinate.Draw(t, "y"), coordinate.Draw(t, "z")})
		}
		before := append([]geom.Vec3{}, m.Positions...)
		toGrid(m, step, box)
		for i, p := range m.Positions {
			if onSide(before[i]) != onSide(p) || onSide(p) && p != before[i] {
				t.Errorf("%v goes to %v", before[i], p)
			}
			d := p.Sub(before[i])
			if math.Sqrt(d.Dot(d)) > gridError(step)*(1+1e-12) {
				t.Errorf("%v goes to %v, with steps of %v", before[i], p, step)
			}
			if p == before[i] {
				continue
			}
			for k := range m.Positions {
				for axis := range p {
					a, b := before[i][axis]-before[k][axis], p[axis]-m.Positions[k][axis]
					if m.Positions[k] != before[k] && a*b < 0 {
						t.Errorf("%v passes %v", before[i], before[k])
					}
				}
			}
			for axis := range p {
				if n := p[axis] / step; n != math.Trunc(n) {
					t.Errorf("%v goes to %v, off the grid of %v", before[i], p, step)
				}
			}
		}
	})
	m := &mesh.Mesh{Positions: []geom.Vec3{{1.23, 4.56, 7.89}}}
	if toGrid(m, 0, box); m.Positions[0] != (geom.Vec3{1.23, 4.56, 7.89}) {
		t.Error("without an error places move")
	}
}
