package astc

import (
	"encoding/binary"
	"math/bits"
)

// Block4x4 is a block of 4 x 4 texels with a weight to each, as formats have it that are a
// part of ASTC.
type Block4x4 struct {
	Components int // 2: luminance and alpha, 3: red, green and blue, 4: alpha too
	Partitions int // 1 to 3
	Seed       int // of the partitioning, 0 to 1023
	// Numbers are the ends of each partition, the low and the high one of each component
	// by turns, as numbers of Levels values: a digit above bits.
	Numbers    [18]uint8
	Levels     int
	WeightBits uint         // 1 to 5
	Weights    [2][16]uint8 // the second of Channel, with Dual
	Dual       bool
	Channel    int // 0 to 3
}

// modes4x4 are the numbers of block modes with a weight to each texel, by the bits of a
// weight, and whether there are two.
var modes4x4 = func() (t [6][2]int) {
	for m := range 2048 {
		b, ok := modeOf(m)
		f := &levels[b.weights]
		if !ok || b.width != 4 || b.height != 4 || f.trits || f.quints {
			continue
		}
		dual := 0
		if b.dual {
			dual = 1
		}
		if t[f.bits][dual] == 0 {
			t[f.bits][dual] = m
		}
	}
	return t
}()

// levelOf are levels by their number of values.
var levelOf = func() (t [257]level) {
	for l := range levels {
		t[levels[l].count] = level(l)
	}
	return t
}()

// Bytes returns the block. What the format has not, as too many bits, gives a block
// without sense.
func (p *Block4x4) Bytes() (out [BlockBytes]byte) {
	dual, n := 0, 16
	var w [32]uint8
	if p.Dual {
		dual, n = 1, 32
		for i := range 16 {
			w[2*i], w[2*i+1] = p.Weights[0][i], p.Weights[1][i]
		}
	} else {
		copy(w[:], p.Weights[0][:])
	}
	l := levelOf[1<<p.WeightBits]
	var down bits128
	writeSequence(&down, 0, l, w[:n])
	b := bits128{bits.Reverse64(down.hi), bits.Reverse64(down.lo)}
	b.put(0, 11, uint32(modes4x4[p.WeightBits][dual]))
	b.put(11, 2, uint32(p.Partitions-1))
	ends := uint32(4 * (p.Components - 1)) // modeLumAlpha, modeRGB or modeRGBA
	start := uint(17)
	if p.Partitions == 1 {
		b.put(13, 4, ends)
	} else {
		start = 29
		b.put(13, 10, uint32(p.Seed))
		b.put(23, 6, ends<<2)
	}
	if p.Dual {
		b.put(uint(126-sequenceBits(n, l)), 2, uint32(p.Channel))
	}
	writeSequence(&b, start, levelOf[p.Levels], p.Numbers[:2*p.Components*p.Partitions])
	binary.LittleEndian.PutUint64(out[:], b.lo)
	binary.LittleEndian.PutUint64(out[8:], b.hi)
	return out
}
