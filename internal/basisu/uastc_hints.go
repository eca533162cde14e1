package basisu

import "math"

// Hints say how a reader makes ETC1 and ETC2 of a block: which way it is halved, whether the
// second half's colour is a difference, tables of intensities, and how the mean colours of the
// halves are moved; of alpha the table and the multiplier of EAC. Those of BC1 save a
// reader time only and stay 0: then it fits BC1 to the pixels, which loses several dB less.

// etc1Tables are the two sizes of steps that each table of intensities has.
var etc1Tables = [8][2]int32{{2, 8}, {5, 17}, {9, 29}, {13, 42}, {18, 60}, {24, 80}, {33, 106}, {47, 183}}

// etc1Halves are the pixels of the halves: side by side, and one above the other.
var etc1Halves = [2][2][8]uint8{
	{{0, 1, 4, 5, 8, 9, 12, 13}, {2, 3, 6, 7, 10, 11, 14, 15}},
	{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}},
}

// noBias is the number that leaves mean colours where they are.
const noBias = 13

// oneBias are the numbers that move one channel of one half: which half and channel, and
// whether up.
var oneBias = map[int]struct {
	half, channel int
	by            int32
}{
	2: {0, 0, -1}, 5: {0, 1, -1}, 6: {0, 2, -1}, 7: {0, 0, 1}, 11: {0, 1, 1}, 15: {0, 2, 1},
	18: {1, 0, -1}, 19: {1, 1, -1}, 20: {1, 2, -1}, 21: {1, 0, 1}, 24: {1, 1, 1}, 8: {1, 2, 1},
}

// allBias are the numbers that move all channels of each half.
var allBias = map[int][2]int32{10: {-2, -2}, 27: {-1, 0}, 28: {1, -1}, 29: {0, 1}, 30: {0, -1}, 31: {1, 0}}

// biases are by how many steps each number moves the channels of the halves. All others than
// those above are three digits of base 3, one for a channel.
var biases = func() (t [32][2][3]int32) {
	for n := range t {
		for half := range 2 {
			for c := range 3 {
				d := int32(n/[3]int{1, 3, 9}[c]%3 - 1)
				if all, ok := allBias[n]; ok {
					d = all[half]
				} else if one, ok := oneBias[n]; ok {
					d = 0
					if one.half == half && one.channel == c {
						d = one.by
					}
				}
				t[n][half][c] = d
			}
		}
	}
	return t
}()

// move moves a channel of a mean colour of 0 to limit. At either end it goes inwards.
func move(v, by, limit int32) int32 {
	switch {
	case v == 0 && by == -2:
		return 3
	case v == 0:
		return by + 1
	case v == limit:
		return v + by - 1
	}
	if to := v + by; to >= 0 && to <= limit {
		return to
	}
	return v - by
}

// etc1 is how a block becomes one of ETC1.
type etc1 struct {
	flip, diff bool
	tables     [2]uint8
	bias       uint8
	err        int64 // squared, of three channels, as if no channel left its range
}

// hint fills in the hints of a block that was written.
func (e *blockEncoder) hint(out *[uastcBlock]byte) {
	m := e.best.m
	var raw [16]uint32
	decodeBlock(&raw, out)
	var pixels [16]color
	for i, p := range raw {
		pixels[i] = color{int32(p & 255), int32(p >> 8 & 255), int32(p >> 16 & 255), int32(p >> 24)}
	}
	h := bestETC1(&pixels, m.biased())
	w := blockWriter{n: m.codeBits}
	bc1 := uint(2)
	if !m.biased() {
		bc1 = 1
	}
	w.put(0, bc1)
	w.put(bit(h.flip)|bit(h.diff)<<1|uint32(h.tables[0])<<2|uint32(h.tables[1])<<5, 8)
	if m.biased() {
		w.put(uint32(h.bias), 5)
	}
	if m.components == 2 || m.components == 4 {
		w.put(eacHint(&pixels), 8)
	}
	var hints [uastcBlock]byte
	w.bytes(&hints)
	for i, b := range hints {
		out[i] |= b
	}
}

func bit(on bool) uint32 {
	if on {
		return 1
	}
	return 0
}

// biased reports whether hints of the mode have a bias, and a second one for BC1.
func (m *mode) biased() bool { return m.hintBits != 17 }

// etc1Half is what one half's pixels say.
type etc1Half struct {
	sum     [3]int32 // of each channel
	squares int32    // of all channels, summed
	gray    [8]int32 // of each pixel, its channels summed

	// seen are gains that were found, by the sum of a colour's channels.
	seen [16]struct {
		at, gain int32
		table    uint8
	}
	n int
}

func (h *etc1Half) take(pixels *[16]color, list *[8]uint8) {
	h.sum, h.squares, h.n = [3]int32{}, 0, 0
	for k, i := range list {
		p := &pixels[i&15]
		h.sum[0], h.sum[1], h.sum[2] = h.sum[0]+p[0], h.sum[1]+p[1], h.sum[2]+p[2]
		h.squares += p[0]*p[0] + p[1]*p[1] + p[2]*p[2]
		h.gray[k&7] = p[0] + p[1] + p[2]
	}
}

