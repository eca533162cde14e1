package editdist

import (
	"testing"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"tile-siz", "tile-size", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 2}, {"same", "same", 0}} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestDistanceIsAMetric(t *testing.T) {
	word := rapid.StringMatching(`[a-c]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		if Distance(a, b) != Distance(b, a) || (Distance(a, b) == 0) != (a == b) || Distance(a, c) > Distance(a, b)+Distance(b, c) {
			t.Fatalf("%q %q %q: %d %d %d", a, b, c, Distance(a, b), Distance(b, c), Distance(a, c))
		}
	})
}
