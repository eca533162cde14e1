package pyramid

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// TestPlaces: vertices have one number if they are at one place, as a map of places has it.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1e300})
		positions := make([]geom.Vec3, rapid.IntRange(1, 60).Draw(t, "vertices"))
		for i := range positions {
			positions[i] = geom.Vec3{value.Draw(t, "x"), value.Draw(t, "y"), value.Draw(t, "z")}
		}
		indices := rapid.SliceOf(rapid.Uint32Range(0, uint32(len(positions)-1))).Draw(t, "indices")
		place, count := placesOf(positions, indices)
		numbers, used := map[geom.Vec3]int32{}, make([]bool, len(positions))
		for _, v := range indices {
			if _, ok := numbers[positions[v]]; !ok {
				numbers[positions[v]] = int32(len(numbers))
			}
			if place[v] != numbers[positions[v]] {
				t.Fatalf("vertex %d at %v: %d, want %d", v, positions[v], place[v], numbers[positions[v]])
			}
			used[v] = true
		}
		if count != len(numbers) {
			t.Fatalf("%d places, want %d", count, len(numbers))
		}
		for v, is := range used {
			if !is && place[v] != -1 {
				t.Fatalf("vertex %d is not used, and has the number %d", v, place[v])
			}
		}
	})
}
