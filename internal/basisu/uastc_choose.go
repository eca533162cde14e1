package basisu

import (
	"math"
	"math/bits"
	"sync"
)

// moments are sums over pixels.
type moments struct {
	n   int32
	sum [4]int32
	mul [10]int32 // of products of channels: 00, 01, 02, 03, 11, 12, 13, 22, 23, 33
}

// momentsOf sums up pixels of the block.
func (e *blockEncoder) momentsOf(list []uint8) (m moments) {
	var s0, s1, s2, s3, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 int32
	for _, i := range list {
		p := &e.pixels[i&15]
		a, b, c, d := p[0], p[1], p[2], p[3]
		s0, s1, s2, s3 = s0+a, s1+b, s2+c, s3+d
		m0, m1, m2, m3 = m0+a*a, m1+a*b, m2+a*c, m3+a*d
		m4, m5, m6 = m4+b*b, m5+b*c, m6+b*d
		m7, m8, m9 = m7+c*c, m8+c*d, m9+d*d
	}
	return moments{int32(len(list)), [4]int32{s0, s1, s2, s3}, [10]int32{m0, m1, m2, m3, m4, m5, m6, m7, m8, m9}}
}

// without subtracts the sums of some of the pixels.
func (m *moments) without(o *moments) moments {
	r := *m
	r.n -= o.n
	for i := range r.sum {
		r.sum[i] -= o.sum[i]
	}
	for i := range r.mul {
		r.mul[i] -= o.mul[i]
	}
	return r
}

// line is the line that lies closest to pixels.
type line struct {
	mean, axis  [4]float32
	along, rest float32 // squared distances from the mean along it, and from it, summed
	least, most float32 // how far the pixels reach along it
	at          [16]float32
	n           int
}

// line finds the line in the channels that are on.
func (m *moments) line(on *[4]int32) (l line) {
	n := float32(m.n)
	var cov [4][4]float32
	k := 0
	for a := range 4 {
		l.mean[a] = float32(m.sum[a]&on[a]) / n
		for b := a; b < 4; b++ {
			v := float32((m.mul[k]*m.n-m.sum[a]*m.sum[b])&on[a]&on[b]) / n
			cov[a][b], cov[b][a] = v, v
			k++
		}
	}
	// Powers of the covariances turn the row of the channel that varies most into the axis.
	k = 0
	trace := float32(0)
	for c := range cov {
		trace += cov[c][c]
		if cov[c][c] > cov[k][k] {
			k = c
		}
	}
	if !(trace > 0) {
		return l
	}
	scale := 1 / cov[k][k]
	x := [4]float32{float32(cov[k][0] * scale), float32(cov[k][1] * scale), float32(cov[k][2] * scale), float32(cov[k][3] * scale)}
	for range 3 {
		var y [4]float32
		for a := range 3 {
			r := &cov[a]
			y[a] = float32(r[0]*x[0]) + float32(r[1]*x[1]) + float32(r[2]*x[2])
		}
		if r := &cov[3]; r[3] > 0 {
			for a := range 3 {
				y[a] += float32(r[a] * x[3])
			}
			y[3] = float32(r[0]*x[0]) + float32(r[1]*x[1]) + float32(r[2]*x[2]) + float32(r[3]*x[3])
		}
		top := max(y[0], -y[0], y[1], -y[1], y[2], -y[2], y[3], -y[3])
		if !(top > 0) {
			return l
		}
		top = 1 / top
		x = [4]float32{float32(y[0] * top), float32(y[1] * top), float32(y[2] * top), float32(y[3] * top)}
	}
	length := float32(x[0]*x[0]) + float32(x[1]*x[1]) + float32(x[2]*x[2]) + float32(x[3]*x[3])
	unit := 1 / float32(math.Sqrt(float64(length)))
	l.axis = [4]float32{float32(x[0] * unit), float32(x[1] * unit), float32(x[2] * unit), float32(x[3] * unit)}
	for a := range 4 {
		r := &cov[a]
		y := float32(r[0]*l.axis[0]) + float32(r[1]*l.axis[1]) + float32(r[2]*l.axis[2]) + float32(r[3]*l.axis[3])
		l.along += float32(y * l.axis[a])
	}
	l.rest = max(trace-l.along, 0)
	return l
}

