package bake

import "testing"

// A triangle far beside a tiny first one is in the last square, on every processor.
func TestFoldSquare(t *testing.T) {
	f := &fold{cell: 1e-9}
	for _, c := range []struct {
		v    float64
		want int32
	}{{0, 0}, {2.5e-9, 2}, {-0.5e-9, -1}, {1e3, mostSquares}, {-1e3, -mostSquares}} {
		if got := f.square(c.v); got != c.want {
			t.Errorf("%v is in square %d, want %d", c.v, got, c.want)
		}
	}
	far := &[3][2]float64{{1e3, 1e3}, {2e3, 1e3}, {1e3, 2e3}}
	if got := f.reach(far); len(got) != 1 {
		t.Errorf("a triangle beyond all squares is in %d", len(got))
	}
}
