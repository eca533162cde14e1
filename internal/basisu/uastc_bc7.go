package basisu

// TranscodeBC7 turns UASTC blocks into those of BC7 that come nearest, without decoding
// their pixels: each mode of UASTC has one of BC7 with the same subsets and about as many
// weights, so that ends are rounded and little else; weights follow the rounded ends. What is
// opaque stays so. dst has the length of data. The error matches ErrDamaged.
func TranscodeBC7(dst, data []byte) error {
	return transcode(dst, data, func(out *[uastcBlock]byte, s *symbols) { s.bc7(out) })
}

// bc7Block is a block of BC7 before it is written.
type bc7Block struct {
	m       *bc7Mode
	pattern *bc7Pattern
	ends    [3][2][4]uint8 // by subset, as they are meant
	weights [2][16]uint8   // as they are stored, but for the turns of anchors
	swap    uint           // the channel that is exchanged with alpha, and 1 more; 0: none
}

// bc7 writes the block as one of BC7.
func (s *symbols) bc7(out *[uastcBlock]byte) {
	if s.m.components == 0 {
		s.solidBC7(out)
		return
	}
	b := s.bc7Block()
	var ends bc7Ends
	b.fit(s, &ends)
	b.write(out, &ends)
}

// bc7Block turns the block, of more than one colour, into one of BC7.
func (s *symbols) bc7Block() bc7Block {
	m := s.m
	b := bc7Block{m: bc7Modes[m.number]}
	var subset *pattern
	b.pattern, subset = s.patternBC7(b.m)
	var ends [3][2][4]uint8
	for part := range m.subsets {
		ends[part] = s.meant(part)
	}
	for i, part := range subset.subset {
		b.ends[b.pattern.subsets>>(2*i)&3] = ends[part]
	}
	if m.subsets == 1 {
		b.ends[1] = ends[0]
	}
	number := &bc7Weight[m.weightBits][b.m.weightBits]
	for i := range 16 {
		b.weights[0][i] = number[s.weights[0][i]&31]
	}
	if m.dual {
		for i := range 16 {
			b.weights[1][i] = number[s.weights[1][i]&31]
		}
		if b.swap = (s.plane + 1) & 3; b.swap > 0 {
			for e := range 2 {
				c := &b.ends[0][e]
				c[s.plane], c[3] = c[3], c[s.plane]
			}
		}
	}
	return b
}

// bc7Error is the squared error of pixels of what the block becomes.
func (s *symbols) bc7Error(pixels *[16]color) (sum int64) {
	b := s.bc7Block()
	m := b.m
	var colors [3][16]color
	values := bc7Weights[m.weightBits]
	for part := range m.subsets {
		var stored [2][4]uint8
		low := b.round(part, &stored)
		if m.lowBits == 0 {
			low = [2]int{2, 2}
		}
		for c := range 4 {
			lo, hi := int32(255), int32(255)
			switch {
			case c == 3 && m.apart:
				lo, hi = int32(stored[0][3]), int32(stored[1][3])
			case c < m.channels:
				lo, hi = int32(bc7Value(stored[0][c], m.endBits, low[0])), int32(bc7Value(stored[1][c], m.endBits, low[1]))
			}
			for w, weight := range values {
				colors[part][w&15][c] = (lo<<6 + (hi-lo)*int32(weight) + 32) >> 6
			}
		}
	}
	for i := range pixels {
		x := colors[b.pattern.subsets>>(2*i)&3][b.weights[0][i]&15]
		if m.apart {
			x[3] = colors[0][b.weights[1][i]&15][3]
			if b.swap > 0 {
				x[s.plane], x[3] = x[3], x[s.plane]
			}
		}
		sum += int64(distance(&pixels[i], &x))
	}
	return sum
}

// patternBC7 returns BC7's pattern of the block's, and that one.
func (s *symbols) patternBC7(to *bc7Mode) (*bc7Pattern, *pattern) {
	switch {
	case s.m.patterns == nil && to.subsets == 1:
		return &bc7One, &onePattern
	case s.m.patterns == nil:
		return &bc7Two[0], &onePattern
	case s.m.subsets == 3:
		return &bc7Three[s.pattern], s.shape()
	case to.subsets == 3:
		return &bc7Merged[s.pattern], s.shape()
	}
	return &bc7Two[s.pattern], s.shape()
}

