package simplify

import (
	"math"
	"math/bits"
)

// Large meshes do not fit into caches, and each sweep over their edges fetches
// all that belongs to them from memory again. While the target is far, a pass
// therefore makes several sweeps, with rising limits, over one part of the mesh
// before it goes on to the next. That takes a third off the time of the
// collapses of two million triangles. Parts are ranges of corners: meshes that
// are stored without any order gain nothing.

const (
	cellBlocks = 1 << 10 // of keys in a part: some 3,000 vertices, or 700 kB
	fewCells   = 3       // with less than so many, sweeps over all are as fast

	cellRise = 512 // how far a pass goes beyond its limit, in keys: 4 times the cost
	cellStep = 144 // from sweep to sweep

	// Costs grow with the third power of the size of triangles, if surfaces are
	// smooth; by the second, a pass does not go too far on others either.
	risePerHalf = 512 // keys for each halving of the triangles that is left

	// A pass that goes through parts starts no nearer to the target than that many
	// halvings, and none of its parts gets nearer than its share of cellFloor
	// targets: what the last sweeps take is chosen from all of the mesh.
	farHalvings = 0.75
	cellFloor   = 1.2
)

// last returns the highest limit of a pass, once edges have a price.
func (r *run) last(limit uint16) uint16 {
	s := r.s
	if len(s.least) < fewCells*cellBlocks || limit >= infinite-cellRise {
		return limit
	}
	left := halvings(float64(s.triangles) / float64(max(r.target, 1)))
	if left < farHalvings {
		return limit
	}
	return limit + uint16(min(cellRise, risePerHalf*(left-farHalvings/2)))
}

// halvings returns the binary logarithm of a positive number to two digits, and
// the same on every machine: math.Log2 has code of its own on some.
func halvings(x float64) float64 {
	frac, exp := math.Frexp(x) // at least a half
	part := float64(2*frac) - 1
	return float64(exp-1) + part + float64(0.34*float64(part*(1-part)))
}

// pass tries all edges whose key is not above the limit, or the last one, and
// reports whether the target is reached.
func (r *run) pass(limit, last uint16) bool {
	s := r.s
	if last == limit {
		return r.sweep(0, len(s.least), limit)
	}
	share := 1 - float64(cellFloor*float64(r.target))/float64(s.triangles)
	for from := 0; from < len(s.least); from += cellBlocks {
		to := min(from+cellBlocks, len(s.least))
		first, open := s.cellLimit(from, to)
		most := int(float64(share * float64(open) * (2.0 / 3))) // triangles have one and a half edges each
		before := s.triangles
		for at := min(first, last); ; at = min(at+cellStep, last) {
			refused, collapsed := r.relaxable(), r.collapsed
			if r.sweep(from, to, at) {
				return true
			}
			if at == last || before-s.triangles > most {
				break
			}
			if r.relaxable()-refused > refusedShare*(r.collapsed-collapsed)+refusedFew/fewCells {
				break // as passes does
			}
		}
	}
	return false
}

// sweep tries the edges of a range of blocks whose key is not above the limit,
// in the order of corners, which is kind to caches, and reports whether the
// target is reached.
func (r *run) sweep(from, to int, limit uint16) bool {
	s := r.s
	for at := from; at < to; at += blockSize {
		least := (*block)(s.least[at:])
		for todo := least.upTo(limit); todo != 0; {
			i := bits.TrailingZeros32(todo)
			todo &= todo - 1
			before := r.collapsed
			if r.sweepBlock(at+i, limit) {
				return true
			}
			if r.collapsed != before {
				todo = least.upTo(limit) &^ (2<<i - 1) // others may have changed
			}
		}
	}
	return false
}

// sweepBlock is sweep for a block of keys.
func (r *run) sweepBlock(i int, limit uint16) bool {
	s := r.s
	keys := s.block(i)
	for todo := keys.upTo(limit); todo != 0; {
		j := bits.TrailingZeros32(todo)
		todo &= todo - 1
		if r.try(uint32(i*blockSize+j), limit) {
			if s.triangles <= r.target {
				return true
			}
			todo = keys.upTo(limit) &^ (2<<j - 1) // others may have changed
		}
	}
	s.least[i] = keys.lowest()
	return false
}
