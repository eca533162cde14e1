package bc

import "math/bits"

// part is a set of texels that share a line between two ends.
type part struct {
	n    int
	px   [16][4]int32
	at   [16]uint8 // which texels of the block they are
	sum  [4]int32
	flat bool // all are alike

	along    [16]int32 // where they lie along the axis
	from, to int32     // the extremes of that
}

// fitted is a line through a part.
type fitted struct {
	ends  [2][4]uint8 // stored numbers
	index [16]uint8   // by the order of the part
	err   int32
}

// take fills the part with the texels of a mask, and finds the axis of the first channels.
func (p *part) take(px *[16][4]int32, mask uint16, channels, turns int) {
	p.n, p.sum = 0, [4]int32{}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros16(m) & 15
		x := &px[i]
		k := p.n & 15
		p.px[k], p.at[k] = *x, uint8(i)
		p.n++
		p.sum[0] += x[0]
		p.sum[1] += x[1]
		p.sum[2] += x[2]
		p.sum[3] += x[3]
	}
	p.axis(channels, turns)
}

// axisBits is how long the numbers of an axis are.
const axisBits = 15

// axis lays the texels along their principal axis, which it finds by so many products with
// the matrix of covariances.
func (p *part) axis(channels, turns int) {
	var c [4][4]int64
	for i := range p.px[:p.n] {
		x := &p.px[i]
		r, g, b := int64(x[0]), int64(x[1]), int64(x[2])
		c[0][0] += r * r
		c[0][1] += r * g
		c[0][2] += r * b
		c[1][1] += g * g
		c[1][2] += g * b
		c[2][2] += b * b
		if channels > 3 {
			a := int64(x[3])
			c[0][3] += r * a
			c[1][3] += g * a
			c[2][3] += b * a
			c[3][3] += a * a
		}
	}
	most, first := int64(0), 0
	for i := range channels {
		for j := i; j < channels; j++ {
			c[i&3][j&3] = int64(p.n)*c[i&3][j&3] - int64(p.sum[i&3])*int64(p.sum[j&3])
			c[j&3][i&3] = c[i&3][j&3]
		}
		if d := c[i&3][i&3]; d > most {
			most, first = d, i
		}
	}
	p.from, p.to = 0, 0
	if p.flat = most == 0; p.flat {
		clear(p.along[:p.n])
		return
	}
	if n := bits.Len64(uint64(most)); n > axisBits {
		for i := range c {
			for j := range c[i] {
				c[i][j] >>= n - axisBits
			}
		}
	}
	v := c[first&3]
	for range turns {
		var w [4]int64
		w[0] = c[0][0]*v[0] + c[0][1]*v[1] + c[0][2]*v[2] + c[0][3]*v[3]
		w[1] = c[1][0]*v[0] + c[1][1]*v[1] + c[1][2]*v[2] + c[1][3]*v[3]
		w[2] = c[2][0]*v[0] + c[2][1]*v[1] + c[2][2]*v[2] + c[2][3]*v[3]
		w[3] = c[3][0]*v[0] + c[3][1]*v[1] + c[3][2]*v[2] + c[3][3]*v[3]
		n := bits.Len64(uint64(max(w[0], -w[0]) | max(w[1], -w[1]) | max(w[2], -w[2]) | max(w[3], -w[3])))
		s := max(n-axisBits, 0)
		v = [4]int64{w[0] >> s, w[1] >> s, w[2] >> s, w[3] >> s}
	}
	v0, v1, v2, v3 := int32(v[0]), int32(v[1]), int32(v[2]), int32(v[3])
	if p.lay(v0, v1, v2, v3); p.from == p.to { // rounding took the axis
		one := [4]int32{}
		one[first&3] = 1
		p.lay(one[0], one[1], one[2], one[3])
	}
}

// lay lays the texels along an axis.
func (p *part) lay(v0, v1, v2, v3 int32) {
	p.from, p.to = 1<<30, -1<<30
	for i := range p.px[:p.n] {
		x := &p.px[i]
		t := v0*x[0] + v1*x[1] + v2*x[2] + v3*x[3]
		p.along[i] = t
		p.from, p.to = min(p.from, t), max(p.to, t)
	}
}

