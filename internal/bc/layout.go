package bc

// layout is how a mode of BC7 stores the ends of its lines and the weights between them.
type layout struct {
	mode     uint8
	subsets  uint8
	channels int // that share a weight
	// bits is how long an end is with its lowest bit, which all channels of it share where
	// parity is not noParity.
	bits   int
	parity parity
	index  int // bits of a weight's number
}

// parity is what the lowest bits of ends are.
type parity uint8

const (
	noParity   parity = iota // of every channel its own
	pairParity               // one for both ends
	endParity                // one for each end
	oddParity                // 1 for each end: what keeps alpha at 255
)

// The layouts. Of modes 4 and 5 they are those of the three channels that share weights.
var (
	layout0     = layout{0, 3, 3, 5, endParity, 3}
	layout1     = layout{1, 2, 3, 7, pairParity, 3}
	layout2     = layout{2, 3, 3, 5, noParity, 2}
	layout3     = layout{3, 2, 3, 8, endParity, 2}
	layout4     = layout{4, 1, 3, 5, noParity, 2}
	layout4Fine = layout{4, 1, 3, 5, noParity, 3}
	layout5     = layout{5, 1, 3, 7, noParity, 2}
	layout6     = layout{6, 1, 4, 8, endParity, 4}
	layout6RGB  = layout{6, 1, 3, 8, endParity, 4} // alpha is not looked at
	layout6Odd  = layout{6, 1, 3, 8, oddParity, 4} // alpha is 255
	layout7     = layout{7, 2, 4, 6, endParity, 2}
)

// weights are of 2, 3 and 4 bits, in 64ths.
var weights = [5][16]int32{
	2: {0, 21, 43, 64},
	3: {0, 9, 18, 27, 37, 46, 55, 64},
	4: {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64},
}

// levels are the values that an end of some bits can have.
type levels struct {
	value [256]int32 // of the stored number
	// near is the stored number whose value is nearest: of all, of even and of odd numbers.
	near [3][256]uint8
}

// anyBit is the number of levels.near for all numbers; 0 and 1 are for even and odd ones.
const anyBit = 2

// ladder are the levels by bits, from 5 on.
var ladder = func() (all [9]*levels) {
	for bits := 5; bits <= 8; bits++ {
		l := &levels{}
		for q := range int32(1 << bits) {
			l.value[q] = q<<(8-bits) | q>>(2*bits-8)
		}
		for p := range l.near {
			for v := range int32(256) {
				best := int32(1 << 10)
				for q := range int32(1 << bits) {
					d := max(l.value[q]-v, v-l.value[q])
					if (p == anyBit || int(q&1) == p) && d < best {
						best, l.near[p][v] = d, uint8(q)
					}
				}
			}
		}
		all[bits] = l
	}
	return all
}()
