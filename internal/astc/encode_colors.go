package astc

// fit is what the best colours of a partition follow from: for each channel the
// error is a quadratic function of its two ends.
type fit struct {
	a, b, c [2]int64 // sums of v*v, v*w and w*w, v being 64-w, by plane
	x, y    [4]int64 // sums of v and w times the texels
	plane   [4]uint8 // of the channel
	t0, t1  [4]int32 // the best ends, in sixteenths
}

// fitColors finds the best ends for the weights of a solution.
func (e *encoder) fitColors(s *solution) {
	p := s.plan
	part := p.partOf()
	for k := range p.partitions {
		e.fits[k] = fit{}
	}
	planes := 1
	if p.dual {
		planes = 2
		e.fits[0].plane[p.channel], e.fits[1].plane[p.channel], e.fits[2].plane[p.channel] = 1, 1, 1
	}
	for i := range e.n {
		f, x := &e.fits[part[i]%3], &e.px[i]
		for k := range planes {
			w := int64(s.weights[k][i])
			v := 64 - w
			f.a[k] += v * v
			f.b[k] += v * w
			f.c[k] += w * w
		}
		w := int64(s.weights[0][i])
		if planes == 1 {
			for c := range 4 {
				y := w * int64(x[c])
				f.y[c] += y
				f.x[c] += 64*int64(x[c]) - y
			}
			continue
		}
		for c := range 4 {
			w := w
			if f.plane[c] == 1 {
				w = int64(s.weights[1][i])
			}
			y := w * int64(x[c])
			f.y[c] += y
			f.x[c] += 64*int64(x[c]) - y
		}
	}
	for k := range p.partitions {
		e.fits[k].solve()
	}
}

// limit is 255 in sixteenths.
const limit = 255 * 16

// solve fills in the best ends.
func (f *fit) solve() {
	for ch := range 4 {
		k := f.plane[ch]
		a, b, c := f.a[k], f.b[k], f.c[k]
		det := a*c - b*b
		if det == 0 {
			// All weights are equal: so are the ends.
			m := int32(16 * (f.x[ch] + f.y[ch]) / max((a+2*b+c)/64, 1))
			f.t0[ch], f.t1[ch] = m, m
			continue
		}
		t0 := 1024 * float64(c*f.x[ch]-b*f.y[ch]) / float64(det)
		t1 := 1024 * float64(a*f.y[ch]-b*f.x[ch]) / float64(det)
		switch {
		case t0 < 0 || t0 > limit:
			t0 = min(max(t0, 0), limit)
			if c > 0 {
				t1 = (float64(1024*f.y[ch]) - float64(float64(b)*t0)) / float64(c)
			}
		case t1 < 0 || t1 > limit:
			t1 = min(max(t1, 0), limit)
			if a > 0 {
				t0 = (float64(1024*f.x[ch]) - float64(float64(b)*t1)) / float64(a)
			}
		}
		f.t0[ch] = int32(min(max(t0, 0), limit) + 0.5)
		f.t1[ch] = int32(min(max(t1, 0), limit) + 0.5)
	}
}

// cost returns what ends add to the error of the best ones, but for a factor.
func (f *fit) cost(e0, e1 *color) int64 {
	var sum int64
	for ch := range 4 {
		k := f.plane[ch]
		d0, d1 := int64(16*e0[ch]-f.t0[ch]), int64(16*e1[ch]-f.t1[ch])
		sum += f.a[k]*d0*d0 + 2*f.b[k]*d0*d1 + f.c[k]*d1*d1
	}
	return sum
}

// stored is one way to write the ends of a partition.
type stored struct {
	numbers [8]uint8
	ends    [2]color
	cost    int64
}

