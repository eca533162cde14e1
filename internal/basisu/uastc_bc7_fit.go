package basisu

import (
	"math"
	"math/bits"
)

// bc7Ends are the ends of the subsets as they are stored, and their lowest bits.
type bc7Ends struct {
	stored [3][2][4]uint8
	low    [3][2]int
}

// value returns what an end means in a channel.
func (m *bc7Mode) value(ends *bc7Ends, part, e, c int) int32 {
	switch {
	case c >= m.channels:
		return 255
	case c == 3 && m.apart:
		return int32(ends.stored[part][e][3])
	case m.lowBits == 0:
		return int32(bc7Value(ends.stored[part][e][c], m.endBits, 2))
	}
	return int32(bc7Value(ends.stored[part][e][c], m.endBits, ends.low[part][e]))
}

// bc7Nearest are the nearest of BC7's weights to 0 to 64, by their bits.
var bc7Nearest = func() (t [5][65]uint8) {
	for n, list := range bc7Weights {
		for w := range t[n] {
			best := 65
			for k, x := range list {
				if d := max(w-int(x), int(x)-w); d < best {
					best, t[n][w] = d, uint8(k)
				}
			}
		}
	}
	return t
}()

// fit rounds the ends and gives each weight of UASTC that of BC7 whose colour comes nearest:
// rounded ends lie elsewhere, and so do the colours between them.
func (b *bc7Block) fit(s *symbols, ends *bc7Ends) {
	m := b.m
	for part := range m.subsets {
		ends.low[part] = b.round(part, &ends.stored[part])
	}
	if m == &bc7Mode6 && b.gray() {
		b.fitGray(s, ends)
		return
	}
	planes := 1
	if s.m.dual {
		planes = 2
	}
	for plane := range planes {
		first, last := 0, 3
		if plane == 1 {
			first = 3
		} else if m.apart {
			last = 2
		}
		var number [3][32]uint8
		for part := range m.subsets {
			b.along(s, ends, part, first, last, &number[part])
		}
		for i := range 16 {
			b.weights[plane][i] = number[b.pattern.subsets>>(2*i)&3][s.weights[plane][i]&31]
		}
	}
}

// along finds BC7's weights of UASTC's in some channels of a subset: both lie on lines.
func (b *bc7Block) along(s *symbols, ends *bc7Ends, part, first, last int, number *[32]uint8) {
	m := b.m
	var from, by, length int32
	for c := first; c <= last; c++ {
		lo, hi := m.value(ends, part, 0, c), m.value(ends, part, 1, c)
		a, z := int32(b.ends[part][0][c]), int32(b.ends[part][1][c])
		from += (a - lo) * (hi - lo)
		by += (z - a) * (hi - lo)
		length += (hi - lo) * (hi - lo)
	}
	if length == 0 {
		*number = bc7Weight[s.m.weightBits][m.weightBits]
		return
	}
	scale := 1 / float32(length)
	for k, w := range s.m.weights {
		at := float32(float32(64*from+int32(w)*by) * scale)
		number[k&31] = bc7Nearest[m.weightBits][min(max(int32(at+0.5), 0), 64)]
	}
}

// gray reports whether the ends of the only subset are gray and alike in alpha.
func (b *bc7Block) gray() bool {
	lo, hi := &b.ends[0][0], &b.ends[0][1]
	return lo[0] == lo[1] && lo[0] == lo[2] && hi[0] == hi[1] && hi[0] == hi[2] && lo[3] == hi[3]
}

// fitGray tries the ends around the rounded ones of a gray block, of BC7's mode 6. What a
// channel is off all three are, and where alpha is 255 only odd ends can be stored; with
// others and weights that suit them most values between them are met all the same.
func (b *bc7Block) fitGray(s *symbols, ends *bc7Ends) {
	var used uint32 // weights of UASTC
	var count [32]int32
	for _, w := range s.weights[0] {
		used |= 1 << (w & 31)
		count[w&31]++
	}
	lo, hi := int32(b.ends[0][0][0]), int32(b.ends[0][1][0])
	var grays [16]grayLevel
	n := 0
	for ; used != 0; used &= used - 1 {
		w := bits.TrailingZeros32(used)
		weight := int32(s.m.weights[w])
		grays[n&15] = grayLevel{w: uint8(w), count: count[w], value: (lo*0x101*(64-weight) + hi*0x101*weight + 32) >> 14}
		n++
	}
	best := int32(math.MaxInt32)
	var number [32]uint8
	from := [2]int32{int32(ends.stored[0][0][0]), int32(ends.stored[0][1][0])}
	for _, low := range nearby {
		for _, high := range nearby {
			at := [2]int32{from[0] + low, from[1] + high}
			if min(at[0], at[1]) < 0 || max(at[0], at[1]) > 127 {
				continue
			}
			var found [16]uint8
			off := nearestGrays(grays[:n], at[0]<<1|int32(ends.low[0][0]), at[1]<<1|int32(ends.low[0][1]), best, &found)
			if off >= best {
				continue
			}
			best = off
			for e, v := range at {
				for c := range 3 {
					ends.stored[0][e][c] = uint8(v)
				}
			}
			for k := range grays[:n] {
				number[grays[k].w&31] = found[k]
			}
		}
	}
	for i := range 16 {
		b.weights[0][i] = number[s.weights[0][i]&31]
	}
}

// nearby is by how much ends may be stored otherwise.
var nearby = [...]int32{0, -1, 1}

// grayLevel is a weight of UASTC, how many pixels have it, and their gray, in 0 to 255.
type grayLevel struct {
	w            uint8
	count, value int32
}

// nearestGrays finds weights of 4 bits between two ends, and returns their squared error in a
// channel. It ends where that is more than most.
func nearestGrays(grays []grayLevel, lo, hi, most int32, found *[16]uint8) (sum int32) {
	scale := float32(0)
	if lo != hi {
		scale = 64 / float32(hi-lo)
	}
	for k := range grays {
		g := &grays[k]
		at := bc7Nearest[4][min(max(int32(float32(float32(g.value-lo)*scale)+0.5), 0), 64)]
		least := int32(math.MaxInt32)
		// Colours are rounded, so that a neighbour may be as near.
		for _, w := range [3]uint8{at, max(at, 1) - 1, min(at+1, 15)} {
			d := (lo<<6+(hi-lo)*int32(bc7Weights[4][w])+32)>>6 - g.value
			if d *= d; d < least {
				least, found[k&15] = d, w
			}
		}
		if sum += g.count * least; sum > most {
			break
		}
	}
	return sum
}