// spread gives the texels the weights from one number to another by where they lie.
func (p *part) spread(index *[16]uint8, lo, hi int64) {
	step := (hi - lo) << 32 / max(int64(p.to)-int64(p.from), 1)
	for i, t := range p.along[:p.n] {
		index[i] = uint8((lo<<32 + int64(t-p.from)*step + 1<<31) >> 32)
	}
}

// solve finds the ends that are best for the weights which texels have, of those that can be
// stored: for some values of the one end, near the best that there is, the best other one. It
// reports whether the weights say anything about both ends.
func (p *part) solve(l *layout, index *[16]uint8, reach int32, ends *[2][4]uint8) bool {
	w := &weights[l.index]
	var sw, sww int64
	var sb [4]int64
	{
		var s0, s1, s2, s3, n1, n2 int32
		for i := range p.px[:p.n] {
			x, k := &p.px[i], w[index[i]&15]
			n1 += k
			n2 += k * k
			s0 += k * x[0]
			s1 += k * x[1]
			s2 += k * x[2]
			s3 += k * x[3]
		}
		sw, sww = int64(n1), int64(n2)
		sb = [4]int64{int64(s0), int64(s1), int64(s2), int64(s3)}
	}
	saa, sab, sbb := 4096*int64(p.n)-128*sw+sww, 64*sw-sww, sww
	det := saa*sbb - sab*sab
	if det == 0 {
		return false
	}
	invDet, invB := 64/float64(det), 1/float64(sbb)
	grid := ladder[l.bits]
	lows := [2]int{0, 1}
	step := int32(2)
	switch l.parity {
	case noParity:
		lows, step = [2]int{anyBit, anyBit}, 1
	case oddParity:
		lows = [2]int{1, 1}
	}
	// By the lowest bits of both ends: the error, but for what is common to all, and the ends.
	var cost [2][2]int64
	var found [2][2][2][4]uint8
	top := int32(1)<<l.bits - 1
	for c := range l.channels {
		b := sb[c&3]
		a := 64*int64(p.sum[c&3]) - b
		best0 := round(float64(float64(a*sbb-b*sab) * invDet))
		for i, low := range lows {
			if i == 1 && low == lows[0] {
				break
			}
			q := int32(grid.near[low][best0])
			var least [2]int64
			var at [2][2]uint8
			least[0], least[1] = 1<<62, 1<<62
			for k := -reach; k <= reach; k++ {
				qa := q + k*step
				if qa < 0 || qa > top {
					continue
				}
				va := int64(grid.value[qa&255])
				vb := round(float64(float64(64*b-sab*va) * invB))
				for j, other := range lows {
					if j != i && l.parity != endParity {
						continue
					}
					qb := grid.near[other][vb]
					x := int64(grid.value[qb])
					e := va*(saa*va+2*sab*x-128*a) + x*(sbb*x-128*b)
					if e < least[j] {
						least[j], at[j] = e, [2]uint8{uint8(qa), qb}
					}
				}
			}
			for j := range lows {
				if j != i && l.parity != endParity {
					continue
				}
				cost[i][j] += least[j]
				found[i][j][0][c&3], found[i][j][1][c&3] = at[j][0], at[j][1]
			}
		}
	}
	i, j := 0, 0
	switch l.parity {
	case pairParity:
		if cost[1][1] < cost[0][0] {
			i, j = 1, 1
		}
	case endParity:
		for k := range 4 {
			if cost[k>>1][k&1] < cost[i][j] {
				i, j = k>>1, k&1
			}
		}
	}
	*ends = found[i][j]
	return true
}

// round returns the nearest integer of 0 to 255.
func round(x float64) uint8 {
	if x <= 0 {
		return 0
	}
	if x >= 255 {
		return 255
	}
	return uint8(x + 0.5)
}

