package basisu

import "math/bits"

// mode is one of the ways to lay out a UASTC block, each a subset of an ASTC one.
type mode struct {
	number   int
	code     uint8 // of the first bits
	codeBits uint
	// hintBits say how to make blocks of other formats of this one.
	hintBits uint

	components int // 0: one colour for all, 2: luminance and alpha, 3: RGB, 4: RGBA
	subsets    int
	endpoints  *quantization
	weightBits uint

	patterns    []pattern // nil for one subset
	patternBits uint

	dual        bool // two weights a pixel, the second for one channel
	planeStored bool // which channel that is
	plane       uint // else

	weights []uint8 // unquantized, 0 to 64

	// Of the encoder: the squared error of a pixel that rounded ends leave in a channel, and,
	// in part, that of BC7's weights by the squared length of the line and of its ends.
	endNoise, weightLost, endLost float32
	// kept are the values of endpoints that come nearest when BC7 has rounded them.
	kept [256]uint8
}

// The codes begin with their lowest bit. 0x45 of 7 bits is kept for a later mode.
var modes = [19]mode{
	0:  {code: 0x01, codeBits: 4, hintBits: 15, components: 3, subsets: 1, endpoints: quant192, weightBits: 4},
	1:  {code: 0x35, codeBits: 6, hintBits: 15, components: 3, subsets: 1, endpoints: quant256, weightBits: 2},
	2:  {code: 0x1d, codeBits: 5, hintBits: 15, components: 3, subsets: 2, endpoints: quant16, weightBits: 3, patterns: twoSubsets[:], patternBits: 5},
	3:  {code: 0x03, codeBits: 5, hintBits: 15, components: 3, subsets: 3, endpoints: quant12, weightBits: 2, patterns: threeSubsets[:], patternBits: 4},
	4:  {code: 0x13, codeBits: 5, hintBits: 15, components: 3, subsets: 2, endpoints: quant40, weightBits: 2, patterns: twoSubsets[:], patternBits: 5},
	5:  {code: 0x0b, codeBits: 5, hintBits: 15, components: 3, subsets: 1, endpoints: quant256, weightBits: 3},
	6:  {code: 0x1b, codeBits: 5, hintBits: 15, components: 3, subsets: 1, endpoints: quant160, weightBits: 2, dual: true, planeStored: true},
	7:  {code: 0x07, codeBits: 5, hintBits: 15, components: 3, subsets: 2, endpoints: quant40, weightBits: 2, patterns: mergedSubsets[:], patternBits: 5},
	8:  {code: 0x17, codeBits: 5},
	9:  {code: 0x0f, codeBits: 5, hintBits: 23, components: 4, subsets: 2, endpoints: quant16, weightBits: 2, patterns: twoSubsets[:], patternBits: 5},
	10: {code: 0x02, codeBits: 3, hintBits: 17, components: 4, subsets: 1, endpoints: quant48, weightBits: 4},
	11: {code: 0x00, codeBits: 2, hintBits: 17, components: 4, subsets: 1, endpoints: quant48, weightBits: 2, dual: true, planeStored: true},
	12: {code: 0x06, codeBits: 3, hintBits: 17, components: 4, subsets: 1, endpoints: quant192, weightBits: 3},
	13: {code: 0x1f, codeBits: 5, hintBits: 23, components: 4, subsets: 1, endpoints: quant256, weightBits: 1, dual: true, planeStored: true},
	14: {code: 0x0d, codeBits: 5, hintBits: 23, components: 4, subsets: 1, endpoints: quant256, weightBits: 2},
	15: {code: 0x05, codeBits: 7, hintBits: 23, components: 2, subsets: 1, endpoints: quant256, weightBits: 4},
	16: {code: 0x15, codeBits: 6, hintBits: 23, components: 2, subsets: 2, endpoints: quant256, weightBits: 2, patterns: twoSubsets[:], patternBits: 5},
	17: {code: 0x25, codeBits: 6, hintBits: 23, components: 2, subsets: 1, endpoints: quant256, weightBits: 2, dual: true, plane: 3},
	18: {code: 0x09, codeBits: 4, hintBits: 15, components: 3, subsets: 1, endpoints: quant32, weightBits: 5},
}

