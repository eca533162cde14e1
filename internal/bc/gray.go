package bc

import "math"

// A gray block, of opaque texels whose red, green and blue are alike, has one number for each
// texel, and what is best for it can be looked for: where the values between two ends lie
// depends on the distance of the ends alone, so that a table says how far off a value is. Two
// of BC7's modes are of use:
//
//	6  one pair of ends, 16 weights; the lowest bit of an end is alpha's, too, so that only
//	   odd ones leave a texel opaque
//	1  two pairs, for the two sets of texels of a pattern, 8 weights each; 128 ends, of a pair
//	   both odd or both even
//
// The others have fewer weights, or ends that are too far apart, and win little.

// How far is looked. A block that is nearly met is searched more thoroughly, which costs less
// than it seems: most of what is tried is given up after a few texels.
const (
	enough   = 16 // squared error of a block that is nearly met
	near     = 2  // ends of mode 6 beside the extremes
	far      = 4  // the same of a block that is nearly met
	few      = 3  // patterns of mode 1, with 1 end beside the extremes of a set
	many     = 16 // the same of a block that is nearly met, and where mode 1 was of use, with 2
	lastEnd1 = 63
)

// scale is how the weights between two ends lie.
type scale struct {
	// By the distance of the ends, and then by how far a value is from the lower one: the
	// number of the nearest weight, and by how much it misses the value.
	from  [256]uint16
	index []uint8
	off   []uint8
}

var (
	eight   = newScale([]int32{0, 9, 18, 27, 37, 46, 55, 64})
	sixteen = newScale([]int32{0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64})
)

// newScale makes the tables of weights, in 64ths.
func newScale(weights []int32) *scale {
	return newScaleOf(len(weights), func(d int32, k int) int32 { return (d*weights[k] + 32) >> 6 })
}

// newScaleOf makes the tables of n values by the distance of the ends and their number.
func newScaleOf(n int, value func(d int32, k int) int32) *scale {
	s := &scale{}
	for d := range int32(256) {
		s.from[d] = uint16(len(s.index))
		for x := range d + 1 {
			least, at := int32(math.MaxInt32), 0
			for k := range n {
				off := value(d, k) - x
				if off = max(off, -off); off < least {
					least, at = off, k
				}
			}
			s.index, s.off = append(s.index, uint8(at)), append(s.off, uint8(least))
		}
	}
	return s
}

// miss returns the squared error of values between two ends, or something that is not below
// most.
func (s *scale) miss(v []int32, lo, hi, most int32) (sum int32) {
	d := hi - lo
	off := s.off[s.from[d]:][:d+1]
	for _, x := range v {
		if x -= lo; uint32(x) < uint32(len(off)) {
			x = int32(off[x])
		} else if x > 0 {
			x -= d
		}
		if sum += x * x; sum >= most {
			break
		}
	}
	return sum
}

// outside returns what values from lo to hi miss at least of ends between them. It costs less
// than most of what is tried.
func outside(lo, hi, l, h int32) int32 {
	below, above := max(l-lo, 0), max(hi-h, 0)
	return below*below + above*above
}

// weight returns the number of the weight for a value.
func (s *scale) weight(x, lo, hi int32) uint8 {
	return s.index[int32(s.from[hi-lo])+min(max(x-lo, 0), hi-lo)]
}

// gray is a block and the best that was found for it.
type gray struct {
	v      [16]int32
	lo, hi int32 // the extremes
	opaque bool  // it must stay so to the last bit; else alpha is not looked at

	miss    int32 // squared error in one channel
	pattern int   // of mode 1; below 0: mode 6
	ends    [2][2]int32
}

// newGray returns the block of 16 values.
func newGray(v *[16]uint8, opaque bool) gray {
	g := gray{lo: 255, opaque: opaque, miss: math.MaxInt32, pattern: -1}
	for i, x := range v {
		g.v[i] = int32(x)
		g.lo, g.hi = min(g.lo, int32(x)), max(g.hi, int32(x))
	}
	return g
}