// meant returns the ends of a subset in all channels.
func (s *symbols) meant(part int) (ends [2][4]uint8) {
	m := s.m
	n := s.ends[2*m.components*part:][:2*m.components]
	for e := range ends {
		c := &ends[e]
		for k := range m.components {
			c[k] = m.endpoints.values[n[2*k+e]]
		}
		switch m.components {
		case 2:
			*c = [4]uint8{c[0], c[0], c[0], c[1]}
		case 3:
			c[3] = 255
		}
	}
	return ends
}

// solidBC7 writes a block of one colour, which is exact.
func (s *symbols) solidBC7(out *[uastcBlock]byte) {
	var w blockWriter
	w.put(1<<5, 6)
	w.put(0, 2)
	for c := range 3 {
		ends := bc7Solid[s.color>>(8*c)&255]
		w.put(uint32(ends[0]), 7)
		w.put(uint32(ends[1]), 7)
	}
	alpha := s.color >> 24
	w.put(alpha, 8)
	w.put(alpha, 8)
	w.put(0x2aaaaaab, 31) // the weight 1 everywhere, without the first one's highest bit
	w.put(0, 31)
	w.bytes(out)
}

// write writes the block.
func (b *bc7Block) write(out *[uastcBlock]byte, ends *bc7Ends) {
	m := b.m
	b.turn(&ends.stored, &ends.low)
	stored, low := &ends.stored, &ends.low
	var w blockWriter
	w.put(1<<m.number, m.number+1)
	w.put(uint32(b.pattern.number), m.patternBits)
	w.put(uint32(b.swap), m.rotationBits)
	for c := range m.channels {
		n := m.endBits
		if c == 3 && m.apart {
			n = m.alphaBits
		}
		for part := range m.subsets {
			w.put(uint32(stored[part][0][c]), n)
			w.put(uint32(stored[part][1][c]), n)
		}
	}
	for part := range m.subsets {
		for e := range m.lowBits {
			w.put(uint32(low[part][e]), 1)
		}
	}
	planes := 1
	if m.apart {
		planes = 2
	}
	for plane := range planes {
		for i, v := range b.weights[plane] {
			w.put(uint32(v), m.weightBits-uint(b.pattern.anchors>>i&1))
		}
	}
	w.bytes(out)
}

// round finds the stored ends of a subset, and the lowest bits that their channels share.
func (b *bc7Block) round(part int, stored *[2][4]uint8) (low [2]int) {
	m := b.m
	ends := &b.ends[part]
	opaque := ends[0][3] == 255 && ends[1][3] == 255
	try := func(e, low int, into *[4]uint8) (sum int) {
		table := &bc7End[m.endBits][low]
		for c := range m.channels {
			v := ends[e][c]
			if c == 3 && m.apart {
				into[c] = v
				continue
			}
			into[c] = table[v]
			d := int(bc7Value(into[c], m.endBits, low)) - int(v)
			if c == 3 && opaque {
				d <<= 8
			}
			sum += d * d
		}
		return sum
	}
	var other [2][4]uint8
	switch m.lowBits {
	case 0:
		try(0, 2, &stored[0])
		try(1, 2, &stored[1])
	case 1:
		if try(0, 1, &other[0])+try(1, 1, &other[1]) < try(0, 0, &stored[0])+try(1, 0, &stored[1]) {
			*stored, low = other, [2]int{1, 1}
		}
	default:
		for e := range stored {
			if try(e, 1, &other[e]) < try(e, 0, &stored[e]) {
				stored[e], low[e] = other[e], 1
			}
		}
	}
	return low
}

// turn exchanges ends where the weight of an anchor has its highest bit, which is not
// written.
func (b *bc7Block) turn(stored *[3][2][4]uint8, low *[3][2]int) {
	m := b.m
	top := uint8(1)<<m.weightBits - 1
	for i := range 16 {
		if b.pattern.anchors>>i&1 == 0 {
			continue
		}
		part := b.pattern.subsets >> (2 * i) & 3
		ends := &stored[part]
		if b.weights[0][i]>>(m.weightBits-1) != 0 {
			for k := range 16 {
				if b.pattern.subsets>>(2*k)&3 == part {
					b.weights[0][k] = top - b.weights[0][k]
				}
			}
			alpha := [2]uint8{ends[0][3], ends[1][3]}
			ends[0], ends[1] = ends[1], ends[0]
			low[part][0], low[part][1] = low[part][1], low[part][0]
			if m.apart {
				ends[0][3], ends[1][3] = alpha[0], alpha[1]
			}
		}
		if m.apart && b.weights[1][i]>>(m.weightBits-1) != 0 {
			for k := range 16 {
				b.weights[1][k] = top - b.weights[1][k]
			}
			ends[0][3], ends[1][3] = ends[1][3], ends[0][3]
		}
	}
}
