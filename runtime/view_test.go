package runtime

import "testing"

func TestFrustum(t *testing.T) {
	c := Camera{Forward: [3]float64{0, 0, -2}, FovYDegrees: 90, Aspect: 1, Near: 0.1, Far: 100}
	f := c.Frustum()
	for _, x := range []struct {
		name   string
		at     [3]float64
		inside bool
	}{
		{"ahead", [3]float64{0, 0, -10}, true},
		{"behind", [3]float64{0, 0, 10}, false},
		{"at the left side", [3]float64{-11, 0, -10}, true},
		{"beyond the left side", [3]float64{-13.1, 0, -10}, false},
		{"beyond the far plane", [3]float64{0, 0, -103}, false},
	} {
		lo, hi := x.at, x.at
		for i := range 3 {
			lo[i]--
			hi[i]++
		}
		if got := f.Sees(lo, hi); got != x.inside {
			t.Errorf("%s: %v", x.name, got)
		}
	}
	for _, blind := range []Camera{{}, {Forward: [3]float64{1, 0, 0}}} {
		f := blind.Frustum()
		if !f.Sees([3]float64{5, 5, 5}, [3]float64{6, 6, 6}) {
			t.Errorf("%+v does not see everything", blind)
		}
	}
}
