package report

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/human"
)

// TestScale: classes are few, ordered and all values have one; both ends are
// in use.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Custom(func(t *rapid.T) int64 {
			return rapid.Int64Range(0, 9).Draw(t, "digit") << rapid.IntRange(0, 58).Draw(t, "shift")
		})
		values := rapid.SliceOfN(value, 1, 50).Draw(t, "values")
		s := newScale(values)
		if n := s.classes(); n > maxClasses || !slices.IsSorted(s.borders) {
			t.Fatalf("%d classes: %v", n, s.borders)
		}
		positive := slices.DeleteFunc(slices.Clone(values), func(v int64) bool { return v <= 0 })
		slices.Sort(positive)
		last := 0
		for _, v := range positive {
			c := s.class(v)
			if c < last || c >= s.classes() {
				t.Fatalf("class %d of %d after %d", c, v, last)
			}
			last = c
		}
		if n := len(positive); n > 0 && s.classes() > 1 && (s.class(positive[0]) != 0 || last != s.classes()-1) {
			t.Fatalf("%v: ends in classes %d and %d of %v", positive, s.class(positive[0]), last, s.borders)
		}
	})
	for _, c := range []struct {
		values, want []int64
	}{
		{nil, nil},
		{[]int64{0, -5}, nil},
		{[]int64{7, 7}, nil},
		{[]int64{7, 8}, []int64{8}},
		{[]int64{100, 400, 900}, []int64{200, 400, 600, 800}},
		{[]int64{1, 100}, []int64{2, 5, 10, 20, 50, 100}},
		{[]int64{150, 1_000_000}, []int64{1000, 10_000, 100_000, 1_000_000}},
		{[]int64{1, math.MaxInt64}, []int64{1000, 1_000_000, 1_000_000_000, 1_000_000_000_000, 1_000_000_000_000_000, 1_000_000_000_000_000_000}},
	} {
		got := newScale(c.values).borders
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, not %v", c.values, got, c.want)
		}
	}
}

// TestRamp: it gets darker from class to class.
func TestRamp(t *testing.T) {
	luma := func(p paint) int { return 299*int(p.r) + 587*int(p.g) + 114*int(p.b) }
	for n := 2; n <= maxClasses; n++ {
		if ramp(0, n) != rgb(rampStops[0]) || ramp(n-1, n) != rgb(rampStops[len(rampStops)-1]) {
			t.Errorf("%d classes do not reach the ends", n)
		}
		for i := 1; i < n; i++ {
			if luma(ramp(i, n)) >= luma(ramp(i-1, n)) {
				t.Errorf("class %d of %d is not darker", i, n)
			}
		}
	}
	if ramp(0, 1) != rgb(rampStops[4]) {
		t.Error("one class")
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{bytesText(999), "999 B"},
		{bytesText(1500), "1.5 kB"},
		{bytesText(2_000_000), "2 MB"},
		{bytesText(3_456_000_000), "3.46 GB"},
		{human.Count(-1234567), "-1,234,567"},
		{human.Count(-123), "-123"},
		{shortCount(9999), "9,999"},
		{shortCount(12_345), "12.3 k"},
		{shortCount(5_000_000), "5 M"},
		{shortCount(7_100_000_000), "7.1 G"},
		{metresText(-0.001), "0 m"},
		{metresText(12.345), "12.35 m"},
		{metresText(2e7), "2e+07 m"},
		{lengthText(0.002), "2 mm"},
		{lengthText(20), "20 m"},
		{lengthText(5000), "5 km"},
		{percent(0.1234), "12.3 %"},
		{rgb(0x0a1b2c).hex(), "#0a1b2c"},
		{human.Plural(1, "tile"), "1 tile"},
		{human.Plural(2000, "tile"), "2,000 tiles"},
	} {
		if c.got != c.want {
			t.Errorf("%q, not %q", c.got, c.want)
		}
	}
}
