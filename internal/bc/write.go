package bc

import "encoding/binary"

// bitWriter writes bits, from the lowest on.
type bitWriter struct {
	lo, hi uint64
	at     uint
}

func (b *bitWriter) put(v int32, n uint) {
	x := uint64(uint32(v))
	if b.at < 64 {
		b.lo |= x << b.at
		if b.at+n > 64 {
			b.hi |= x >> (64 - b.at)
		}
	} else {
		b.hi |= x << (b.at - 64)
	}
	b.at += n
}

func (b *bitWriter) block(out *[BlockBytes]byte) {
	binary.LittleEndian.PutUint64(out[:8], b.lo)
	binary.LittleEndian.PutUint64(out[8:], b.hi)
}

// coded is a block as one of the modes has it.
type coded struct {
	mode     uint8
	pattern  uint8
	rotation uint8 // of modes 4 and 5
	fine     bool  // mode 4: the channels that share weights have those of three bits
	ends     [3][2][4]uint8
	index    [16]uint8
	scalar   [16]uint8 // of modes 4 and 5: the weights of the channel that has its own
	err      int32     // sum of squared errors over all texels and channels in use
}

// setOf returns the set that a texel belongs to.
func (c *coded) setOf(i int) uint8 {
	switch c.mode {
	case 0, 2:
		m := patterns3[c.pattern&63]
		return uint8(m[0]>>i&1 | m[1]>>i&1<<1)
	case 1, 3, 7:
		return uint8(patterns[c.pattern&63] >> i & 1)
	}
	return 0
}

// write writes the block. Of the first texel of a set, and of its anchor in others, the
// highest bit of the weight's number is not stored, so that ends may have to change places.
func (c *coded) write(out *[BlockBytes]byte) {
	if c.mode == 4 || c.mode == 5 {
		c.writeTwo(out)
		return
	}
	l := [...]*layout{0: &layout0, 1: &layout1, 2: &layout2, 3: &layout3, 6: &layout6, 7: &layout7}[c.mode]
	anchor := [3]int{}
	switch l.subsets {
	case 2:
		anchor[1] = int(anchors[c.pattern&63])
	case 3:
		a := anchors3[c.pattern&63]
		anchor[1], anchor[2] = int(a[0]), int(a[1])
	}
	last := uint8(1)<<l.index - 1
	ends, turn := c.ends, [3]uint8{}
	for s := range ends[:l.subsets] {
		if c.index[anchor[s]&15] > last>>1 {
			ends[s][0], ends[s][1] = ends[s][1], ends[s][0]
			turn[s] = last
		}
	}
	var w bitWriter
	w.put(1<<c.mode, uint(c.mode)+1)
	switch {
	case c.mode == 0:
		w.put(int32(c.pattern), 4)
	case l.subsets > 1:
		w.put(int32(c.pattern), 6)
	}
	low := uint(0)
	if l.parity != noParity {
		low = 1
	}
	for k := range l.channels {
		for _, e := range ends[:l.subsets] {
			w.put(int32(e[0][k]>>low), uint(l.bits)-low)
			w.put(int32(e[1][k]>>low), uint(l.bits)-low)
		}
	}
	for _, e := range ends[:l.subsets] {
		switch l.parity {
		case pairParity:
			w.put(int32(e[0][0]&1), 1)
		case endParity:
			w.put(int32(e[0][0]&1), 1)
			w.put(int32(e[1][0]&1), 1)
		}
	}
	for i, k := range c.index {
		s, n := c.setOf(i), uint(l.index)
		if anchor[s] == i {
			n--
		}
		w.put(int32(k^turn[s]), n)
	}
	w.block(out)
}

// writeTwo writes blocks of modes 4 and 5, where one channel has weights of its own.
func (c *coded) writeTwo(out *[BlockBytes]byte) {
	var w bitWriter
	w.put(1<<c.mode, uint(c.mode)+1)
	w.put(int32(c.rotation), 2)
	colour, alpha, first, second := uint(7), uint(8), uint(2), uint(2)
	index := [2]*[16]uint8{&c.index, &c.scalar}
	if c.mode == 4 {
		colour, alpha, second = 5, 6, 3
		w.put(int32(boolToInt(c.fine)), 1)
		if c.fine {
			index[0], index[1] = index[1], index[0]
		}
	}
	ends := c.ends[0]
	var turn [2]uint8
	for k, n := range [2]uint{first, second} {
		last := uint8(1)<<n - 1
		if index[k][0] > last>>1 {
			turn[k] = last
			if index[k] == &c.scalar {
				ends[0][3], ends[1][3] = ends[1][3], ends[0][3]
			} else {
				a, b := ends[0][3], ends[1][3]
				ends[0], ends[1] = ends[1], ends[0]
				ends[0][3], ends[1][3] = a, b
			}
		}
	}
	for k := range 3 {
		w.put(int32(ends[0][k]), colour)
		w.put(int32(ends[1][k]), colour)
	}
	w.put(int32(ends[0][3]), alpha)
	w.put(int32(ends[1][3]), alpha)
	for k, n := range [2]uint{first, second} {
		w.put(int32(index[k][0]^turn[k]), n-1)
		for _, x := range index[k][1:] {
			w.put(int32(x^turn[k]), n)
		}
	}
	w.block(out)
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