// modeByCode finds a mode by the first 7 bits.
var modeByCode = func() (t [128]*mode) {
	for i := range modes {
		m := &modes[i]
		m.number = i
		m.weights = weights(m.weightBits)
		for code := int(m.code); code < len(t); code += 1 << m.codeBits {
			t[code] = m
		}
	}
	return t
}()

// weights returns ASTC's weights of n bits: their bits repeated to six, and those
// above the middle raised by one, so that the highest is 64.
func weights(n uint) []uint8 {
	if n == 0 {
		return nil
	}
	out := make([]uint8, 1<<n)
	for i := range out {
		v := repeat(uint32(i), n, 6)
		if v > 32 {
			v++
		}
		out[i] = uint8(v)
	}
	return out
}

// repeat repeats the n bits of v to a number of bits.
func repeat(v uint32, n, to uint) uint32 {
	have, out := n, v
	for have < to {
		out = out<<n | v
		have += n
	}
	return out >> (have - to)
}

// quantization is how ASTC stores endpoints: as bits, with a trit or a quint above
// them.
type quantization struct {
	bits    uint
	base    uint32 // 3, 5, or 0 for none
	values  []uint8
	index   [256]uint8 // of the nearest value
	closest [256]uint8 // the nearest value
}

// The quantizations that occur, by their number of values.
var (
	quant12  = newQuantization(2, 3)
	quant16  = newQuantization(4, 0)
	quant32  = newQuantization(5, 0)
	quant40  = newQuantization(3, 5)
	quant48  = newQuantization(4, 3)
	quant160 = newQuantization(5, 5)
	quant192 = newQuantization(6, 3)
	quant256 = newQuantization(8, 0)
)

func newQuantization(n uint, base uint32) *quantization {
	q := &quantization{bits: n, base: base, values: make([]uint8, max(base, 1)<<n)}
	for i := range q.values {
		v := uint32(i)
		if base == 0 {
			q.values[i] = uint8(repeat(v, n, 8))
			continue
		}
		q.values[i] = unquantize(v&(1<<n-1), v>>n, n, base)
	}
	q.index = newIndex(q.values)
	for v, i := range q.index {
		q.closest[v] = q.values[i]
	}
	return q
}

// unquantize follows the table of the Khronos Data Format Specification for the
// endpoints of ASTC: the lowest bit inverts all others, the rest are spread by a
// pattern of their own for each range, and the digit is worth c.
func unquantize(low, digit uint32, n uint, base uint32) uint8 {
	invert := uint32(0)
	if low&1 != 0 {
		invert = 0x1ff
	}
	bit := func(i uint) uint32 { return low >> i & 1 }
	var b, c uint32
	switch {
	case base == 3 && n == 2: // b000b0bb0
		c, b = 93, bit(1)*0b100010110
	case base == 3 && n == 4: // dcb000dcb
		c, b = 22, low>>1<<6|low>>1
	case base == 3 && n == 6: // fedcb000f
		c, b = 5, low>>1<<4|bit(5)
	case base == 5 && n == 3: // cb0000cbc
		c, b = 26, low>>1<<7|low>>1<<1|bit(2)
	case base == 5 && n == 5: // edcb0000e
		c, b = 6, low>>1<<5|bit(4)
	}
	v := (digit*c + b) ^ invert
	return uint8(invert&0x80 | v>>2)
}

// read reads values: first the digits of all of them, five trits or three quints
// to a number, then their bits.
func (q *quantization) read(b *block128, values []uint8) {
	var digits [18]uint32
	if q.base > 0 {
		group := 3
		if q.base == 3 {
			group = 5
		}
		for at := 0; at < len(values); at += group {
			n := min(group, len(values)-at)
			v := b.take(digitBits(q.base, n))
			for k := range n {
				digits[at+k] = v % q.base
				v /= q.base
			}
		}
	}
	for i := range values {
		values[i] = uint8(digits[i]<<q.bits | b.take(q.bits))
	}
}

// digitBits returns how many bits n digits have.
func digitBits(base uint32, n int) uint {
	most := uint(1)
	for range n {
		most *= uint(base)
	}
	return uint(bits.Len(most - 1))
}
