package astc

// endpointMode says how a pair of colours is stored.
type endpointMode uint8

// The modes of low dynamic range; the other numbers below 16 are of high.
const (
	modeLuminance      endpointMode = 0
	modeLuminanceDelta endpointMode = 1
	modeLumAlpha       endpointMode = 4
	modeLumAlphaDelta  endpointMode = 5
	modeScale          endpointMode = 6 // a colour, and what of it the other is
	modeRGB            endpointMode = 8
	modeRGBDelta       endpointMode = 9
	modeScaleAlpha     endpointMode = 10
	modeRGBA           endpointMode = 12
	modeRGBADelta      endpointMode = 13
)

// numbers returns how many a mode stores.
func (m endpointMode) numbers() int { return 2 * (int(m>>2) + 1) }

// color is red, green, blue and alpha, 0 to 255 when it is complete.
type color [4]int32

// colors returns the pair that numbers stand for; ok is false for modes of high
// dynamic range. v has eight elements, those that a mode has not are ignored.
func (m endpointMode) colors(v *[8]uint8) (e0, e1 color, ok bool) {
	var n [8]int32
	for i := range n {
		n[i] = int32(v[i])
	}
	switch m {
	case modeLuminance:
		return color{n[0], n[0], n[0], 255}, color{n[1], n[1], n[1], 255}, true
	case modeLuminanceDelta:
		l0 := n[0]>>2 | n[1]&0xc0
		l1 := min(l0+n[1]&0x3f, 255)
		return color{l0, l0, l0, 255}, color{l1, l1, l1, 255}, true
	case modeLumAlpha:
		return color{n[0], n[0], n[0], n[2]}, color{n[1], n[1], n[1], n[3]}, true
	case modeLumAlphaDelta:
		l, dl := offset(n[0], n[1])
		a, da := offset(n[2], n[3])
		return color{l, l, l, a}, clamped(color{l + dl, l + dl, l + dl, a + da}), true
	case modeScale:
		return color{n[0] * n[3] >> 8, n[1] * n[3] >> 8, n[2] * n[3] >> 8, 255}, color{n[0], n[1], n[2], 255}, true
	case modeScaleAlpha:
		return color{n[0] * n[3] >> 8, n[1] * n[3] >> 8, n[2] * n[3] >> 8, n[4]}, color{n[0], n[1], n[2], n[5]}, true
	case modeRGB, modeRGBA:
		e0, e1 = color{n[0], n[2], n[4], 255}, color{n[1], n[3], n[5], 255}
		if m == modeRGBA {
			e0[3], e1[3] = n[6], n[7]
		}
		if n[0]+n[2]+n[4] > n[1]+n[3]+n[5] {
			e0, e1 = contracted(e1), contracted(e0)
		}
		return e0, e1, true
	case modeRGBDelta, modeRGBADelta:
		var d color
		e0[3], d[3] = 255, 0
		for i := range int(m.numbers() / 2) {
			e0[i], d[i] = offset(n[2*i], n[2*i+1])
		}
		for i := range e1 {
			e1[i] = e0[i] + d[i]
		}
		if d[0]+d[1]+d[2] < 0 {
			e0, e1 = contracted(e1), contracted(e0)
		}
		return clamped(e0), clamped(e1), true
	}
	return e0, e1, false
}

// offset splits a base and a signed difference of six bits, whose highest bit
// is the base's.
func offset(base, d int32) (b, diff int32) {
	b = base>>1 | d&0x80
	diff = d >> 1 & 0x3f
	if diff&0x20 != 0 {
		diff -= 0x40
	}
	return b, diff
}

// contracted takes back what blue contraction did: red and green are stored as
// differences from their mean with blue.
func contracted(c color) color { return color{(c[0] + c[2]) >> 1, (c[1] + c[2]) >> 1, c[2], c[3]} }

func clamped(c color) color {
	for i := range c {
		c[i] = min(max(c[i], 0), 255)
	}
	return c
}
