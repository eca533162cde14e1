package bc

// Half of a block of mode 6 are the ends, and half the weights, but for the lowest bit of the
// second end, which lies with the weights. So a block can take either from an earlier one and
// have the other made for it.

// prefix is the first half of an earlier block, with the bit that lies in the second.
type prefix struct {
	at    int
	bytes uint64
	low   uint8 // the bit
	alpha uint8 // the least
	end   [3]int32
	line  [3]int32 // from the first end to the second
	steps int64    // 64 by the line's square, in 2^20ths
	color texels   // by the weight's number
}

// suffix is the second half of an earlier block.
type suffix struct {
	at     int
	bytes  uint64
	low    uint8
	weight [16]int32
	// The sums of the products of both ends' weights, and the determinant of their matrix.
	s00, s01, s11, det int64
}

// nearest is the number of the weight of four bits that is nearest to so many 64ths.
var nearest = func() (near [65]uint8) {
	for v := range near {
		least := int32(64)
		for k, w := range weights[4] {
			if d := max(w-int32(v), int32(v)-w); d < least {
				least, near[v] = d, uint8(k)
			}
		}
	}
	return near
}()

// keepPrefix looks for an earlier block whose first half to take; lo, hi and least are the block
// as it was, and its error.
func (r *reducer) keepPrefix(c *change, lo, hi uint64, least int32) {
	for i := range r.prefixes.list {
		p := &r.prefixes.list[i]
		n := r.match(r.at-p.at) + literalBits
		if p.alpha < r.floor || r.bit*n >= r.best {
			continue
		}
		if j := r.cost(least, n); p.bytes == lo && j < r.best {
			r.best, *c = j, change{lo, hi, r.at - p.at, 0}
		}
		limit := r.limit(n)
		if index, m := r.from.weights(p, limit); m < limit {
			r.best, *c = r.cost(m, n), change{p.bytes, packed(&index, p.low), r.at - p.at, 0}
		}
	}
}

// keepSuffix looks for an earlier block whose second half to take.
func (r *reducer) keepSuffix(c *change, lo, hi uint64, least int32) {
	for i := range r.suffixes.list {
		p := &r.suffixes.list[i]
		n := r.anew(r.at-p.at) + literalBits
		if r.bit*n >= r.best {
			continue
		}
		if j := r.cost(least, n); p.bytes == hi && j < r.best {
			r.best, *c = j, change{lo, hi, 0, r.at - p.at}
		}
		if p.det == 0 || p.low == 0 && r.floor == 255 {
			continue
		}
		limit := r.limit(n)
		if first, m := r.from.ends(p, limit, r.floor == 255); m < limit {
			r.best, *c = r.cost(m, n), change{first, p.bytes, 0, r.at - p.at}
		}
	}
}

// packed returns the second half of a block of mode 6.
func packed(index *[16]uint8, low uint8) uint64 {
	v := uint64(low) | uint64(index[0])<<1
	for i, k := range index[1:] {
		v |= uint64(k) << (4*i + 4)
	}
	return v
}

// weights finds the weights between two ends. From most on the error may be less than all.
func (s *source) weights(p *prefix, most int32) (index [16]uint8, sum int32) {
	e, d := &p.end, &p.line
	// How far the mean is off the line tells of most ends that they will not do.
	m := [3]int32{s.sum[0] - 16*e[0], s.sum[1] - 16*e[1], s.sum[2] - 16*e[2]}
	t := int32(min(max(int64(m[0]*d[0]+m[1]*d[1]+m[2]*d[2])*p.steps>>20, 0), 16*64))
	far := (square(m[0]-d[0]*t>>6) + square(m[1]-d[1]*t>>6) + square(m[2]-d[2]*t>>6)) / 16
	if far-far/8-8 >= most {
		return index, most
	}
	for k := 0; k < len(index); k += 4 {
		for i := k; i < k+4; i++ {
			p0, p1, p2 := int32(s.px[i&15][0]), int32(s.px[i&15][1]), int32(s.px[i&15][2])
			t := int64((p0-e[0])*d[0] + (p1-e[1])*d[1] + (p2-e[2])*d[2])
			n := nearest[min(max((t*p.steps+1<<19)>>20, 0), 64)]
			if i == 0 {
				n = min(n, 7) // its highest bit is not stored
			}
			index[i&15] = n
			q := &p.color[n&15]
			sum += square(p0-int32(q[0])) + square(p1-int32(q[1])) + square(p2-int32(q[2]))
		}
		if sum >= most {
			break
		}
	}
	return index, sum
}

