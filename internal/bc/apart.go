package bc

// four are weights of two bits, for a channel that has its own.
var four = newScale([]int32{0, 21, 43, 64})

// split is a way to give a channel ends and weights of its own: modes 5 and 4, and 4 with the
// finer weights for the other three.
type split struct {
	layout *layout
	fine   bool
	scale  *scale
	bits   int // of an end of the channel
	// How much is left of the squared distances along the line of the others and of its own,
	// and about how much because few ends can be stored.
	along, own, coarse float64
}

var splits = [...]split{
	{&layout5, false, four, 8, share[2], share[2], 0},
	{&layout4, false, eight, 6, share[2], share[3], 12},
	{&layout4Fine, true, four, 6, share[3], share[2], 12},
}

// apart tries the most promising of them with the most promising channels.
func (e *encoder) apart() {
	type try struct {
		channel int
		split   *split
		miss    float64
	}
	var tries [4 * len(splits)]try
	n := 0
	for c := range 4 {
		if c == 3 && e.opaque {
			continue
		}
		along, aside, own := e.leave(c)
		for k := range splits {
			s := &splits[k]
			tries[n] = try{c, s, aside + s.coarse + float64(along*s.along) + float64(own*s.own)}
			n++
		}
	}
	for i := range min(n, e.plan.splits) {
		at := i
		for j := i + 1; j < n; j++ {
			if tries[j].miss < tries[at].miss {
				at = j
			}
		}
		tries[i], tries[at] = tries[at], tries[i]
		if e.best.err == 0 || tries[i].miss > float64(float64(e.best.err)*e.plan.slack) {
			return
		}
		e.split(tries[i].channel, tries[i].split)
	}
}

// leave returns how far the texels are from their mean, as a sum of squares: without a channel
// along and aside of their line, and in the channel.
func (e *encoder) leave(c int) (along, aside, own float64) {
	m := e.rank.total
	m[0] &^= 0xffff << (16 * c)
	if c < 3 {
		clearProducts(&m, c)
	}
	along, aside = m.spread(16, !e.opaque && c < 3)
	var sum, square int64
	for i := range e.px {
		x := int64(e.px[i][c&3])
		sum += x
		square += x * x
	}
	return along, aside, float64(16*square-sum*sum) / 16
}

// clearProducts takes a channel, not alpha, out of the products.
func clearProducts(m *moments, c int) {
	const low, middle, high = uint64(momentMask), uint64(momentMask) << momentBits, uint64(momentMask) << (2 * momentBits)
	switch c {
	case 0:
		m[1] = 0
		m[3] &^= low
	case 1:
		m[1] &^= middle
		m[2] &= high
		m[3] &^= middle
	case 2:
		m[1] &^= high
		m[2] &= low
		m[3] &^= high
	}
}

// split tries a way to give a channel weights of its own.
func (e *encoder) split(c int, how *split) {
	var own [16]int32
	px := e.px
	lo, hi := int32(255), int32(0)
	for i := range px {
		x := &px[i]
		own[i] = x[c&3]
		lo, hi = min(lo, own[i]), max(hi, own[i])
		x[c&3] = x[3]
		x[3] = 0
	}
	ends, miss := how.scale.search(own[:], lo, hi, how.bits, e.best.err)
	if miss >= e.best.err {
		return
	}
	p := &e.parts[0]
	p.take(&px, 0xffff, 3, e.plan.many.turns)
	var f fitted
	p.fit(how.layout, &e.plan.many, e.best.err-miss, &f)
	if f.err += miss; f.err >= e.best.err {
		return
	}
	b := &e.best
	b.mode, b.fine, b.err, b.ends[0], b.index = how.layout.mode, how.fine, f.err, f.ends, f.index
	b.ends[0][0][3], b.ends[0][1][3] = ends[0], ends[1]
	b.rotation = uint8(c+1) & 3
	v0, v1 := endOf(ends[0], how.bits), endOf(ends[1], how.bits)
	for i, x := range own {
		b.scalar[i] = how.scale.weight(x, v0, v1)
	}
}

// endOf returns what a stored number of 6 or 8 bits means.
func endOf(q uint8, bits int) int32 {
	if bits == 8 {
		return int32(q)
	}
	return int32(q)<<2 | int32(q)>>4
}

// search finds two ends of 6 or 8 bits, in order, for the values from lo to hi, and what they
// miss; that is not below most where there are none.
func (s *scale) search(v []int32, lo, hi int32, bits int, most int32) (ends [2]uint8, least int32) {
	last := int32(1)<<bits - 1
	a, b := lo>>(8-bits), hi>>(8-bits)
	miss := func(a, b, most int32) int32 {
		return s.miss(v, endOf(uint8(a), bits), endOf(uint8(b), bits), most)
	}
	least = miss(a, b, 1<<30)
	for step := max(1, (b-a)/8); least > 0; step /= 2 {
		for again := true; again; {
			again = false
			for _, d := range [4][2]int32{{1, 0}, {0, -1}, {-1, 0}, {0, 1}} {
				x, y := a+d[0]*step, b+d[1]*step
				if x < 0 || x > y || y > last {
					continue
				}
				if m := miss(x, y, least); m < least {
					a, b, least, again = x, y, m, true
				}
			}
		}
		if step == 1 {
			break
		}
	}
	return [2]uint8{uint8(a), uint8(b)}, least
}
