package astc

// plan is a way to lay lines through the colours of a block, before anything is
// quantised.
type plan struct {
	partitions int
	split      *split // nil with one partition
	dual       bool
	channel    int // of the second plane
	lines      [3]line
	second     [2]int32 // range of the channel of the second plane
	ideal      [2][maxEncode]int32
	// rest is the error that stays with the best of weights; scaled and grey what
	// the simpler endpoint modes add.
	rest, scaled, grey float32
	length             [2]float32 // mean squared length of the lines, by plane
}

// line is where the colours of a partition lie.
type line struct {
	n      int
	mean   [4]float32
	axis   [4]int32 // the largest is 1024
	e0, e1 [4]float32
	length float32 // squared, between the ends
}

// full is the scale of ideal weights.
const full = 1024

// newPlan takes memory for a plan.
func (e *encoder) newPlan() *plan {
	if e.used == len(e.plans) {
		if e.plans == nil {
			e.plans = make([]plan, 0, 16) // plans are pointed at: the memory must not move
		}
		e.plans = append(e.plans, plan{})
	}
	p := &e.plans[e.used]
	e.used++
	p.split, p.dual = nil, false
	return p
}

// plain returns the plan of one line.
func (e *encoder) plain() *plan {
	p := e.newPlan()
	p.partitions = 1
	e.lay(p)
	return p
}

// moments are the sums of a set of colours.
type moments struct {
	n   int64
	sum [4]int64
	mul [10]int64 // of products, by pair
}

// pairs numbers the products of channels.
var pairs = [4][4]int{{0, 1, 2, 3}, {1, 4, 5, 6}, {2, 5, 7, 8}, {3, 6, 8, 9}}

func (m *moments) add(p *[4]int32) {
	r, g, b, a := int64(p[0]), int64(p[1]), int64(p[2]), int64(p[3])
	m.n++
	m.sum[0] += r
	m.sum[1] += g
	m.sum[2] += b
	m.sum[3] += a
	m.mul[0] += r * r
	m.mul[1] += r * g
	m.mul[2] += r * b
	m.mul[3] += r * a
	m.mul[4] += g * g
	m.mul[5] += g * b
	m.mul[6] += g * a
	m.mul[7] += b * b
	m.mul[8] += b * a
	m.mul[9] += a * a
}

// without returns what is left when a part is taken away.
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

// covariance returns n times the sums of products of the differences from the
// mean.
func (m *moments) covariance() (c [10]float32) {
	for i := range 4 {
		for j := i; j < 4; j++ {
			k := pairs[i][j]
			c[k] = float32(m.n*m.mul[k] - m.sum[i]*m.sum[j])
		}
	}
	return c
}

// axisOf returns the direction in which colours differ most, by repeated
// multiplication, and the error off that line.
func axisOf(c *[10]float32, n int64, rounds int) (axis [4]float32, rest float32) {
	best := 0
	for i := range 4 {
		if c[pairs[i][i]] > c[pairs[best][best]] {
			best = i
		}
	}
	for i := range axis {
		axis[i] = c[pairs[best][i]]
	}
	trace := c[0] + c[4] + c[7] + c[9]
	if trace <= 0 {
		return [4]float32{1, 1, 1, 1}, 0
	}
	var top float32
	for range rounds {
		top = 0
		for _, v := range axis {
			top = max(top, v, -v)
		}
		if top == 0 {
			return [4]float32{1, 1, 1, 1}, 0
		}
		a := [4]float32{axis[0] / top, axis[1] / top, axis[2] / top, axis[3] / top}
		for i := range axis {
			q := &pairs[i]
			axis[i] = float32(c[q[0]]*a[0]) + float32(c[q[1]]*a[1]) + float32(c[q[2]]*a[2]) + float32(c[q[3]]*a[3])
		}
	}
	var length, along float32
	for i := range axis {
		length += float32(axis[i] * axis[i])
	}
	if length == 0 {
		return [4]float32{1, 1, 1, 1}, 0
	}
	for i := range axis {
		q := &pairs[i]
		v := float32(c[q[0]]*axis[0]) + float32(c[q[1]]*axis[1]) + float32(c[q[2]]*axis[2]) + float32(c[q[3]]*axis[3])
		along += float32(v * axis[i])
	}
	return axis, max(trace-along/length, 0) / float32(n)
}

// axisRounds are those of the power iteration.
const axisRounds = 4

