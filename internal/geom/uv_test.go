package geom

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestUVMapBack: a map leads back to where it came from, and to nothing finite where all
// lies at one place.
func TestUVMapBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := func(name string, lo, hi float64) float64 { return rapid.Float64Range(lo, hi).Draw(t, name) }
		m := NewUVMap([2]float64{in("x", -9, 9), in("y", -9, 9)}, in("rot", -7, 7), [2]float64{in("sx", 0.1, 9), -in("sy", 0.1, 9)})
		c := [2]float32{float32(in("u", -9, 9)), float32(in("v", -9, 9))}
		back := m.Back(m.At(c))
		for k := range c {
			if math.Abs(back[k]-float64(c[k])) > 1e-10 {
				t.Fatalf("%v came back as %v", c, back)
			}
		}
	})
	flat := NewUVMap([2]float64{1, 1}, 0, [2]float64{0, 1})
	for _, at := range [][2]float64{{1, 1}, {2, 1}} {
		if u := flat.Back(at)[0]; u-u == 0 {
			t.Errorf("%v came from %v", at, u)
		}
	}
}
