package astc

import (
	"slices"
)

// What the numbers of a level stand for: of weights 0 to 64, of colours 0 to
// 255. The index is the number as a sequence stores it.
var (
	weightValue = weightValues()
	colorValue  = colorValues()
)

// spread says how a digit and the bits below it make a value: the bits but the
// lowest go to places of a mask, the digit is multiplied, and the lowest bit
// mirrors the result.
type spread struct {
	places string // from the highest place, letters for bits, a for the lowest
	factor int
}

var weightSpread = map[level]spread{
	4:  {"0000000", 50},
	6:  {"0000000", 28},
	7:  {"b000b0b", 23},
	9:  {"b0000b0", 13},
	10: {"cb000cb", 11},
}

var colorSpread = map[level]spread{
	4:  {"000000000", 204},
	6:  {"000000000", 113},
	7:  {"b000b0bb0", 93},
	9:  {"b0000bb00", 54},
	10: {"cb000cbcb", 44},
	12: {"cb0000cbc", 26},
	13: {"dcb000dcb", 22},
	15: {"dcb0000dc", 13},
	16: {"edcb000ed", 11},
	18: {"edcb0000e", 6},
	19: {"fedcb000f", 5},
}

// value returns what a number stands for.
func (s spread) value(number, low int) int {
	width := len(s.places)
	b := 0
	for i, c := range s.places {
		if c != '0' {
			b |= number >> (c - 'a') & 1 << (width - 1 - i)
		}
	}
	mirror := 0
	if number&1 == 1 {
		mirror = 1<<width - 1
	}
	t := number>>low*s.factor + b
	t ^= mirror
	return mirror&(1<<(width-2)) | t>>2
}

// replicate repeats the n bits of v down to the width.
func replicate(v, n, width int) int {
	out := 0
	for at := width - n; at > -n; at -= n {
		if at >= 0 {
			out |= v << at
		} else {
			out |= v >> -at
		}
	}
	return out
}

func weightValues() (out [level32 + 1][32]uint8) {
	for l := range out {
		f := &levels[l]
		for v := range f.count {
			var w int
			switch s, ok := weightSpread[level(l)]; {
			case ok:
				w = s.value(v, int(f.bits))
			case f.trits:
				w = [3]int{0, 32, 63}[v]
			case f.quints:
				w = [5]int{0, 16, 32, 47, 63}[v]
			default:
				w = replicate(v, int(f.bits), 6)
			}
			if w > 32 {
				w++
			}
			out[l][v] = uint8(w)
		}
	}
	return out
}

func colorValues() (out [level256 + 1][256]uint8) {
	for l := level6; l <= level256; l++ {
		f := &levels[l]
		for v := range f.count {
			if s, ok := colorSpread[l]; ok {
				out[l][v] = uint8(s.value(v, int(f.bits)))
			} else {
				out[l][v] = uint8(replicate(v, int(f.bits), 8))
			}
		}
	}
	return out
}

// nearestColor is the number of a level whose value is the nearest; of two that
// of the smaller value.
var nearestColor = func() (out [level256 + 1][256]uint8) {
	for l := level6; l <= level256; l++ {
		nearest(colorValue[l][:levels[l].count], out[l][:])
	}
	return out
}()

func nearest(values, out []uint8) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(values[a]) - int(values[b]) })
	at := 0
	for v := range out {
		for at+1 < len(order) && distance(v, int(values[order[at+1]])) < distance(v, int(values[order[at]])) {
			at++
		}
		out[v] = uint8(order[at])
	}
}

func distance(a, b int) int { return max(a-b, b-a) }

// colorLevel[n][b] is the finest level of n numbers in b bits, plus 1; 0 where
// none fits.
var colorLevel = func() (t [19][128]uint8) {
	for n := 1; n < len(t); n++ {
		for b := range t[n] {
			for l := range levels {
				if sequenceBits(n, level(l)) <= b {
					t[n][b] = uint8(l) + 1
				}
			}
		}
	}
	return t
}()