// lay finds the lines of a plan and the weights along them.
func (e *encoder) lay(p *plan) {
	var m [3]moments
	if p.split == nil {
		for i := range e.n {
			m[0].add(&e.px[i])
		}
	} else {
		for i := range e.n {
			m[p.split.part[i]].add(&e.px[i])
		}
	}
	p.rest, p.scaled, p.length = 0, 0, [2]float32{}
	for k := range p.partitions {
		c := m[k].covariance()
		if p.dual {
			for i := range 4 {
				c[pairs[p.channel][i]] = 0
			}
		}
		axis, rest := axisOf(&c, m[k].n, axisRounds)
		p.rest += rest
		p.lines[k].set(&m[k], axis)
	}
	e.project(p)
	if p.dual {
		e.projectSecond(p)
	}
	p.length[0] /= float32(e.n)
	e.judgeModes(p)
}

// set takes over what is known before the ends.
func (l *line) set(m *moments, axis [4]float32) {
	l.n = int(m.n)
	var top float32
	for c, v := range axis {
		top = max(top, v, -v)
		l.mean[c] = float32(m.sum[c]) / float32(m.n)
	}
	if axis[0]+axis[1]+axis[2] < 0 {
		top = -top // the end of weight 0 is the darker one, as stored colours want it
	}
	for c, v := range axis {
		l.axis[c] = int32(v / top * 1024)
	}
}

// project finds the ends of the lines, and where texels lie between them.
func (e *encoder) project(p *plan) {
	var at [maxEncode]int32
	low, high := [3]int32{1 << 30, 1 << 30, 1 << 30}, [3]int32{-1 << 30, -1 << 30, -1 << 30}
	for i := range e.n {
		k := 0
		if p.split != nil {
			k = int(p.split.part[i])
		}
		a, x := &p.lines[k].axis, &e.px[i]
		t := a[0]*x[0] + a[1]*x[1] + a[2]*x[2] + a[3]*x[3]
		at[i] = t
		low[k], high[k] = min(low[k], t), max(high[k], t)
	}
	for k := range p.partitions {
		l := &p.lines[k]
		var square int32
		var mid float32
		for c, a := range l.axis {
			square += a * a
			mid += float32(float32(a) * l.mean[c])
		}
		for c, a := range l.axis {
			l.e0[c] = l.mean[c] + float32(float32(a)*((float32(low[k])-mid)/float32(square)))
			l.e1[c] = l.mean[c] + float32(float32(a)*((float32(high[k])-mid)/float32(square)))
		}
		r := float32(high[k] - low[k])
		l.length = r / float32(square) * r
		p.length[0] += float32(l.length * float32(l.n))
	}
	for i := range e.n {
		k := 0
		if p.split != nil {
			k = int(p.split.part[i])
		}
		if r := high[k] - low[k]; r > 0 {
			p.ideal[0][i] = int32((int64(at[i]-low[k])*full + int64(r)/2) / int64(r))
		} else {
			p.ideal[0][i] = 0
		}
	}
}

// projectSecond does the same with the channel of the second plane.
func (e *encoder) projectSecond(p *plan) {
	low, high := int32(255), int32(0)
	for i := range e.n {
		v := e.px[i][p.channel]
		low, high = min(low, v), max(high, v)
	}
	p.second = [2]int32{low, high}
	r := max(high-low, 1)
	for i := range e.n {
		p.ideal[1][i] = ((e.px[i][p.channel]-low)*full + r/2) / r
	}
	p.length[1] = float32(r * r)
	for k := range p.partitions {
		p.lines[k].e0[p.channel], p.lines[k].e1[p.channel] = float32(low), float32(high)
	}
}

// judgeModes estimates what the simpler endpoint modes add to the error.
func (e *encoder) judgeModes(p *plan) {
	p.scaled = 0
	for k := range p.partitions {
		l := &p.lines[k]
		var dot, square float32
		for c := range 3 {
			dot += float32(l.e0[c] * l.e1[c])
			square += float32(l.e1[c] * l.e1[c])
		}
		s := min(max(dot/max(square, 1), 0), 255./256)
		var off float32
		for c := range 3 {
			d := l.e0[c] - float32(s*l.e1[c])
			off += float32(d * d)
		}
		p.scaled += float32(off * float32(l.n) / 3)
	}
	if p.dual && p.channel != 3 {
		p.scaled = 1 << 30 // a channel of its own does not scale with the others
	}
	if e.grey {
		p.grey = 0
		return
	}
	off := 0
	for i := range e.n {
		x := &e.px[i]
		s := x[0] + x[1] + x[2]
		off += int(x[0]*x[0]+x[1]*x[1]+x[2]*x[2]) - int(s*s)/3
	}
	p.grey = max(float32(off)-p.rest, 0)
}