// reach finds where pixels lie along the line.
func (l *line) reach(values *[16]color, list []uint8) {
	a := &l.axis
	base := float32(l.mean[0]*a[0]) + float32(l.mean[1]*a[1]) + float32(l.mean[2]*a[2]) + float32(l.mean[3]*a[3])
	l.n = len(list)
	for k, i := range list {
		v := &values[i&15]
		at := float32(float32(v[0])*a[0]) + float32(float32(v[1])*a[1]) + float32(float32(v[2])*a[2]) + float32(float32(v[3])*a[3]) - base
		l.least, l.most = min(l.least, at), max(l.most, at)
		l.at[k&15] = at
	}
}

// rounded returns the squared error of the pixels, summed, where weights have some bits.
func (l *line) rounded(n uint) (sum float32) {
	length := l.most - l.least
	if !(length > 0) {
		return 0
	}
	top := float32(int(1)<<n - 1)
	scale, step := top/length, length/top
	for _, at := range l.at[:l.n&31] {
		t := float32((at - l.least) * scale)
		d := t - float32(int32(t+0.5))
		sum += float32(d * d)
	}
	return float32(sum * float32(step*step))
}

// cost returns what the squared error of the pixels may be in a mode.
func (l *line) cost(m *mode, on *[4]int32) float32 {
	length := l.most - l.least
	each := float32(m.endNoise*m.channels(on)) + m.lost(float32(length*length), on)
	return l.rest + l.rounded(m.weightBits) + float32(float32(l.n)*each)
}

// choice is a trial that may be made.
type choice struct {
	m              *mode
	cost           float32 // what its error may be
	pattern, plane uint8
	split          *split // of modes with subsets
}

// split is how the pixels of subsets lie.
type split struct {
	sums  [3]moments
	lines [3]line
}

// trials are the most promising choices, the best first.
type trials struct {
	list [mostTrials]choice
	n    int
}

// mostTrials is how many ways to lay out a block are tried.
const mostTrials = 3

// worst is a cost from which on a choice is not kept.
func (t *trials) worst() float32 {
	if t.n < mostTrials {
		return math.MaxFloat32
	}
	return t.list[t.n-1].cost
}

// add keeps a choice if it is among the best.
func (t *trials) add(c choice) {
	if !(c.cost < t.worst()) {
		return
	}
	t.n = min(t.n, mostTrials-1)
	i := t.n
	for ; i > 0 && c.cost < t.list[i-1].cost; i-- {
		t.list[i] = t.list[i-1]
	}
	t.list[i] = c
	t.n++
}

// fullChannels are all channels on.
var fullChannels = [4]int32{-1, -1, -1, -1}

// choose finds the trials that are worth making.
func (e *blockEncoder) choose() {
	e.trials.n, e.splitCount = 0, 0
	e.all = e.momentsOf(onePattern.pixels(0))
	e.whole = e.all.line(&fullChannels)
	e.whole.reach(&e.pixels, onePattern.pixels(0))
	one := func(list ...int) {
		for _, i := range list {
			m := &modes[i]
			e.trials.add(choice{m: m, cost: e.whole.cost(m, &fullChannels)})
		}
	}
	switch {
	case e.opaque:
		one(0, 5, 18, 1)
	case e.gray:
		one(15)
	default:
		one(10, 12, 14)
	}
	if e.trials.list[0].cost <= enough {
		e.trials.n = min(e.trials.n, 2)
		return
	}
	switch {
	case e.opaque:
		e.planes(6, 0, 1, 2)
	case e.gray:
		e.planes(17, 3)
	default:
		e.planes(11, 0, 1, 2, 3)
		e.planes(13, 3)
	}
	e.splits()
}

