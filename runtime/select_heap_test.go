package runtime

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A heap gives candidates in their order, however many are taken.
func TestCandidateHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := make([]candidate, rapid.IntRange(0, 40).Draw(t, "n"))
		sc := &scene{tiles: &table{id: make([]string, len(list))}}
		for i := range list {
			sc.tiles.id[i] = "t"
			list[i] = candidate{scene: sc, tile: int32(i), priority: int32(rapid.IntRange(0, 3).Draw(t, "priority")), rank: int32(rapid.IntRange(0, 3).Draw(t, "rank"))}
		}
		want := slices.Clone(list)
		slices.SortFunc(want, func(a, b candidate) int {
			if a.before(&b) {
				return -1
			}
			return 1
		})
		heapOf(list)
		for i := range want {
			var best *candidate
			if best, list = popBest(list); *best != want[i] {
				t.Fatalf("place %d: %+v, want %+v", i, *best, want[i])
			}
		}
	})
}
