package astc

// level is how many values a quantised number can have, as an index of levels.
type level uint8

// Levels that are named.
const (
	level6   level = 4  // the coarsest that colours may have
	level32  level = 11 // the finest of weights
	level256 level = 20
)

// form says how numbers of a level are stored: each as bits, and with most
// levels a base-3 or base-5 digit above them, of which five or three share a
// byte or seven bits (bounded integer sequence encoding).
type form struct {
	count         int // values
	bits          uint8
	trits, quints bool
}

var levels = [...]form{
	{2, 1, false, false},
	{3, 0, true, false},
	{4, 2, false, false},
	{5, 0, false, true},
	{6, 1, true, false},
	{8, 3, false, false},
	{10, 1, false, true},
	{12, 2, true, false},
	{16, 4, false, false},
	{20, 2, false, true},
	{24, 3, true, false},
	{32, 5, false, false},
	{40, 3, false, true},
	{48, 4, true, false},
	{64, 6, false, false},
	{80, 4, false, true},
	{96, 5, true, false},
	{128, 7, false, false},
	{160, 5, false, true},
	{192, 6, true, false},
	{256, 8, false, false},
}

// sequenceBits returns the bits that n numbers of a level take.
func sequenceBits(n int, l level) int {
	f := &levels[l]
	size := n * int(f.bits)
	switch {
	case f.trits:
		size += (8*n + 4) / 5
	case f.quints:
		size += (7*n + 2) / 3
	}
	return size
}

// How the digits of a group are spread between the bits of its numbers.
var (
	tritParts  = [5]uint8{2, 2, 1, 2, 1}
	quintParts = [3]uint8{3, 2, 2}
)

var (
	tritsOf  [256][5]uint8 // digits of the byte that five of them share
	quintsOf [128][3]uint8
	packTrit [243]uint8 // the byte, by digits with the first as the lowest
	packFive [125]uint8
)

func init() {
	for t := 255; t >= 0; t-- { // of equal groups the smallest byte stays: its missing bits are zeros
		tritsOf[t] = unpackTrits(t)
		d := tritsOf[t]
		packTrit[int(d[0])+3*int(d[1])+9*int(d[2])+27*int(d[3])+81*int(d[4])] = uint8(t)
	}
	for q := 127; q >= 0; q-- {
		quintsOf[q] = unpackQuints(q)
		d := quintsOf[q]
		packFive[int(d[0])+5*int(d[1])+25*int(d[2])] = uint8(q)
	}
}

func unpackTrits(t int) (d [5]uint8) {
	bit := func(v, i int) int { return v >> i & 1 }
	c := t & 31
	if t>>2&7 == 7 {
		c = t>>5<<2 | t&3
		d[4], d[3] = 2, 2
	} else if t>>5&3 == 3 {
		d[4], d[3] = 2, uint8(bit(t, 7))
	} else {
		d[4], d[3] = uint8(bit(t, 7)), uint8(t>>5&3)
	}
	switch {
	case c&3 == 3:
		d[2], d[1] = 2, uint8(bit(c, 4))
		d[0] = uint8(bit(c, 3)<<1 | bit(c, 2)&^bit(c, 3))
	case c>>2&3 == 3:
		d[2], d[1], d[0] = 2, 2, uint8(c&3)
	default:
		d[2], d[1] = uint8(bit(c, 4)), uint8(c>>2&3)
		d[0] = uint8(bit(c, 1)<<1 | bit(c, 0)&^bit(c, 1))
	}
	return d
}