// planes adds a mode with each of some channels apart.
func (e *blockEncoder) planes(mode int, channels ...int) {
	m := &modes[mode]
	for _, c := range channels {
		var others, own [4]int32
		others = fullChannels
		others[c], own[c] = 0, -1
		apart := e.pixels
		for i := range apart {
			apart[i][c] = 0
		}
		l := e.all.line(&others)
		l.reach(&apart, onePattern.pixels(0))
		one := line{n: 16, least: float32(e.pixels[0][c]), most: float32(e.pixels[0][c])}
		for i := range e.pixels {
			v := float32(e.pixels[i][c])
			one.at[i], one.least, one.most = v, min(one.least, v), max(one.most, v)
		}
		cost := l.cost(m, &others) + one.cost(m, &own)
		e.trials.add(choice{m: m, cost: cost, plane: uint8(c)})
	}
}

// splits adds modes with the patterns that come closest to how the pixels lie.
func (e *blockEncoder) splits() {
	halves := e.halves()
	switch {
	case e.opaque:
		e.split(twoSubsets[:], halves, 6, 4, 2)
		e.split(mergedSubsets[:], halves, 3, 7)
		e.thirds(halves)
	case e.gray:
		e.split(twoSubsets[:], halves, 5, 16)
	default:
		e.split(twoSubsets[:], halves, 6, 9)
	}
}

// halves divides the pixels into two groups, and returns bits of one of them.
func (e *blockEncoder) halves() (mask uint16) {
	a := &e.whole.axis
	for i := range e.pixels {
		v := &e.pixels[i]
		at := float32((float32(v[0])-e.whole.mean[0])*a[0]) + float32((float32(v[1])-e.whole.mean[1])*a[1]) +
			float32((float32(v[2])-e.whole.mean[2])*a[2]) + float32((float32(v[3])-e.whole.mean[3])*a[3])
		if at > 0 {
			mask |= 1 << i
		}
	}
	return e.cluster(mask)
}

// cluster moves pixels to the group whose mean is nearer.
func (e *blockEncoder) cluster(mask uint16) uint16 {
	for range 2 {
		var sum [2]color
		for i := range e.pixels {
			s := &sum[mask>>i&1]
			v := &e.pixels[i]
			s[0], s[1], s[2], s[3] = s[0]+v[0], s[1]+v[1], s[2]+v[2], s[3]+v[3]
		}
		n := int32(bits.OnesCount16(mask))
		if n == 0 || n == 16 {
			return mask
		}
		// A pixel is nearer to one of two points where it lies beyond the middle between them.
		var d color
		middle := int64(0)
		for c := range 4 {
			hi, lo := sum[1][c]*(16-n), sum[0][c]*n // times n (16-n)
			d[c] = (hi - lo) / 16
			middle += int64(hi+lo) * int64(d[c])
		}
		k := int64(2 * n * (16 - n))
		var next uint16
		for i := range e.pixels {
			v := &e.pixels[i]
			if at := v[0]*d[0] + v[1]*d[1] + v[2]*d[2] + v[3]*d[3]; int64(at)*k > middle {
				next |= 1 << i
			}
		}
		if next == mask {
			break
		}
		mask = next
	}
	return mask
}

// split adds modes with those of some patterns of two subsets that are most like a mask,
// or its inverse.
func (e *blockEncoder) split(patterns []pattern, mask uint16, most int, numbers ...int) {
	var list [8]struct{ unlike, at uint8 }
	n := 0
	for i := range patterns {
		u := bits.OnesCount16(patterns[i].masks[1] ^ mask)
		u = min(u, 16-u)
		if n == most {
			if u >= int(list[n-1].unlike) {
				continue
			}
			n--
		}
		k := n
		for ; k > 0 && u < int(list[k-1].unlike); k-- {
			list[k] = list[k-1]
		}
		list[k].unlike, list[k].at = uint8(u), uint8(i)
		n++
	}
	for _, x := range list[:n] {
		p := &patterns[x.at]
		s := e.newSplit()
		s.sums[1] = e.momentsOf(p.pixels(1))
		s.sums[0] = e.all.without(&s.sums[1])
		e.weigh(p, int(x.at), s, numbers...)
	}
}

