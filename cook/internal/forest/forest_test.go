package forest

import (
	"testing"

	"pgregory.net/rapid"
)

// TestForest: numbers have one root when a chain of pairs joins them, and it is the
// least of them.
func TestForest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		f, set := New(n), make([]int, n) // set: by number, the least of those that it is joined with
		for i := range set {
			set[i] = i
		}
		number := rapid.IntRange(0, n-1)
		for range rapid.IntRange(0, 40).Draw(t, "pairs") {
			a, b := number.Draw(t, "a"), number.Draw(t, "b")
			f.Unite(int32(a), int32(b))
			from, to := max(set[a], set[b]), min(set[a], set[b])
			for i := range set {
				if set[i] == from {
					set[i] = to
				}
			}
		}
		for i := range set {
			if got := f.Root(int32(i)); int(got) != set[i] {
				t.Fatalf("the root of %d is %d, want %d", i, got, set[i])
			}
		}
	})
}
