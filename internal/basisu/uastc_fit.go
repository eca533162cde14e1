package basisu

import "math"

// fit finds the endpoints and weights of one subset, in some of its channels.
type fit struct {
	t      *trial
	list   []int     // pixels
	values [16]color // of them, by component; 0 in channels that are not fitted
	share  color     // how many channels of a pixel each component stands for
	ends   []uint8   // quantized: the low and the high one of each component
}

// rounds is how often endpoints are fitted to weights and weights to endpoints.
const rounds = 3

// take sets the channels that are fitted.
func (f *fit) take(pixels *[16]color, channels [4]bool) {
	f.share = color{1, 1, 1, 1}
	from := [4]int{0, 1, 2, 3}
	if f.t.m.components == 2 {
		from[1], f.share[0] = 3, 3
	}
	for _, i := range f.list {
		f.values[i] = color{}
		for c, on := range channels {
			if on {
				f.values[i][c] = pixels[i][from[c]]
			}
		}
	}
}

// run fits the channels and returns the squared error.
func (f *fit) run(channels [4]bool, weights *[16]uint8) int64 {
	lo, hi := f.line()
	best := int64(math.MaxInt64)
	var ends [8]uint8
	for round := range rounds {
		for c := range f.t.m.components {
			if channels[c] {
				ends[2*c], ends[2*c+1] = f.t.m.endpoints.nearest(lo[c]), f.t.m.endpoints.nearest(hi[c])
			}
		}
		var found [16]uint8
		err := f.weigh(channels, ends[:], &found)
		if err < best {
			best = err
			for c := range f.t.m.components {
				if channels[c] {
					copy(f.ends[2*c:2*c+2], ends[2*c:])
				}
			}
			for _, i := range f.list {
				weights[i] = found[i]
			}
		} else if round > 0 {
			break
		}
		if best == 0 {
			break
		}
		lo, hi = f.solve(&found, lo, hi)
	}
	return best
}

// line returns the ends of the principal axis through the pixels.
func (f *fit) line() (lo, hi [4]float32) {
	var mean [4]float32
	for _, i := range f.list {
		for c, v := range f.values[i] {
			mean[c] += float32(v)
		}
	}
	for c := range mean {
		mean[c] /= float32(len(f.list))
	}
	var cov [4][4]float32
	for _, i := range f.list {
		var d [4]float32
		for c, v := range f.values[i] {
			d[c] = float32(v) - mean[c]
		}
		for a := range d {
			for b := a; b < 4; b++ {
				cov[a][b] += float32(d[a] * d[b])
			}
		}
	}
	for a := range cov {
		for b := range a {
			cov[a][b] = cov[b][a]
		}
	}
	axis := principal(&cov)
	var least, most float32
	for _, i := range f.list {
		var at float32
		for c, v := range f.values[i] {
			at += float32((float32(v) - mean[c]) * axis[c])
		}
		least, most = min(least, at), max(most, at)
	}
	for c := range mean {
		lo[c], hi[c] = mean[c]+float32(least*axis[c]), mean[c]+float32(most*axis[c])
	}
	return lo, hi
}

// principal returns the direction of greatest variance, of length 1, or zero.
func principal(cov *[4][4]float32) (axis [4]float32) {
	// It begins with the row of the channel that varies most.
	k := 0
	for c := range cov {
		if cov[c][c] > cov[k][k] {
			k = c
		}
	}
	axis = cov[k]
	for range 6 {
		var next [4]float32
		top := float32(0)
		for a := range next {
			for b := range next {
				next[a] += float32(cov[a][b] * axis[b])
			}
			top = max(top, next[a], -next[a])
		}
		if !(top > 0) {
			return [4]float32{}
		}
		for a := range next {
			axis[a] = next[a] / top
		}
	}
	length := float32(0)
	for _, v := range axis {
		length += float32(v * v)
	}
	length = float32(math.Sqrt(float64(length)))
	for c := range axis {
		axis[c] /= length
	}
	return axis
}