// thirds adds the mode of three subsets with its best pattern.
func (e *blockEncoder) thirds(half uint16) {
	// The half that varies more is divided again.
	best, at := 17, 0
	for i := range threeSubsets {
		p := &threeSubsets[i]
		// Each subset lies in one of the halves.
		u := 0
		for _, m := range p.masks {
			k := bits.OnesCount16(m & half)
			u += min(k, bits.OnesCount16(m)-k)
		}
		if u < best {
			best, at = u, i
		}
	}
	p := &threeSubsets[at]
	s := e.newSplit()
	for k := range s.sums {
		s.sums[k] = e.momentsOf(p.pixels(k))
	}
	e.weigh(p, at, s, 3)
}

// newSplit returns room for one that lasts until the next block.
func (e *blockEncoder) newSplit() *split {
	e.splitCount++
	return &e.room[e.splitCount-1]
}

// weigh adds modes with a pattern.
func (e *blockEncoder) weigh(p *pattern, at int, s *split, numbers ...int) {
	subsets := modes[numbers[0]].subsets
	worst, rest := e.trials.worst(), float32(0)
	for k := range subsets {
		s.lines[k] = s.sums[k].line(&fullChannels)
		if rest += s.lines[k].rest; rest >= worst {
			return
		}
	}
	for k := range subsets {
		s.lines[k].reach(&e.pixels, p.pixels(k))
	}
	for _, number := range numbers {
		m := &modes[number]
		cost := float32(0)
		for k := range subsets {
			cost += s.lines[k].cost(m, &fullChannels)
		}
		e.trials.add(choice{m: m, cost: cost, pattern: uint8(at), split: s})
	}
}

// channels is how many channels have endpoints of their own.
func (m *mode) channels(on *[4]int32) (n float32) {
	for c := range 4 {
		if on[c] != 0 && (c < 3 || m.components != 3) {
			n++
		}
	}
	return n
}

// lost is a part of the squared error of a pixel that comes of BC7's rounding, on a line of
// a squared length.
func (m *mode) lost(length float32, on *[4]int32) float32 {
	return float32(m.weightLost*length) + float32(m.endLost*m.channels(on))
}

// bc7Part is how much the error of BC7 counts beside that of the block itself.
const bc7Part = 0.5

// setNoise sets what rounding does to pixels in the mode.
func (m *mode) setNoise() {
	if m.components == 0 {
		return
	}
	to := bc7Modes[m.number]
	// Of two ends, mixed by all weights, two thirds of the error of one are left.
	step := 255 / float32(len(m.endpoints.values)-1)
	m.endNoise = float32(step*step) / 18
	off := 0
	for i, w := range m.weights {
		d := int(w) - int(bc7Weights[to.weightBits][bc7Weight[m.weightBits][to.weightBits][i]])
		off += d * d
	}
	m.weightLost = bc7Part * float32(off) / float32(64*64*len(m.weights))
	off = 0
	for _, v := range m.endpoints.values {
		for low := range 2 {
			k := low
			if to.lowBits == 0 {
				k = 2
			}
			d := int(v) - int(bc7Value(bc7End[to.endBits][k][v], to.endBits, k))
			off += d * d
		}
	}
	m.endLost = bc7Part * float32(off) / float32(3*len(m.endpoints.values))
	// Where an opaque block shares its lowest bit with alpha it is 1.
	k := 1
	if to.lowBits == 0 {
		k = 2
	}
	for v := range m.kept {
		best := 1 << 30
		for _, x := range m.endpoints.values {
			d := int(x) - v
			o := int(bc7Value(bc7End[to.endBits][k][x], to.endBits, k)) - v
			if d = d*d + 8*o*o; d < best {
				best, m.kept[v] = d, x
			}
		}
	}
}

// setNoises does so for all modes, once: programs that only decode go without.
var setNoises = sync.OnceFunc(func() {
	for i := range modes {
		modes[i].setNoise()
	}
})
