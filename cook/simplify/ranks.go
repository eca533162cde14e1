package simplify

import "math/bits"

// ranks numbers some of many things in their order.
type ranks struct {
	bits   []uint64
	before []uint32 // how many come before those of a word
	count  int
}

func newRanks(n int, is func(i int) bool) ranks {
	words := (n + 63) / 64
	r := ranks{bits: make([]uint64, words), before: make([]uint32, words)}
	for i := range words {
		r.before[i] = uint32(r.count)
		for k := 64 * i; k < min(64*i+64, n); k++ {
			if is(k) {
				r.bits[i] |= 1 << (k & 63)
				r.count++
			}
		}
	}
	return r
}

func (r *ranks) has(i uint32) bool { return r.bits[i/64]>>(i&63)&1 != 0 }

// of returns the number of one of them.
func (r *ranks) of(i uint32) uint32 {
	return r.before[i/64] + uint32(bits.OnesCount64(r.bits[i/64]&(1<<(i&63)-1)))
}