// assign gives every texel the best weight between two ends, or nearly so, and returns the
// squared error, or something that is not below most. Where it is careful, it looks at two
// weights for each.
func (p *part) assign(l *layout, ends *[2][4]uint8, careful bool, index *[16]uint8, most int32) int32 {
	grid, w, last := ladder[l.bits], &weights[l.index], int64(1)<<l.index-1
	a0, a1, a2 := grid.value[ends[0][0]], grid.value[ends[0][1]], grid.value[ends[0][2]]
	d0, d1, d2 := grid.value[ends[1][0]]-a0, grid.value[ends[1][1]]-a1, grid.value[ends[1][2]]-a2
	var a3, d3 int32
	if l.channels > 3 {
		a3 = grid.value[ends[0][3]]
		d3 = grid.value[ends[1][3]] - a3
	}
	length := int64(d0*d0 + d1*d1 + d2*d2 + d3*d3)
	step := last << 24 / max(length, 1)
	half := int64(1) << 23
	if careful {
		half = 0
	}
	var sum int32
	for i := range p.px[:p.n] {
		x := &p.px[i]
		x0, x1, x2, x3 := x[0]-a0, x[1]-a1, x[2]-a2, int32(0)
		t := d0*x0 + d1*x1 + d2*x2
		if l.channels > 3 {
			x3 = x[3] - a3
			t += d3 * x3
		}
		k := (int64(t)*step + half) >> 24
		k = min(max(k, 0), last)
		f := w[k&15]
		e0, e1, e2 := x0-(f*d0+32)>>6, x1-(f*d1+32)>>6, x2-(f*d2+32)>>6
		e := e0*e0 + e1*e1 + e2*e2
		if l.channels > 3 {
			e3 := x3 - (f*d3+32)>>6
			e += e3 * e3
		}
		if careful && k < last {
			f := w[(k+1)&15]
			e0, e1, e2 := x0-(f*d0+32)>>6, x1-(f*d1+32)>>6, x2-(f*d2+32)>>6
			next := e0*e0 + e1*e1 + e2*e2
			if l.channels > 3 {
				e3 := x3 - (f*d3+32)>>6
				next += e3 * e3
			}
			if next < e {
				e, k = next, k+1
			}
		}
		index[i] = uint8(k)
		if sum += e; sum >= most {
			return sum
		}
	}
	return sum
}

// effort is how much is tried.
type effort struct {
	rounds  int   // of ends for weights and weights for ends
	reach   int32 // values of an end beside the nearest
	starts  int   // ways to begin
	careful bool
	turns   int // to find an axis
}

// starts are the numbers of weights that the extremes of a part get at first, as distances
// from the ends.
var starts = [...][2]int64{{0, 0}, {1, 1}, {0, 1}, {1, 0}}

// fit finds a line through the part. The error is not below most where there is none.
func (p *part) fit(l *layout, e *effort, most int32, out *fitted) {
	out.err = most
	if p.flat {
		p.fitFlat(l, out)
		return
	}
	last := int64(1)<<l.index - 1
	var try fitted
	for s := range starts[:e.starts] {
		if s > 0 && (p.n < 3 && s > 1 || out.err == 0) {
			break
		}
		p.spread(&try.index, starts[s][0], last-starts[s][1])
		for least, k := int32(nothing), 0; k < e.rounds; k++ {
			if !p.solve(l, &try.index, e.reach, &try.ends) {
				break
			}
			try.err = p.assign(l, &try.ends, e.careful, &try.index, min(least, 4*most+4))
			if try.err < out.err {
				*out = try
			}
			if try.err >= least || try.err == 0 {
				break
			}
			least = try.err
		}
	}
}

// fitFlat finds ends for texels that are all alike: a weight between two ends meets most
// values that no end can have.
func (p *part) fitFlat(l *layout, out *fitted) {
	t := flats(l)
	x := &p.px[0]
	best := int32(1 << 30)
	at := 0
	for k := range t {
		var e int32
		for c := range l.channels {
			e += t[k][x[c&3]&255].err
		}
		if e < best {
			best, at = e, k
		}
	}
	if best *= int32(p.n); best >= out.err {
		return
	}
	out.err = best
	for c := range l.channels {
		f := t[at][x[c&3]&255]
		out.ends[0][c&3], out.ends[1][c&3] = f.ends[0], f.ends[1]
	}
	for i := range out.index[:p.n] {
		out.index[i] = 1
	}
}
