package bc

import "encoding/binary"

// bitReader reads bits, from the lowest on.
type bitReader struct{ lo, hi uint64 }

func (b *bitReader) take(n uint) int32 {
	v := int32(b.lo & (1<<n - 1))
	b.lo = b.lo>>n | b.hi<<(64-n)
	b.hi >>= n
	return v
}

// texels are those of a block, line by line.
type texels [16][4]uint8

// stored is how a mode of BC7 stores a block.
var stored = [8]struct {
	subsets, pattern, rotation uint8 // their number, and bits
	color, alpha               uint  // bits of an end without its parity
	parity                     parity
	index, second              uint // bits of a weight's number
}{
	{3, 4, 0, 4, 0, endParity, 3, 0},
	{2, 6, 0, 6, 0, pairParity, 3, 0},
	{3, 6, 0, 5, 0, noParity, 2, 0},
	{2, 6, 0, 7, 0, endParity, 2, 0},
	{1, 0, 2, 5, 6, noParity, 2, 3},
	{1, 0, 2, 7, 8, noParity, 2, 2},
	{1, 0, 0, 7, 7, endParity, 4, 0},
	{2, 6, 0, 5, 5, endParity, 2, 0},
}

// decodeBC7 fills out with the texels of a block, as a GPU does. A block of no mode is black
// and transparent.
func decodeBC7(block []byte, out *texels) {
	r := bitReader{binary.LittleEndian.Uint64(block), binary.LittleEndian.Uint64(block[8:])}
	c := coded{}
	for r.take(1) == 0 {
		if c.mode++; c.mode > 7 {
			*out = texels{}
			return
		}
	}
	s := &stored[c.mode]
	c.pattern = uint8(r.take(uint(s.pattern)))
	c.rotation = uint8(r.take(uint(s.rotation)))
	c.fine = c.mode == 4 && r.take(1) > 0
	ends := int(2 * s.subsets)
	var e [6][4]int32
	channels := 3
	if s.alpha > 0 {
		channels = 4
	}
	for k := range channels {
		n := s.color
		if k == 3 {
			n = s.alpha
		}
		for i := range ends {
			e[i][k] = r.take(n)
		}
	}
	low := uint(0)
	if s.parity != noParity {
		low = 1
		p := int32(0)
		for i := range ends {
			if s.parity == endParity || i&1 == 0 {
				p = r.take(1)
			}
			for k := range channels {
				e[i][k] = e[i][k]<<1 | p
			}
		}
	}
	for i := range ends {
		for k := range 3 {
			e[i][k] = widen(e[i][k], s.color+low)
		}
		if e[i][3] = widen(e[i][3], s.alpha+low); channels == 3 {
			e[i][3] = 255
		}
	}
	anchor := [3]int{}
	switch s.subsets {
	case 2:
		anchor[1] = int(anchors[c.pattern])
	case 3:
		anchor[1], anchor[2] = int(anchors3[c.pattern][0]), int(anchors3[c.pattern][1])
	}
	var set, scalar [16]uint8
	for i := range c.index {
		set[i] = c.setOf(i)
		n := s.index
		if anchor[set[i]] == i {
			n--
		}
		c.index[i] = uint8(r.take(n))
	}
	first, second := &weights[s.index], &weights[s.index]
	if s.second > 0 {
		second = &weights[s.second]
		scalar[0] = uint8(r.take(s.second - 1))
		for i := range scalar[1:] {
			scalar[i+1] = uint8(r.take(s.second))
		}
		if c.fine {
			first, second, c.index, scalar = second, first, scalar, c.index
		}
	} else {
		scalar = c.index
	}
	for i := range out {
		a, b := &e[2*set[i]], &e[2*set[i]+1]
		w := first[c.index[i]]
		for k := range 3 {
			out[i][k] = between(a[k], b[k], w)
		}
		out[i][3] = between(a[3], b[3], second[scalar[i]])
		if c.rotation > 0 {
			k := c.rotation - 1
			out[i][k], out[i][3] = out[i][3], out[i][k]
		}
	}
}

// widen brings a stored number of some bits to eight.
func widen(v int32, n uint) int32 {
	if n == 0 || n == 8 {
		return v
	}
	return v<<(8-n) | v<<(8-n)>>n
}

// between returns the value at a weight between two ends.
func between(a, b, w int32) uint8 { return uint8((a*(64-w) + b*w + 32) >> 6) }

// decodeBC4 returns the values of a block of one channel.
func decodeBC4(block uint64) (out [16]uint8) {
	var v [8]int32
	a, b := int32(block&255), int32(block>>8&255)
	v[0], v[1] = a, b
	if a > b {
		for k := int32(1); k < 7; k++ {
			v[k+1] = ((7-k)*a + k*b + 3) / 7
		}
	} else {
		for k := int32(1); k < 5; k++ {
			v[k+1] = ((5-k)*a + k*b + 2) / 5
		}
		v[7] = 255
	}
	for i := range out {
		out[i] = uint8(v[block>>(16+3*i)&7])
	}
	return out
}