func unpackQuints(q int) (d [3]uint8) {
	bit := func(v, i int) int { return v >> i & 1 }
	if q>>1&3 == 3 && q>>5&3 == 0 {
		d[2] = uint8(bit(q, 0)<<2 | (bit(q, 4)&^bit(q, 0))<<1 | bit(q, 3)&^bit(q, 0))
		d[1], d[0] = 4, 4
		return d
	}
	c := q & 31
	if q>>1&3 == 3 {
		d[2] = 4
		c = q>>3&3<<3 | ^(q>>5)&3<<1 | q&1
	} else {
		d[2] = uint8(q >> 5 & 3)
	}
	if c&7 == 5 {
		d[1], d[0] = 4, uint8(c>>3&3)
	} else {
		d[1], d[0] = uint8(c>>3&3), uint8(c&7)
	}
	return d
}

// bits128 are the bits of a block, the lowest first.
type bits128 struct{ lo, hi uint64 }

// at returns n bits, at most 32, from a place on.
func (b bits128) at(from, n uint) uint32 { return uint32(b.from(from).lo & (1<<n - 1)) }

// from returns the bits from a place below 128 on.
func (b bits128) from(n uint) bits128 {
	if n >= 64 {
		return bits128{b.hi >> (n - 64), 0}
	}
	return bits128{b.lo>>n | b.hi<<(64-n), b.hi >> n}
}

// take removes the n lowest bits, at most 8.
func (b *bits128) take(n uint8) uint8 {
	v := uint8(b.lo & (1<<n - 1))
	b.lo = b.lo>>n | b.hi<<(64-n)
	b.hi >>= n
	return v
}

// put sets n bits, at most 32, at a place; they have to be zero before.
func (b *bits128) put(at, n uint, v uint32) {
	w := uint64(v) & (1<<n - 1)
	if at >= 64 {
		b.hi |= w << (at - 64)
		return
	}
	b.lo |= w << at
	b.hi |= w >> (64 - at)
}

// readSequence reads numbers of a level. A number is its digit above its bits,
// which is not its order among the values.
func readSequence(b bits128, l level, out []uint8) {
	f := &levels[l]
	switch {
	case f.trits:
		for len(out) > 0 {
			n := min(len(out), 5)
			var group uint8
			at := uint8(0)
			for i := range n {
				out[i] = b.take(f.bits)
				group |= b.take(tritParts[i]) << at
				at += tritParts[i]
			}
			d := &tritsOf[group]
			for i := range n {
				out[i] |= d[i] << f.bits
			}
			out = out[n:]
		}
	case f.quints:
		for len(out) > 0 {
			n := min(len(out), 3)
			var group uint8
			at := uint8(0)
			for i := range n {
				out[i] = b.take(f.bits)
				group |= b.take(quintParts[i]) << at
				at += quintParts[i]
			}
			d := &quintsOf[group]
			for i := range n {
				out[i] |= d[i] << f.bits
			}
			out = out[n:]
		}
	default:
		for i := range out {
			out[i] = b.take(f.bits)
		}
	}
}

// writeSequence is the reverse of readSequence: it sets bits from a place on.
func writeSequence(b *bits128, at uint, l level, values []uint8) {
	f := &levels[l]
	bits := uint(f.bits)
	mask := uint8(1<<f.bits - 1)
	put := func(n uint, v uint8) {
		b.put(at, n, uint32(v))
		at += n
	}
	switch {
	case f.trits:
		for len(values) > 0 {
			n := min(len(values), 5)
			index, base := 0, 1
			for _, v := range values[:n] {
				index += base * int(v>>f.bits)
				base *= 3
			}
			group := packTrit[index]
			for i, v := range values[:n] {
				put(bits, v&mask)
				put(uint(tritParts[i]), group)
				group >>= tritParts[i]
			}
			values = values[n:]
		}
	case f.quints:
		for len(values) > 0 {
			n := min(len(values), 3)
			index, base := 0, 1
			for _, v := range values[:n] {
				index += base * int(v>>f.bits)
				base *= 5
			}
			group := packFive[index]
			for i, v := range values[:n] {
				put(bits, v&mask)
				put(uint(quintParts[i]), group)
				group >>= quintParts[i]
			}
			values = values[n:]
		}
	default:
		for _, v := range values {
			put(bits, v)
		}
	}
}