// EncodeGray writes the block of BC7 for 16 opaque texels with these values in red, green and
// blue. Where opaque is false alpha may come out as 254, which gives the values more room.
func EncodeGray(out *[BlockBytes]byte, v *[16]uint8, opaque bool) {
	g := newGray(v, opaque)
	g.find()
	g.write(out)
}

// find looks for the best way.
func (g *gray) find() {
	if g.one(near); g.miss > 0 && g.miss <= enough {
		g.one(far)
	}
	if g.miss > 0 {
		g.two()
	}
}

// one tries mode 6, with ends up to so many beside the extremes.
func (g *gray) one(reach int32) {
	lo, hi, step := g.lo, g.hi, int32(1)
	if g.opaque {
		lo, hi, step = max((lo-1)|1, 1), hi|1, 2
	}
	try := func(l, h int32) {
		if outside(g.lo, g.hi, l, h) >= g.miss {
			return
		}
		if miss := sixteen.miss(g.v[:], l, h, g.miss); miss < g.miss {
			g.miss, g.ends[0] = miss, [2]int32{l, h}
		}
	}
	for _, a := range beside[:2*reach+1] {
		for _, b := range beside[:2*reach+1] {
			l, h := lo+a*step, hi-b*step
			if l >= step-1 && l <= h && h <= 255 && g.miss > 0 {
				try(l, h)
			}
		}
	}
}

// beside are steps from an extreme inwards, the most promising first.
var beside = [2*far + 1]int32{0, 1, -1, 2, -2, 3, -3, 4, -4}

// two tries mode 1 with the patterns that part the values best.
func (g *gray) two() {
	scores := g.scores()
	for k := 0; k < many && g.miss > 0; k++ {
		if k >= few && (g.miss > enough || g.miss > 2 && g.pattern < 0) {
			return
		}
		best := int64(0)
		for _, s := range scores {
			best = max(best, s)
		}
		p := int(best & 63)
		scores[p] = 0
		reach := int32(1)
		if k >= few {
			reach = 2
		}
		g.mode1(p, reach)
	}
}

// scores returns what each pattern explains of the values, as a number that is more the less
// the values of each set differ, and the pattern's number in the lowest six bits.
func (g *gray) scores() (scores [64]int64) {
	var sums [4][16]int32 // by row of the block and which of its texels are meant
	total := int64(0)
	for r := range sums {
		for k, x := range g.v[4*r:][:4] {
			total += int64(x)
			for m := range 1 << k {
				sums[r][m|1<<k] = sums[r][m] + x
			}
		}
	}
	for p, m := range patterns {
		b := int64(sums[0][m&15] + sums[1][m>>4&15] + sums[2][m>>8&15] + sums[3][m>>12])
		a, n := total-b, sizes[p]
		scores[p] = (a*a*sixteenths[16-n]+b*b*sixteenths[n])<<6 | int64(p)
	}
	return scores
}

// sixteenths are the reciprocals of 1 to 15, times what all of them divide.
var sixteenths = func() (t [16]int64) {
	for n := 1; n < 16; n++ {
		t[n] = int64(360360 / n)
	}
	return t
}()

// mode1 tries a pattern.
func (g *gray) mode1(p int, reach int32) {
	var sets [2][16]int32
	var n [2]int
	for i, x := range g.v {
		s := patterns[p] >> i & 1
		sets[s][n[s]&15] = x
		n[s]++
	}
	var sum int32
	var ends [2][2]int32
	for s := range sets {
		v := sets[s][:n[s]]
		lo, hi := v[0], v[0]
		for _, x := range v {
			lo, hi = min(lo, x), max(hi, x)
		}
		best := g.miss - sum
		for low := range int32(2) {
			from, to := (lo>>1-low)>>1, (hi>>1-low+1)>>1
			for _, a := range beside[:2*reach+1] {
				for _, b := range beside[:2*reach+1] {
					if a, b := from+a, to-b; a >= 0 && a <= b && b <= lastEnd1 {
						l, h := end1(a, low), end1(b, low)
						if outside(lo, hi, l, h) >= best {
							continue
						}
						if miss := eight.miss(v, l, h, best); miss < best {
							best, ends[s] = miss, [2]int32{l, h}
						}
					}
				}
			}
		}
		if sum += best; sum >= g.miss {
			return
		}
	}
	g.miss, g.pattern, g.ends = sum, p, ends
}