// ends finds the ends for weights, as the first half of a block; odd ones keep alpha at 255.
// From most on the error may be less than all.
func (s *source) ends(p *suffix, most int32, odd bool) (first uint64, sum int32) {
	var c0, c1, c2 int32
	for i, w := range p.weight {
		x := &s.px[i]
		c0 += w * int32(x[0])
		c1 += w * int32(x[1])
		c2 += w * int32(x[2])
	}
	b1 := [3]int64{int64(c0), int64(c1), int64(c2)}
	var b0 [3]int64
	gain := int64(0)
	for k := range b0 {
		b0[k] = 64*int64(s.sum[k]) - b1[k]
		gain += p.s11*b0[k]*b0[k] - 2*p.s01*b0[k]*b1[k] + p.s00*b1[k]*b1[k]
	}
	// What the best ends of any precision leave.
	if int64(s.square[0]+s.square[1]+s.square[2])-gain/p.det > int64(most) {
		return 0, most
	}
	near := &ladder[8].near
	var end [2][3]uint8
	var even [3]uint8 // the first end, if its lowest bit is 0
	worse := int32(0) // how much odd numbers are
	for k := range b0 {
		v0 := min(max(64*(p.s11*b0[k]-p.s01*b1[k])/p.det, 0), 255)
		v1 := min(max(64*(p.s00*b1[k]-p.s01*b0[k])/p.det, 0), 255)
		end[0][k], end[1][k], even[k] = near[1][v0], near[p.low&1][v1], near[0][v0]
		worse += square(int32(end[0][k])-int32(v0)) - square(int32(even[k])-int32(v0))
	}
	low := uint64(1)
	if !odd && worse > 0 {
		end[0], low = even, 0
	}
	for k := 0; k < len(p.weight); k += 4 {
		for i := k; i < k+4; i++ {
			x, w := &s.px[i&15], p.weight[i&15]
			for c := range end[0] {
				sum += square(int32(x[c]) - (int32(end[0][c])*(64-w)+int32(end[1][c])*w+32)>>6)
			}
		}
		if sum >= most {
			return 0, sum
		}
	}
	first = 1<<6 | 127<<49 | 127<<56 | low<<63
	for c := range end[0] {
		first |= uint64(end[0][c]>>1)<<(7+14*c) | uint64(end[1][c]>>1)<<(14+14*c)
	}
	return first, sum
}

// rememberHalves keeps the halves of a block of mode 6 for those that follow.
func (r *reducer) rememberHalves(lo, hi uint64) {
	low := uint8(hi & 1)
	if i, known := r.prefixes.find(lo, func(p *prefix) bool { return p.low == low }); known {
		r.prefixes.list[i].at = r.at
	} else {
		*r.prefixes.add(lo, recentHalves) = newPrefix(r.at, lo, low)
	}
	if i, known := r.suffixes.find(hi, func(*suffix) bool { return true }); known {
		r.suffixes.list[i].at = r.at
	} else {
		*r.suffixes.add(hi, recentHalves) = newSuffix(r.at, hi)
	}
}

func newPrefix(at int, bytes uint64, low uint8) prefix {
	p := prefix{at: at, bytes: bytes, low: low}
	n := int64(0)
	for c := range 4 {
		a := int32(bytes>>(7+14*c)&127)<<1 | int32(bytes>>63)
		b := int32(bytes>>(14+14*c)&127)<<1 | int32(low)
		for k, w := range weights[4] {
			p.color[k][c] = between(a, b, w)
		}
		if c == 3 {
			p.alpha = uint8(min(a, b))
			break
		}
		p.end[c], p.line[c] = a, b-a
		n += int64(square(b - a))
	}
	p.steps = 64 << 20 / max(n, 1)
	return p
}

func newSuffix(at int, bytes uint64) suffix {
	p := suffix{at: at, bytes: bytes, low: uint8(bytes & 1)}
	for i := range p.weight {
		k := bytes >> (4 * i) & 15
		if i == 0 {
			k >>= 1
		}
		w := weights[4][k]
		p.weight[i] = w
		p.s00 += int64(square(64 - w))
		p.s01 += int64((64 - w) * w)
		p.s11 += int64(square(w))
	}
	p.det = p.s00*p.s11 - p.s01*p.s01
	return p
}
