package triangulate

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestCut: polygons keep their area, concave ones too.
func TestCut(t *testing.T) {
	area := func(p [][2]float64, list [][3]int) (sum float64) {
		for _, c := range list {
			a := turn(p[c[0]], p[c[1]], p[c[2]]) / 2
			if a < 0 {
				return math.NaN()
			}
			sum += a
		}
		return sum
	}
	rapid.Check(t, func(t *rapid.T) {
		// A star: simple, and concave where radii differ.
		n := rapid.IntRange(3, 40).Draw(t, "n")
		var flat [][2]float64
		var p [][3]float32
		for i := range n {
			r := rapid.Float64Range(0.2, 5).Draw(t, "r")
			x, y := float64(float32(r*math.Cos(2*math.Pi*float64(i)/float64(n)))), float64(float32(r*math.Sin(2*math.Pi*float64(i)/float64(n))))
			flat, p = append(flat, [2]float64{x, y}), append(p, [3]float32{float32(x), 1, -float32(y)})
		}
		want := 0.0
		for i := range flat {
			a, b := flat[i], flat[(i+1)%n]
			want += (a[0]*b[1] - a[1]*b[0]) / 2
		}
		var e Cutter
		list := e.Cut(p)
		if len(list) != n-2 {
			t.Fatalf("%d corners gave %d triangles", n, len(list))
		}
		if got := area(flat, list); math.Abs(got-want) > 1e-9*math.Abs(want)+1e-12 {
			t.Fatalf("area %v, want %v", got, want)
		}
	})
}