// off is the squared error of a colour with the best steps around it, as if no channel left
// its range, and the table of the steps.
func (h *etc1Half) off(base *[3]int32) (int32, uint8) {
	b0, b1, b2 := base[0], base[1], base[2]
	rest := h.squares - 2*(b0*h.sum[0]+b1*h.sum[1]+b2*h.sum[2]) + 8*(b0*b0+b1*b1+b2*b2)
	gain, table := h.gain(b0 + b1 + b2)
	return rest - gain, table
}

// gain is how much less the error is by steps. A step moves all channels alike, so that it
// depends on the sum of the channels only.
func (h *etc1Half) gain(at int32) (int32, uint8) {
	for i := range h.seen[:h.n&31] {
		if s := &h.seen[i]; s.at == at {
			return s.gain, s.table
		}
	}
	var off [8]int32
	for k, g := range h.gray {
		d := g - at
		off[k] = 2 * max(d, -d)
	}
	most, table := int32(math.MinInt32), uint8(0)
	for t := range etc1Tables {
		a, b := etc1Tables[t][0], etc1Tables[t][1]
		gain := int32(0)
		for _, d := range &off {
			gain += max(a*(d-3*a), b*(d-3*b))
		}
		if gain < most {
			break // steps only grow from here on
		}
		most, table = gain, uint8(t)
	}
	if h.n < len(h.seen) {
		h.seen[h.n].at, h.seen[h.n].gain, h.seen[h.n].table = at, most, table
		h.n++
	}
	return most, table
}

// bestETC1 finds out how pixels become ETC1 with the least error.
func bestETC1(pixels *[16]color, biased bool) etc1 {
	best := etc1{err: math.MaxInt64}
	var halves [2][2]etc1Half
	for flip := range 2 {
		for k := range 2 {
			halves[flip][k].take(pixels, &etc1Halves[flip][k])
		}
		for _, diff := range [2]bool{true, false} {
			h := etc1{flip: flip == 1, diff: diff, bias: noBias, err: best.err}
			fits := h.try(&halves[flip], biased)
			if h.err < best.err {
				best = h
			}
			if fits {
				break // fewer bits are of no use where differences fit
			}
		}
	}
	if biased {
		best.search(&halves[bit(best.flip)])
	}
	return best
}

// search finds the best bias.
func (h *etc1) search(halves *[2]etc1Half) {
	// What moving by -2 to 2 makes of each channel, as it is stored and as it is meant.
	var stored, meant [2][3][8]int32
	for half := range 2 {
		for c := range 3 {
			v := h.mean(&halves[half], c)
			for by := range 5 {
				q := move(v, int32(by-2), h.limit())
				stored[half][c][by], meant[half][c][by] = q, h.expand(q)
			}
		}
	}
	for n := range biases {
		by := &biases[n]
		var base [2][3]int32
		for c := range 3 {
			i, k := (by[0][c]+2)&7, (by[1][c]+2)&7
			base[0][c], base[1][c] = meant[0][c][i], meant[1][c][k]
			if h.diff {
				q := stored[0][c][i]
				if d := stored[1][c][k] - q; d < -4 || d > 3 {
					base[1][c] = h.expand(q + min(max(d, -4), 3))
				}
			}
		}
		first, t0 := halves[0].off(&base[0])
		if int64(first) >= h.err {
			continue
		}
		second, t1 := halves[1].off(&base[1])
		if sum := int64(first) + int64(second); sum < h.err {
			h.err, h.tables, h.bias = sum, [2]uint8{t0, t1}, uint8(n)
		}
	}
}

func (h *etc1) limit() int32 {
	if h.diff {
		return 31
	}
	return 15
}

// mean is the mean of a channel of a half, as it is stored.
func (h *etc1) mean(half *etc1Half, c int) int32 { return (half.sum[c]*h.limit() + 1020) / 2040 }

// expand returns what a stored channel means.
func (h *etc1) expand(q int32) int32 {
	if h.diff {
		return q<<3 | q>>2
	}
	return q * 17
}

// try finds the tables and the error of halves, unless it is above what err is. It is false where a difference had to be cut
// off.
func (h *etc1) try(halves *[2]etc1Half, biased bool) (fits bool) {
	var q [2][3]int32
	for half := range q {
		for c := range 3 {
			v := h.mean(&halves[half], c)
			if biased { // the number that means none moves what lies at an end, too
				v = move(v, 0, h.limit())
			}
			q[half][c] = v
		}
	}
	fits = true
	if h.diff {
		for c := range 3 {
			d := q[1][c] - q[0][c]
			if k := min(max(d, -4), 3); k != d {
				fits = false
				q[1][c] = q[0][c] + k
			}
		}
	}
	sum := int64(0)
	for half := range q {
		base := &q[half]
		for c, v := range base {
			base[c] = h.expand(v)
		}
		var err int32
		err, h.tables[half] = halves[half].off(base)
		if sum += int64(err); sum >= h.err {
			return fits
		}
	}
	h.err = sum
	return fits
}