// end1 returns what six bits and a lowest one mean in mode 1.
func end1(stored, low int32) int32 {
	v := stored<<1 | low
	return v<<1 | v>>6
}

// write writes the block.
func (g *gray) write(out *[BlockBytes]byte) {
	var w bitWriter
	defer w.block(out)
	if g.pattern < 0 {
		e := g.ends[0]
		turn := sixteen.weight(g.v[0], e[0], e[1])&8 != 0 // the first weight lacks its highest bit
		if turn {
			e[0], e[1] = e[1], e[0]
		}
		w.put(1<<6, 7)
		for range 3 {
			w.put(e[0]>>1, 7)
			w.put(e[1]>>1, 7)
		}
		w.put(127, 7) // alpha
		w.put(127, 7)
		w.put(e[0]&1, 1)
		w.put(e[1]&1, 1)
		for i, x := range g.v {
			k := int32(sixteen.weight(x, g.ends[0][0], g.ends[0][1]))
			if turn {
				k = 15 - k
			}
			w.put(k, uint(4-boolToInt(i == 0)))
		}
		return
	}
	m, anchor := patterns[g.pattern], anchors[g.pattern]
	first := [2]int{0, int(anchor)}
	ends, turn := g.ends, [2]bool{}
	for s, i := range first {
		if turn[s] = eight.weight(g.v[i], ends[s][0], ends[s][1])&4 != 0; turn[s] {
			ends[s][0], ends[s][1] = ends[s][1], ends[s][0]
		}
	}
	w.put(1<<1, 2)
	w.put(int32(g.pattern), 6)
	for range 3 {
		for _, e := range ends {
			w.put(e[0]>>2, 6)
			w.put(e[1]>>2, 6)
		}
	}
	w.put(ends[0][0]>>1&1, 1)
	w.put(ends[1][0]>>1&1, 1)
	for i, x := range g.v {
		s := m >> i & 1
		k := int32(eight.weight(x, g.ends[s][0], g.ends[s][1]))
		if turn[s] {
			k = 7 - k
		}
		w.put(k, uint(3-boolToInt(i == first[s])))
	}
}

// sizes are how many texels the second set of each pattern has, 1 to 15.
var sizes = func() (t [64]int) {
	for p, m := range patterns {
		for ; m != 0; m &= m - 1 {
			t[p]++
		}
	}
	return t
}()

// anchors are the texels of the second sets whose weights lack their highest bit.
var anchors = [64]uint8{
	15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
	15, 2, 8, 2, 2, 8, 8, 15, 2, 8, 2, 2, 8, 8, 2, 2,
	15, 15, 6, 8, 2, 8, 15, 15, 2, 8, 2, 2, 2, 15, 15, 6,
	6, 2, 6, 8, 15, 15, 2, 2, 15, 15, 15, 15, 15, 2, 2, 15,
}

// patterns are the texels of the second set, by the number of the pattern; the first texel
// has the lowest bit.
var patterns = [64]uint16{
	0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80,
	0xc800, 0xffec, 0xfe80, 0xe800, 0xffe8, 0xff00, 0xfff0, 0xf000,
	0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310, 0x3100, 0x8cce,
	0x088c, 0x3110, 0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c,
	0xaaaa, 0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696, 0xa55a,
	0x73ce, 0x13c8, 0x324c, 0x3bdc, 0x6996, 0xc33c, 0x9966, 0x0660,
	0x0272, 0x04e4, 0x4e40, 0x2720, 0xc936, 0x936c, 0x39c6, 0x639c,
	0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22,
}
