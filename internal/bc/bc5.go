package bc

import (
	"encoding/binary"
	"image"
)

// sevenths and fifths are how the values of BC4 lie between two ends, in order: of blocks whose
// first end is the larger, and of others, which also have 0 and 255.
var sevenths, fifths = newParts(7), newParts(5)

func newParts(n int32) *scale {
	return newScaleOf(int(n)+1, func(d int32, k int) int32 { return (int32(k)*d + n/2) / n })
}

// encodeBC5 encodes lines of blocks, each a block of BC4 for red and one for green.
func encodeBC5(out []byte, img *image.NRGBA, q Quality) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	var v [2][16]int32
	for y := 0; y < h; y += 4 {
		for x := 0; x < w; x += 4 {
			for k := range 4 {
				line := img.Pix[min(y+k, h-1)*img.Stride:]
				for i := range 4 {
					p := line[4*min(x+i, w-1):][:2]
					v[0][4*k+i], v[1][4*k+i] = int32(p[0]), int32(p[1])
				}
			}
			for c := range v {
				b, _ := encodeBC4(&v[c], reachBC4[q])
				binary.LittleEndian.PutUint64(out, b)
				out = out[8:]
			}
		}
	}
}

// reachBC4 is how far beside the extremes all pairs of ends are tried.
var reachBC4 = [...]int32{Fast: 2, High: 10}

// encodeBC4 returns a block of one channel and its squared error.
func encodeBC4(v *[16]int32, reach int32) (block uint64, miss int32) {
	lo, hi := v[0], v[0]
	innerLo, innerHi := int32(255), int32(0) // of what is neither 0 nor 255
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
		if x > 0 && x < 255 {
			innerLo, innerHi = min(innerLo, x), max(innerHi, x)
		}
	}
	ends, miss := sevenths.search(v[:], lo, hi, 8, nothing)
	for a := max(lo-reach, 0); a <= lo+reach && miss > 0; a++ {
		for b := max(hi-reach, a); b <= min(hi+reach, 255); b++ {
			if outside(lo, hi, a, b) >= miss {
				continue
			}
			if m := sevenths.miss(v[:], a, b, miss); m < miss {
				ends, miss = [2]uint8{uint8(a), uint8(b)}, m
			}
		}
	}
	if miss > 0 && (lo == 0 || hi == 255) {
		innerLo = min(innerLo, innerHi) // both are in use, or neither is
		if e, m := searchFifths(v, innerLo, innerHi, miss); m < miss {
			return blockOfFifths(v, int32(e[0]), int32(e[1])), m
		}
	}
	// The values are stored from the larger end on, with both ends first.
	a, b := int32(ends[1]), int32(ends[0])
	block = uint64(a) | uint64(b)<<8
	if a == b {
		return block, miss
	}
	for i, x := range v {
		k := 7 - sevenths.weight(x, b, a)
		block |= uint64(order(k, 7)) << (16 + 3*i)
	}
	return block, miss
}

// order returns the stored number of the value k steps of n from the first end.
func order(k, n uint8) uint8 {
	switch k {
	case 0:
		return 0
	case n:
		return 1
	}
	return k + 1
}

// searchFifths finds ends between which lies what 0 and 255 are not nearer to.
func searchFifths(v *[16]int32, lo, hi, most int32) (ends [2]uint8, least int32) {
	least = most
	missOf := func(a, b, most int32) (sum int32) {
		for _, x := range v {
			e := min(fifths.missOne(x, a, b), x, 255-x)
			if sum += e * e; sum >= most {
				break
			}
		}
		return sum
	}
	a, b := lo, hi
	if m := missOf(a, b, least); m < least {
		least = m
	}
	for again := least > 0; again; {
		again = false
		for _, d := range [4][2]int32{{1, 0}, {0, -1}, {-1, 0}, {0, 1}} {
			x, y := a+d[0], b+d[1]
			if x < 0 || x > y || y > 255 {
				continue
			}
			if m := missOf(x, y, least); m < least {
				a, b, least, again = x, y, m, true
			}
		}
	}
	return [2]uint8{uint8(a), uint8(b)}, least
}

func blockOfFifths(v *[16]int32, a, b int32) uint64 {
	block := uint64(a) | uint64(b)<<8
	for i, x := range v {
		k := order(fifths.weight(x, a, b), 5)
		switch off := fifths.missOne(x, a, b); {
		case x < off:
			k = 6
		case 255-x < off:
			k = 7
		}
		block |= uint64(k) << (16 + 3*i)
	}
	return block
}

// missOne returns how far a value is from the nearest between two ends.
func (s *scale) missOne(x, lo, hi int32) int32 {
	d := hi - lo
	switch x -= lo; {
	case x < 0:
		return -x
	case x > d:
		return x - d
	}
	return int32(s.off[int32(s.from[d])+x])
}
