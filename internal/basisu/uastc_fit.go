package basisu

import "math"

// fit finds the endpoints and weights of one subset, in some of its channels.
type fit struct {
	t       *trial
	list    []uint8 // pixels
	values  *[16]color
	copied  [16]color  // values, where channels are left out: 0 in these
	on      [4]int32   // all bits in the channels that are fitted, none in others
	sums    *moments   // of the list, in all channels
	along   *line      // through the pixels, where it is known
	palette *[32]color // room for the colours of the weights
	ends    []uint8    // quantized: the low and the high one of each component
}

// rounds is how often endpoints are fitted to weights and weights to endpoints.
const rounds = 2

// take sets the channels that are fitted.
func (f *fit) take(pixels *[16]color, fitted func(c int) bool) {
	f.copied, f.values, f.along = *pixels, &f.copied, nil
	for c := range 4 {
		f.on[c] = 0
		if fitted(c) && (c < f.t.m.components || f.t.m.components == 2) {
			f.on[c] = -1
		}
	}
	for i := range f.copied {
		for c, on := range f.on {
			f.copied[i][c] &= on
		}
	}
}

// run fits the channels and adds to the trial what it costs.
func (f *fit) run(weights *[16]uint8) {
	m := f.t.m
	lo, hi := f.line()
	best := int64(math.MaxInt64)
	var low, high, bestLow, bestHigh color
	for round := range rounds {
		for c := range 4 {
			low[c], high[c] = m.nearest(c, lo[c], f.t.kept)&f.on[c], m.nearest(c, hi[c], f.t.kept)&f.on[c]
		}
		var found [16]uint8
		err := f.weigh(&low, &high, &found)
		if err < best {
			best, bestLow, bestHigh = err, low, high
			for _, i := range f.list {
				weights[i&15] = found[i&15]
			}
		} else if round > 0 {
			break
		}
		if best == 0 || round == rounds-1 {
			break
		}
		if !f.solve(&found, &lo, &hi) {
			break
		}
	}
	length := int32(0)
	for c := range 4 {
		d := bestHigh[c] - bestLow[c]
		length += d * d
	}
	for k := range m.components {
		if c := m.channelOf(k); f.on[c] != 0 {
			f.ends[2*k], f.ends[2*k+1] = m.endpoints.index[bestLow[c]&255], m.endpoints.index[bestHigh[c]&255]
		}
	}
	f.t.err += best
	f.t.cost += float32(float32(best)*(1+bc7Part)) + float32(m.lost(float32(length), &f.on)*float32(len(f.list)))
}

// channelOf is the first channel that a component stands for.
func (m *mode) channelOf(component int) int {
	if m.components == 2 && component == 1 {
		return 3
	}
	return component
}

// nearest returns the value of an endpoint that is closest to v in a channel, or the one that
// is when BC7 has rounded it.
func (m *mode) nearest(channel int, v float32, kept bool) int32 {
	if channel == 3 && m.components == 3 {
		return 255
	}
	k := int32(min(max(v, 0), 255) + 0.5)
	if kept {
		return int32(m.kept[k&255])
	}
	return int32(m.endpoints.closest[k&255])
}

// line returns the ends of the line through the pixels.
func (f *fit) line() (lo, hi [4]float32) {
	l := f.along
	if l == nil {
		own := f.sums.line(&f.on)
		own.reach(f.values, f.list)
		l = &own
	}
	for c := range lo {
		lo[c] = l.mean[c] + float32(l.least*l.axis[c])
		hi[c] = l.mean[c] + float32(l.most*l.axis[c])
	}
	return lo, hi
}

// weigh finds the weight of every pixel and returns the squared error.
func (f *fit) weigh(low, high *color, weights *[16]uint8) (sum int64) {
	m := f.t.m
	palette := f.palette
	l0, l1, l2, l3 := low[0], low[1], low[2], low[3]
	d0, d1, d2, d3 := high[0]-l0, high[1]-l1, high[2]-l2, high[3]-l3
	for w, weight := range m.weights {
		x := int32(weight)
		palette[w&31] = color{
			((l0<<6+d0*x)*0x101 + 32) >> 14, ((l1<<6+d1*x)*0x101 + 32) >> 14,
			((l2<<6+d2*x)*0x101 + 32) >> 14, ((l3<<6+d3*x)*0x101 + 32) >> 14,
		}
	}
	// The weight is near the place on the line from the first color to the last.
	top := int32(len(m.weights) - 1)
	length := d0*d0 + d1*d1 + d2*d2 + d3*d3
	scale := float32(0)
	if length > 0 {
		scale = float32(top) / float32(length)
	}
	base := l0*d0 + l1*d1 + l2*d2 + l3*d3
	total := int32(0)
	for _, i := range f.list {
		v := &f.values[i&15]
		at := v[0]*d0 + v[1]*d1 + v[2]*d2 + v[3]*d3 - base
		w := min(max(int32(float32(float32(at)*scale)+0.5), 0), top)
		best := distance(v, &palette[w&31])
		weights[i&15] = uint8(w)
		if best > 0 && w > 0 {
			if d := distance(v, &palette[(w-1)&31]); d < best {
				best, weights[i&15] = d, uint8(w-1)
			}
		}
		if best > 0 && w < top {
			if d := distance(v, &palette[(w+1)&31]); d < best {
				best, weights[i&15] = d, uint8(w+1)
			}
		}
		total += best
	}
	return int64(total)
}

// distance is that of two colours, squared.
func distance(a, b *color) int32 {
	d0, d1, d2, d3 := a[0]-b[0], a[1]-b[1], a[2]-b[2], a[3]-b[3]
	return d0*d0 + d1*d1 + d2*d2 + d3*d3
}

// solve finds the endpoints that suit the weights best, by least squares. It is false
// where all weights are alike.
func (f *fit) solve(weights *[16]uint8, lo, hi *[4]float32) bool {
	// Weights are b/64 of the high end and (64-b)/64 of the low one.
	var bb, b1, x0, x1, x2, x3 int32
	values := f.t.m.weights
	for _, i := range f.list {
		b := int32(values[weights[i&15]])
		v := &f.values[i&15]
		bb, b1 = bb+b*b, b1+b
		x0, x1, x2, x3 = x0+b*v[0], x1+b*v[1], x2+b*v[2], x3+b*v[3]
	}
	n := int32(len(f.list))
	aa, ab := n<<12-b1<<7+bb, b1<<6-bb
	det := int64(aa)*int64(bb) - int64(ab)*int64(ab)
	if det <= 0 {
		return false
	}
	scale := 64 / float32(det)
	for c, xb := range [4]int32{x0, x1, x2, x3} {
		xa := (f.sums.sum[c]&f.on[c])<<6 - xb
		lo[c] = float32(int64(bb)*int64(xa)-int64(ab)*int64(xb)) * scale
		hi[c] = float32(int64(aa)*int64(xb)-int64(ab)*int64(xa)) * scale
	}
	return true
}

// newIndex makes the table of nearest values.
func newIndex(values []uint8) (index [256]uint8) {
	for v := range index {
		best := 256
		for i, x := range values {
			if d := max(int(x)-v, v-int(x)); d < best {
				best, index[v] = d, uint8(i)
			}
		}
	}
	return index
}
