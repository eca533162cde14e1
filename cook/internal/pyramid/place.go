package pyramid

import (
	"math"
	"math/bits"

	"github.com/untoldkit/untold/internal/geom"
)

// placesOf numbers the distinct positions that triangles use, and returns the number of
// each vertex, and how many there are. Of vertices that are not used the number is -1. 0
// and -0 are one; a position that is no number is one with no other.
func placesOf(positions []geom.Vec3, indices []uint32) (place []int32, count int) {
	place = make([]int32, len(positions))
	for i := range place {
		place[i] = -1
	}
	size := 16
	for size < len(positions)+len(positions)/2 {
		size *= 2
	}
	// Open addressing: vertices counted from 1, of which each is the first at its place.
	slots, mask := make([]uint32, size), uint64(size-1)
	for _, v := range indices {
		if place[v] >= 0 {
			continue
		}
		p := &positions[v]
		at := hashOf(p) & mask
		for slots[at] != 0 && positions[slots[at]-1] != *p {
			at = (at + 1) & mask
		}
		if slots[at] != 0 {
			place[v] = place[slots[at]-1]
			continue
		}
		slots[at], place[v] = v+1, int32(count)
		count++
	}
	return place, count
}

// hashOf mixes the bits of a position; equal ones have equal hashes.
func hashOf(p *geom.Vec3) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, v := range p {
		high, low := bits.Mul64(h^math.Float64bits(v+0), 0xbf58476d1ce4e5b9) // -0 + 0 is 0
		h = high ^ low
	}
	return h
}