// storeColors quantises the ends of all partitions: as they are, or with
// differences where all of them are nearer so.
func (e *encoder) storeColors(s *solution) {
	n := s.choice.ends.numbers()
	var plain, delta [3]stored
	var costs [2]int64
	deltas := true
	for k := range s.plan.partitions {
		plain[k] = e.fits[k].store(s.choice.ends, s.level)
		costs[0] += plain[k].cost
		if deltas {
			var ok bool
			delta[k], ok = e.fits[k].storeDelta(s.choice.ends, s.level)
			deltas = deltas && ok
			costs[1] += delta[k].cost
		}
	}
	best := &plain
	s.endsMode = s.choice.ends
	if deltas && costs[1] < costs[0] {
		best = &delta
		s.endsMode++
	}
	for k := range s.plan.partitions {
		copy(s.numbers[k*n:], best[k].numbers[:n])
		s.ends[k] = best[k].ends
	}
}

// judge fills in what stored numbers stand for.
func (f *fit) judge(r *stored, m endpointMode, l level) {
	var v [8]uint8
	for i, n := range r.numbers {
		v[i] = colorValue[l][n]
	}
	r.ends[0], r.ends[1], _ = m.colors(&v)
	r.cost = f.cost(&r.ends[0], &r.ends[1])
}

// store writes the ends in a mode that holds them as they are.
func (f *fit) store(m endpointMode, l level) (r stored) {
	switch m {
	case modeLuminance, modeLumAlpha:
		r.numbers[0], r.numbers[1] = nearestColor[l][third(&f.t0)], nearestColor[l][third(&f.t1)]
		if m == modeLumAlpha {
			r.numbers[2], r.numbers[3] = f.pair(3, l)
		}
		f.judge(&r, m, l)
		return r
	case modeScale, modeScaleAlpha:
		return f.storeScale(m, l)
	}
	r = f.storeDirect(m, l)
	if c, ok := f.storeContracted(m, l); ok && c.cost < r.cost {
		return c
	}
	return r
}

// third returns the mean of red, green and blue, rounded.
func third(t *[4]int32) int32 { return (t[0] + t[1] + t[2] + 24) / 48 }

// byteOf rounds sixteenths.
func byteOf(v int32) int32 { return min(max((v+8)>>4, 0), 255) }

// pair quantises the ends of a channel, each by itself or after the other: what
// one is off the other makes up for.
func (f *fit) pair(ch int, l level) (n0, n1 uint8) {
	near, value := &nearestColor[l], &colorValue[l]
	t0, t1 := f.t0[ch], f.t1[ch]
	n0, n1 = near[byteOf(t0)], near[byteOf(t1)]
	if l == level256 {
		return n0, n1
	}
	k := f.plane[ch]
	a, b, c := f.a[k], f.b[k], f.c[k]
	cost := func(n0, n1 uint8) int64 {
		d0, d1 := int64(16*int32(value[n0])-t0), int64(16*int32(value[n1])-t1)
		return a*d0*d0 + 2*b*d0*d1 + c*d1*d1
	}
	least := cost(n0, n1)
	m0, m1 := n0, n1
	if c > 0 {
		v := t1 - int32(b*int64(16*int32(value[n0])-t0)/c)
		m := near[byteOf(v)]
		if now := cost(n0, m); now < least {
			least, m0, m1 = now, n0, m
		}
	}
	if a > 0 {
		v := t0 - int32(b*int64(16*int32(value[n1])-t1)/a)
		m := near[byteOf(v)]
		if now := cost(m, n1); now < least {
			m0, m1 = m, n1
		}
	}
	return m0, m1
}

// storeDirect writes red, green, blue and perhaps alpha.
func (f *fit) storeDirect(m endpointMode, l level) (r stored) {
	for ch := range m.numbers() / 2 {
		r.numbers[2*ch], r.numbers[2*ch+1] = f.pair(ch, l)
	}
	v := &colorValue[l]
	if sum3(v, &r.numbers, 0) > sum3(v, &r.numbers, 1) {
		// Read so, they would be contracted. Where quantisation alone brought this
		// about the means do; else nothing fits, and the error says so.
		for ch := range 3 {
			m := nearestColor[l][byteOf((f.t0[ch]+f.t1[ch])/2)]
			r.numbers[2*ch], r.numbers[2*ch+1] = m, m
		}
	}
	f.judge(&r, m, l)
	return r
}

