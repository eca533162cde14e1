package geom

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestSincos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-50, 50).Draw(t, "angle")
		s, c := Sincos(x)
		if ws, wc := math.Sincos(x); math.Abs(s-ws) > 1e-14 || math.Abs(c-wc) > 1e-14 {
			t.Fatalf("Sincos(%v) = %v, %v, want %v, %v", x, s, c, ws, wc)
		}
	})
	for i := range 9 {
		k := i - 4
		s, c := Sincos(float64(k) * (math.Pi / 2))
		want := [4][2]float64{{0, 1}, {1, 0}, {0, -1}, {-1, 0}}[(k+4)%4]
		if s != want[0] || c != want[1] {
			t.Errorf("%d right angles: %v, %v", k, s, c)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
		if s, c := Sincos(x); s != 0 || c != 1 {
			t.Errorf("Sincos(%v) = %v, %v", x, s, c)
		}
	}
}
