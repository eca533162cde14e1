package simplify

import (
	"iter"
	"math/bits"
)

// ranks numbers some of many things in their order.
type ranks struct {
	bits   []uint64
	before []uint32 // how many come before those of a word
}

// newRanks makes room for n things; none has a number.
func newRanks(n int) ranks {
	words := (n + 63) / 64
	return ranks{bits: make([]uint64, words), before: make([]uint32, words)}
}

// put adds one to those that get a number.
func (r *ranks) put(i uint32) { r.bits[i/64] |= 1 << (i & 63) }

// number numbers those that were put and returns how many they are.
func (r *ranks) number() int {
	n := 0
	for i, w := range r.bits {
		r.before[i] = uint32(n)
		n += bits.OnesCount64(w)
	}
	return n
}

// all goes through those that were put.
func (r *ranks) all() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, w := range r.bits {
			for ; w != 0; w &= w - 1 {
				if !yield(uint32(64*i + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// of returns the number of one of them.
func (r *ranks) of(i uint32) uint32 {
	return r.before[i/64] + uint32(bits.OnesCount64(r.bits[i/64]&(1<<(i&63)-1)))
}
