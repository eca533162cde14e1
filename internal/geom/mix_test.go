package geom

import (
	"math"
	"testing"
)

func TestMixDirections(t *testing.T) {
	for _, c := range []struct {
		name       string
		a, b, want [4]float32
		t          float64
	}{
		{"equal ends stay exact", [4]float32{0.6, 0.8, 0.1, -1}, [4]float32{0.6, 0.8, 0.1, -1}, [4]float32{0.6, 0.8, 0.1, -1}, 0.3},
		{"half way", [4]float32{1, 0, 0, 1}, [4]float32{0, 1, 0, 1}, [4]float32{math.Sqrt2 / 2, math.Sqrt2 / 2, 0, 1}, 0.5},
		{"opposite, nearer to a", [4]float32{1, 0, 0, 1}, [4]float32{-1, 0, 0, 1}, [4]float32{1, 0, 0, 1}, 0.5},
		{"opposite, off the middle", [4]float32{1, 0, 0, 1}, [4]float32{-1, 0, 0, 1}, [4]float32{-1, 0, 0, 1}, 0.7},
		{"without a direction", [4]float32{0, 0, 0, 1}, [4]float32{0, 0, 1, 1}, [4]float32{0, 0, 1, 1}, 0.1},
		{"other handedness, nearer to a", [4]float32{1, 0, 0, 1}, [4]float32{0, 1, 0, -1}, [4]float32{1, 0, 0, 1}, 0.4},
		{"other handedness, nearer to b", [4]float32{1, 0, 0, 1}, [4]float32{0, 1, 0, -1}, [4]float32{0, 1, 0, -1}, 0.6},
	} {
		if got := MixTangent(c.a, c.b, c.t); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	opposite := MixDir([3]float32{0, 1, 0}, [3]float32{0, -1, 0}, 0.5)
	if opposite != [3]float32{0, 1, 0} {
		t.Errorf("opposite normals: %v", opposite)
	}
	nan := float32(math.NaN())
	if got := MixDir([3]float32{nan, 0, 0}, [3]float32{0, 1, 0}, 0.9); got != [3]float32{0, 1, 0} {
		t.Errorf("with NaN: %v", got)
	}
}
