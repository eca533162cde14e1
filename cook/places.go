package cook

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// firstInPlace returns for each of n vertices the first one in the same place; both zeros
// are one. at is where a vertex is, and finite.
func firstInPlace(n int, at func(vertex uint32) geom.Vec3) []uint32 {
	out := make([]uint32, n)
	size := 1
	for size < 2*n {
		size *= 2
	}
	table := make([]uint32, size) // vertex + 1
	for i := range out {
		p := at(uint32(i))
		k := placeHash(p) & uint32(size-1)
		for table[k] != 0 && at(table[k]-1) != p { // 0 equals -0
			k = (k + 1) & uint32(size-1)
		}
		if table[k] == 0 {
			table[k] = uint32(i) + 1
		}
		out[i] = table[k] - 1
	}
	return out
}

// placeHash returns the same for the same place.
func placeHash(at geom.Vec3) uint32 {
	h := uint64(0)
	for _, x := range at {
		h = (h ^ math.Float64bits(x+0)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return uint32(h >> 32)
}
