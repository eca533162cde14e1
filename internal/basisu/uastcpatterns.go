package basisu

// pattern says which subset each pixel of a block belongs to.
type pattern struct {
	subset  [16]uint8
	anchors uint16 // bits of the first pixels of the subsets, whose weights lack a bit
	seed    uint16 // ASTC's number of the pattern

	masks [3]uint16 // bits of the pixels of each subset
	order [16]uint8 // pixels, by subset
	from  [4]uint8  // where those of a subset begin in order
}

var onePattern = func() (p pattern) {
	p.anchors = 1
	p.sort()
	return p
}()

// sort lists the pixels by subset.
func (p *pattern) sort() {
	n := uint8(0)
	for s := range p.masks {
		p.from[s] = n
		for k, own := range p.subset {
			if int(own) == s {
				p.masks[s] |= 1 << k
				p.order[n] = uint8(k)
				n++
			}
		}
	}
	p.from[3] = n
}

// pixels returns those of a subset.
func (p *pattern) pixels(subset int) []uint8 { return p.order[p.from[subset]:p.from[subset+1]] }

// The patterns of UASTC are those that both ASTC and BC7 have, by ASTC's seeds:
// with as many subsets in both, or two of BC7's three merged in ASTC.
var (
	twoSubsets = patterns(2, [30]uint32{
		28, 20, 16, 29, 91, 9, 107, 72, 149, 204, 50, 114, 496, 17, 78,
		39, 252, 828, 43, 156, 116, 210, 476, 273, 684, 359, 246, 195, 694, 524,
	})
	threeSubsets  = patterns(3, [30]uint32{260, 74, 32, 156, 183, 15, 745, 0, 335, 902, 254})[:11]
	mergedSubsets = patterns(2, [30]uint32{
		36, 48, 61, 137, 161, 183, 226, 281, 302, 307, 479, 495, 593, 594, 605, 799, 812, 988, 993,
	})[:19]
)

func patterns(subsets int, seeds [30]uint32) []pattern {
	out := make([]pattern, len(seeds))
	for i, seed := range seeds {
		p := &out[i]
		p.seed = uint16(seed)
		var seen uint8
		for k := range p.subset {
			s := subsetOf(seed, uint32(k%BlockSize), uint32(k/BlockSize), subsets)
			p.subset[k] = s
			if seen>>s&1 == 0 {
				seen |= 1 << s
				p.anchors |= 1 << k
			}
		}
		p.sort()
	}
	return out
}

// subsetOf is ASTC's function that makes patterns of numbers, for blocks of fewer
// than 31 pixels and two or three subsets.
func subsetOf(seed, x, y uint32, subsets int) uint8 {
	x, y = 2*x, 2*y
	seed += uint32(subsets-1) * 1024
	random := scramble(seed)
	// Eight steps of four bits, squared.
	var step [8]uint32
	for i := range step {
		step[i] = random >> (4 * i) & 15
		step[i] *= step[i]
	}
	even, odd := uint(5), uint(5) // how far they are shifted
	if subsets == 3 {
		odd = 6
	}
	if seed&2 != 0 {
		even = 4
	}
	if seed&1 == 0 {
		even, odd = odd, even
	}
	for i := range step {
		if i%2 == 0 {
			step[i] >>= even
		} else {
			step[i] >>= odd
		}
	}
	a := (step[0]*x + step[1]*y + random>>14) & 63
	b := (step[2]*x + step[3]*y + random>>10) & 63
	c := (step[4]*x + step[5]*y + random>>6) & 63
	if subsets < 3 {
		c = 0
	}
	switch {
	case a >= b && a >= c:
		return 0
	case b >= c:
		return 1
	}
	return 2
}

// scramble is the hash of ASTC's pattern function.
func scramble(v uint32) uint32 {
	v ^= v >> 15
	v -= v << 17
	v += v << 7
	v += v << 4
	v ^= v >> 5
	v += v << 16
	v ^= v >> 7
	v ^= v >> 3
	v ^= v << 6
	v ^= v >> 17
	return v
}
