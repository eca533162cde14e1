package basisu

import "math"

// eacTables are the steps of EAC's tables; the fourth one is the least, the last the greatest.
var eacTables = [16][8]int32{
	{-3, -6, -9, -15, 2, 5, 8, 14},
	{-3, -7, -10, -13, 2, 6, 9, 12},
	{-2, -5, -8, -13, 1, 4, 7, 12},
	{-2, -4, -6, -13, 1, 3, 5, 12},
	{-3, -6, -8, -12, 2, 5, 7, 11},
	{-3, -7, -9, -11, 2, 6, 8, 10},
	{-4, -7, -8, -11, 3, 6, 7, 10},
	{-3, -5, -8, -11, 2, 4, 7, 10},
	{-2, -6, -8, -10, 1, 5, 7, 9},
	{-2, -5, -8, -10, 1, 4, 7, 9},
	{-2, -4, -8, -10, 1, 3, 7, 9},
	{-2, -5, -7, -10, 1, 4, 6, 9},
	{-3, -4, -7, -10, 2, 3, 6, 9},
	{-1, -2, -3, -10, 0, 1, 2, 9},
	{-4, -6, -8, -9, 3, 5, 7, 8},
	{-3, -5, -7, -9, 2, 4, 6, 8},
}

// eacHint is the table, and above it the multiplier, that suit alpha best.
func eacHint(pixels *[16]color) uint32 {
	low, high := int32(255), int32(0)
	var counts [256]uint8
	var distinct [16]int32
	n := 0
	for i := range pixels {
		a := pixels[i][3]
		low, high = min(low, a), max(high, a)
		if counts[a&255]++; counts[a&255] == 1 {
			distinct[n&15] = a
			n++
		}
	}
	best, hint := int32(math.MaxInt32), uint32(1<<4)
	if low == high {
		return hint
	}
	for t := range eacTables {
		steps := &eacTables[t]
		span := steps[7] - steps[3]
		center := (low*(span+steps[3])*2 - high*steps[3]*2 + span) / (2 * span)
		near := (high - low) / span
		for by := max(near, 1); by <= min(near+1, 15); by++ {
			var values [8]int32
			for k, s := range steps {
				values[k] = min(max(center+s*by, 0), 255)
			}
			err := int32(0)
			for _, a := range distinct[:n] {
				d := int32(255)
				for _, v := range values {
					d = min(d, max(a-v, v-a))
				}
				if err += d * d * int32(counts[a&255]); err >= best {
					break
				}
			}
			if err < best {
				best, hint = err, uint32(t)|uint32(by)<<4
			}
		}
	}
	return hint
}

// appendSolid writes a block of one colour, with how it becomes one of ETC1.
func appendSolid(dst []byte, c color) []byte {
	w := blockWriter{}
	w.put(uint32(modes[8].code), modes[8].codeBits)
	w.put(uint32(c[0])|uint32(c[1])<<8|uint32(c[2])<<16|uint32(c[3])<<24, 32)
	best := int32(math.MaxInt32)
	var hint uint32
	for diff := uint32(0); diff < 2; diff++ {
		for t := range etc1Tables {
			for selector := range 4 {
				step := etc1Tables[t][1-(selector+1)/2&1]
				if selector < 2 {
					step = -step
				}
				err := int32(0)
				var q [3]uint32
				for k := range 3 {
					v, limit := min(max(c[k]-step, 0), 255), int32(15)
					if diff == 1 {
						limit = 31
					}
					n := (v*limit + 127) / 255
					got := n * 17
					if diff == 1 {
						got = n<<3 | n>>2
					}
					d := min(max(got+step, 0), 255) - c[k]
					err, q[k] = err+d*d, uint32(n)
				}
				if err < best {
					best = err
					hint = diff | uint32(t)<<1 | uint32(selector)<<4 | q[0]<<6 | q[1]<<11 | q[2]<<16
				}
			}
		}
	}
	w.put(hint, 21)
	return w.append(dst)
}
