package bc

import "math/bits"

// rate estimates what a compressor that finds repeated bytes, as Zstandard does, takes for
// blocks: how far back a match lies costs bits, unless it is as far as one of the last three;
// and a match that goes on where another ended costs next to nothing.
type rate struct {
	last [3]int // distances of the last matches, in bytes
	open int    // that of the match that ended where the next bytes begin; 0 is none
}

const (
	literalBits  = 61 // of 8 bytes without a match, which entropy coding shortens little
	openBits     = 1  // of a match that is longer for it
	repeatedBits = 10 // of a match as far back as an earlier one: its length, and that of what lies before
	matchBits    = 14 // of another, without the bits of its distance
)

// match returns the bits of a match of 8 bytes or more.
func (r *rate) match(distance int) int32 {
	if distance == r.open {
		return openBits
	}
	return r.anew(distance)
}

// anew returns the bits of a match after bytes that none covers.
func (r *rate) anew(distance int) int32 {
	switch distance {
	case r.last[0], r.last[1], r.last[2]:
		return repeatedBits
	}
	return matchBits + int32(bits.Len(uint(distance)))
}

// use takes 8 bytes that match those at a distance; 0 is none.
func (r *rate) use(distance int) {
	if distance == r.open {
		return
	}
	r.open = distance
	switch distance {
	case 0, r.last[0]:
	case r.last[1]:
		r.last[0], r.last[1] = distance, r.last[0]
	default:
		r.last = [3]int{distance, r.last[0], r.last[1]}
	}
}

// bargain is what a change has to beat: squared errors against bits.
type bargain struct {
	scale int32 // of a squared error, in sixteenths
	bit   int32 // what one is worth, in these
	best  int32
}

// Blocks of little contrast show errors most, and are few of the bits: theirs count up to
// 1 + smoothWeight times. At a contrast of even, half of that is left.
const (
	scaleOne     = 16
	smoothWeight = 3
	even         = 100 // of a channel, as a sum of squares around the mean
)

// scaleOf returns how much squared errors count in a block of a contrast, the sum over some
// channels.
func scaleOf(contrast, channels int32) int32 {
	return scaleOne + scaleOne*smoothWeight*even*channels/(even*channels+contrast)
}

func (b *bargain) cost(miss, bits int32) int32 { return b.scale*miss + b.bit*bits }

// limit returns the squared error that so many bits may not reach.
func (b *bargain) limit(bits int32) int32 { return (b.best - b.bit*bits + b.scale - 1) / b.scale }

// recent are the last distinct values of a kind, of which the oldest makes place.
type recent[T any] struct {
	keys []uint64 // which tell most of them apart
	list []T
	next int
}

// find returns the place of a value.
func (r *recent[T]) find(key uint64, same func(*T) bool) (int, bool) {
	for i, k := range r.keys {
		if k == key && same(&r.list[i]) {
			return i, true
		}
	}
	return 0, false
}

// add returns a place for a value; at most so many are kept.
func (r *recent[T]) add(key uint64, most int) *T {
	if len(r.list) < most {
		var none T
		r.keys, r.list = append(r.keys, key), append(r.list, none)
		return &r.list[len(r.list)-1]
	}
	i := r.next
	r.next = (i + 1) % most
	r.keys[i] = key
	return &r.list[i]
}