// weigh finds the best weight of every pixel and returns the squared error.
func (f *fit) weigh(channels [4]bool, ends []uint8, weights *[16]uint8) (sum int64) {
	m := f.t.m
	var palette [32]color
	for c := range m.components {
		if !channels[c] {
			continue
		}
		low, high := uint32(m.endpoints.values[ends[2*c]]), uint32(m.endpoints.values[ends[2*c+1]])
		for w, weight := range m.weights {
			palette[w][c] = int32((low*0x101*(64-uint32(weight)) + high*0x101*uint32(weight) + 32) >> 14)
		}
	}
	// The weight is near the place on the line from the first color to the last.
	top := len(m.weights) - 1
	var line color
	length := int32(0)
	for c := range line {
		line[c] = palette[top][c] - palette[0][c]
		length += line[c] * line[c]
	}
	scale := float32(0)
	if length > 0 {
		scale = float32(top) / float32(length)
	}
	for _, i := range f.list {
		v := &f.values[i]
		at := int32(0)
		for c := range line {
			at += (v[c] - palette[0][c]) * line[c]
		}
		near := int(min(max(float32(float32(at)*scale)+0.5, 0), float32(top)))
		best := int64(math.MaxInt64)
		for w := max(near-1, 0); w <= min(near+1, top); w++ {
			x := &palette[w]
			var err int64
			for c := range x {
				d := v[c] - x[c]
				err += int64(d * d * f.share[c])
			}
			if err < best {
				best, weights[i] = err, uint8(w)
			}
		}
		sum += best
	}
	return sum
}

// solve returns the endpoints that suit the weights best, by least squares.
func (f *fit) solve(weights *[16]uint8, lo, hi [4]float32) (newLo, newHi [4]float32) {
	var aa, ab, bb float32
	var xa, xb [4]float32
	for _, i := range f.list {
		b := float32(float32(f.t.m.weights[weights[i]]) / 64)
		a := 1 - b
		aa, ab, bb = aa+float32(a*a), ab+float32(a*b), bb+float32(b*b)
		for c, v := range f.values[i] {
			xa[c], xb[c] = xa[c]+float32(a*float32(v)), xb[c]+float32(b*float32(v))
		}
	}
	det := float32(aa*bb) - float32(ab*ab)
	if !(det > 1e-4) {
		return lo, hi
	}
	for c := range xa {
		newLo[c] = (float32(bb*xa[c]) - float32(ab*xb[c])) / det
		newHi[c] = (float32(aa*xb[c]) - float32(ab*xa[c])) / det
	}
	return newLo, newHi
}

// nearest returns the quantized value that is closest to v.
func (q *quantization) nearest(v float32) uint8 {
	k := int32(min(max(v, 0), 255) + 0.5)
	return q.index[min(k, 255)]
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

// multiply prepares the sums of offLines.
func (e *blockEncoder) multiply() {
	for i, p := range e.pixels {
		o := &e.products[i]
		k := 4
		for a := range p {
			o[a] = float32(p[a])
			for b := a; b < 4; b++ {
				o[k] = float32(p[a] * p[b])
				k++
			}
		}
	}
}

// offLines returns how far the pixels of each subset of a pattern lie from a line, summed
// squares.
func (e *blockEncoder) offLines(p *pattern) (rest float32) {
	var sums [3][14]float32
	var counts [3]float32
	for i, s := range p.subset {
		counts[s]++
		for k, v := range e.products[i] {
			sums[s][k] += v
		}
	}
	for s, n := range counts {
		if n < 3 {
			continue // two points are a line
		}
		var cov [4][4]float32
		k, trace := 4, float32(0)
		for a := range cov {
			for b := a; b < 4; b++ {
				v := sums[s][k] - float32(sums[s][a]*sums[s][b])/n
				cov[a][b], cov[b][a] = v, v
				k++
			}
			trace += cov[a][a]
		}
		axis := principal(&cov)
		along := float32(0)
		for a := range axis {
			for b := range axis {
				along += float32(float32(axis[a]*cov[a][b]) * axis[b])
			}
		}
		rest += trace - along
	}
	return rest
}
