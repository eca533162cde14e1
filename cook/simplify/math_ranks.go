package simplify

import (
	"iter"
	"math/bits"
)

// ranks is a set of indices that numbers its members in order.
type ranks []rankWord

// rankWord has the bits of 64 things, in two halves as that takes no padding.
type rankWord struct {
	low, high uint32
	before    uint32 // how many come before them
}

func (w *rankWord) bits() uint64 { return uint64(w.low) | uint64(w.high)<<32 }

// newRanks makes room for n things; none has a number.
func newRanks(n int) ranks { return make(ranks, (n+63)/64) }

// put adds a member.
func (r ranks) put(i uint32) {
	w, bit := &r[i/64], uint64(1)<<(i&63)
	w.low |= uint32(bit)
	w.high |= uint32(bit >> 32)
}

// has reports whether an index is a member.
func (r ranks) has(i uint32) bool { return r[i/64].bits()>>(i&63)&1 != 0 }

// number numbers the members and returns how many there are.
func (r ranks) number() int {
	n := 0
	for i := range r {
		r[i].before = uint32(n)
		n += bits.OnesCount64(r[i].bits())
	}
	return n
}

// all yields the rank and the index of every member, in order.
func (r ranks) all() iter.Seq2[uint32, uint32] {
	return func(yield func(n, i uint32) bool) {
		n := uint32(0)
		for i := range r {
			for w := r[i].bits(); w != 0; w &= w - 1 {
				if !yield(n, uint32(64*i+bits.TrailingZeros64(w))) {
					return
				}
				n++
			}
		}
	}
}

// of returns the rank of a member.
func (r ranks) of(i uint32) uint32 {
	w := &r[i/64]
	return w.before + uint32(bits.OnesCount64(w.bits()&(1<<(i&63)-1)))
}