// sum3 adds the values of three numbers, every other one from first on.
func sum3(v *[256]uint8, n *[8]uint8, first int) int {
	return int(v[n[first]]) + int(v[n[first+2]]) + int(v[n[first+4]])
}

// storeContracted writes twice red and green less blue, which is finer where
// colours are nearly grey.
func (f *fit) storeContracted(m endpointMode, l level) (r stored, ok bool) {
	near, v := &nearestColor[l], &colorValue[l]
	for side, t := range [2]*[4]int32{&f.t1, &f.t0} {
		blue := near[byteOf(t[2])]
		r.numbers[4+side] = blue
		for ch := range 2 {
			u := (2*t[ch] - 16*int32(v[blue]) + 8) >> 4
			if u < 0 || u > 255 {
				return r, false
			}
			r.numbers[2*ch+side] = near[u]
		}
	}
	if sum3(v, &r.numbers, 0) <= sum3(v, &r.numbers, 1) {
		return r, false
	}
	if m == modeRGBA {
		r.numbers[7], r.numbers[6] = f.pair(3, l)
	}
	f.judge(&r, m, l)
	return r, true
}

// storeScale writes the brighter end, and what of it the other is.
func (f *fit) storeScale(m endpointMode, l level) (r stored) {
	near := &nearestColor[l]
	var dot, square int64
	for ch := range 3 {
		dot += int64(f.t0[ch]) * int64(f.t1[ch])
		square += int64(f.t1[ch]) * int64(f.t1[ch])
	}
	scale := int64(0)
	if square > 0 {
		scale = min(256*dot/square, 255)
	}
	r.numbers[3] = near[scale]
	scale = int64(colorValue[l][r.numbers[3]])
	// The brighter end once more, as the other follows from it.
	for ch := range 3 {
		k := f.plane[ch]
		part := scale*scale*f.a[k] + 512*scale*f.b[k] + 65536*f.c[k]
		if part > 0 {
			v := (scale*f.x[ch] + 256*f.y[ch]) * 16384 * 16 / part
			r.numbers[ch] = near[byteOf(int32(min(v, limit)))]
		}
	}
	if m == modeScaleAlpha {
		r.numbers[4], r.numbers[5] = f.pair(3, l)
	}
	f.judge(&r, m, l)
	return r
}

// storeDelta writes one end and the differences of the other; ok is false where
// they are too large for it.
func (f *fit) storeDelta(m endpointMode, l level) (r stored, ok bool) {
	if l == level256 || m == modeScale || m == modeScaleAlpha || m == modeLuminance {
		return r, false
	}
	for ch := range m.numbers() / 2 {
		at := ch
		t0, t1 := byteOf(f.t0[at]), byteOf(f.t1[at])
		if m == modeLumAlpha {
			if ch == 0 {
				t0, t1 = third(&f.t0), third(&f.t1)
			} else {
				t0, t1 = byteOf(f.t0[3]), byteOf(f.t1[3])
			}
		}
		if r.numbers[2*ch], r.numbers[2*ch+1], ok = storeOffset(t0, t1, l); !ok {
			return r, false
		}
	}
	f.judge(&r, m+1, l)
	return r, true
}

// storeOffset writes one channel as base and difference.
func storeOffset(t0, t1 int32, l level) (n0, n1 uint8, ok bool) {
	n0 = nearestColor[l][t0<<1&0xff]
	base := int32(colorValue[l][n0])>>1 | t0&0x80
	d := t1 - base
	if d < -32 || d > 31 {
		return 0, 0, false
	}
	n1 = nearestColor[l][t0&0x80|d&0x3f<<1]
	b, got := offset(int32(colorValue[l][n0]), int32(colorValue[l][n1]))
	// Quantised, the difference may have lost its sign or the base its highest bit.
	return n0, n1, b == base && distance(int(got), int(d)) < 16
}
