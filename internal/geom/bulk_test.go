package geom

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
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

// TestBulkOrder: boxes are passed from one end to the other, as all of them sorted would be.
func TestBulkOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		h, weights, total := make(ranking, n), make([]float64, n), 0.0
		for i := range h {
			h[i] = ranked{float64(rapid.IntRange(-5, 5).Draw(t, "at")), i}
			weights[i] = rapid.Float64Range(0, 10).Draw(t, "weight")
			total += weights[i]
		}
		most := float64(total * rapid.Float64Range(0, 1.1).Draw(t, "part"))
		sorted, want, sum := slices.Clone(h), 0.0, 0.0
		slices.SortFunc(sorted, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.index, b.index)) })
		for _, r := range sorted {
			want = r.at
			if sum += weights[r.index]; sum > most {
				break
			}
		}
		if got := h.reach(weights, most); got != want {
			t.Fatalf("%v, want %v of %v", got, want, sorted)
		}
	})
}
