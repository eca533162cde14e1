package geom

import (
	"math"
	"testing"
)

func TestBulk(t *testing.T) {
	cube := func(x, z, edge float64) Box { return Box{Vec3{x, 0, z}, Vec3{x + edge, edge, z + edge}} }
	plane := Box{Vec3{-1000, 0, -1000}, Vec3{1000, 0, 1000}}
	row := []Box{cube(0, 0, 10), cube(20, 0, 10), cube(40, 0, 10)}
	town := Box{Vec3{0, 0, 0}, Vec3{50, 10, 10}}
	for name, tc := range map[string]struct {
		boxes   []Box
		weights []float64
		want    Box
	}{
		"nothing":        {nil, nil, EmptyBox()},
		"all":            {row, []float64{1, 1, 1}, town},
		"light but near": {row, []float64{1000, 1000, 1}, town},
		"a plane below":  {append(row[:3:3], plane), []float64{500, 500, 500, 2}, town},
		"a heavy plane":  {append(row[:3:3], plane), []float64{500, 500, 500, 200}, plane.Union(town)},
		"far away":       {append(row[:3:3], cube(5000, 90, 1)), []float64{500, 500, 500, 12}, town},
		"no weights":     {append(row[:3:3], plane), make([]float64, 4), plane.Union(town)},
		"hostile": {
			append(row[:3:3], EmptyBox(), Box{Vec3{math.NaN(), 0, 0}, Vec3{1, 1, 1}}, Box{Vec3{math.Inf(-1), 0, 0}, Vec3{1, 1, 1}}, plane),
			[]float64{1, 1, 1, 1, 1, 1, math.NaN()},
			town,
		},
	} {
		if got := Bulk(tc.boxes, tc.weights); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
