package astc

import (
	"math/bits"
)

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

// split makes plans of several partitions: those whose texels are nearly those
// of clusters of colours, and of these those with the least error.
func (e *encoder) split() {
	if e.effort.two == 0 || e.n < 4 {
		return
	}
	var all moments
	for i := range e.n {
		all.add(&e.px[i])
	}
	e.splitInto(2, e.effort.two, e.cluster(2, &all), &all)
	if e.effort.three > 0 {
		e.splitInto(3, e.effort.three, e.cluster(3, &all), &all)
	}
}

// cluster groups texels by colour and returns their masks.
func (e *encoder) cluster(count int, all *moments) (masks [3]uint64) {
	c := all.covariance()
	axis, _ := axisOf(&c, all.n, axisRounds)
	var l line
	l.set(all, axis)
	var at [maxEncode]int32
	low, high := int32(1<<30), int32(-1<<30)
	for i := range e.n {
		a, x := &l.axis, &e.px[i]
		at[i] = a[0]*x[0] + a[1]*x[1] + a[2]*x[2] + a[3]*x[3]
		low, high = min(low, at[i]), max(high, at[i])
	}
	var part [maxEncode]uint8
	for i := range e.n {
		if r := int64(high-low) + 1; r > 1 {
			part[i] = uint8(int64(at[i]-low) * int64(count) / r)
		}
	}
	for range 4 {
		var sum [3][4]int32
		var n [3]int32
		for i := range e.n {
			k := part[i]
			n[k]++
			for c, v := range e.px[i] {
				sum[k][c] += v
			}
		}
		for k := range count {
			if n[k] > 0 {
				for c := range sum[k] {
					sum[k][c] = (sum[k][c] + n[k]/2) / n[k]
				}
			}
		}
		changed := false
		for i := range e.n {
			best, least := uint8(0), int32(1<<30)
			for k := range count {
				if n[k] == 0 {
					continue
				}
				var d int32
				for c, v := range e.px[i] {
					d += (v - sum[k][c]) * (v - sum[k][c])
				}
				if d < least {
					best, least = uint8(k), d
				}
			}
			changed = changed || best != part[i]
			part[i] = best
		}
		if !changed {
			break
		}
	}
	for i := range e.n {
		masks[part[i]] |= 1 << i
	}
	return masks
}

// unlike returns how many texels a partitioning puts elsewhere than clusters
// do.
func unlike(s, m *[3]uint64, count, n int) int {
	if count == 2 {
		d := bits.OnesCount64(s[0] ^ m[0])
		return min(d, n-d)
	}
	var same [3][3]int
	for i := range 3 {
		for j := range 3 {
			same[i][j] = bits.OnesCount64(s[i] & m[j])
		}
	}
	return n - max(
		same[0][0]+max(same[1][1]+same[2][2], same[1][2]+same[2][1]),
		same[0][1]+max(same[1][0]+same[2][2], same[1][2]+same[2][0]),
		same[0][2]+max(same[1][0]+same[2][1], same[1][1]+same[2][0]),
	)
}

// splitInto proposes the best plans of a number of partitions.
func (e *encoder) splitInto(count, plans int, clusters [3]uint64, all *moments) {
	masks := e.masks[count]
	var histogram [maxEncode + 1]int
	e.distances = grow(e.distances, len(masks))
	for i := range masks {
		d := unlike(&masks[i], &clusters, count, e.n)
		e.distances[i] = uint8(d)
		histogram[d&63]++
	}
	// The nearest ones: all below a limit, and the first of those at it.
	limit, left := 0, e.effort.nearby
	for limit < e.n && left > histogram[limit] {
		left -= histogram[limit]
		limit++
	}
	type rated struct {
		split *split
		rest  float32
	}
	var best [8]rated
	found := 0
	for i, d := range e.distances {
		if int(d) > limit {
			continue
		}
		if int(d) == limit {
			if left == 0 {
				continue
			}
			left--
		}
		s := &e.splits[count][i]
		r := e.restOf(s, count, all)
		at := found
		for at > 0 && r < best[at-1].rest {
			at--
		}
		if at >= plans {
			continue
		}
		found = min(found+1, plans)
		copy(best[at+1:found], best[at:found-1])
		best[at] = rated{s, r}
	}
	for _, b := range best[:found] {
		p := e.newPlan()
		p.partitions, p.split = count, b.split
		e.lay(p)
		e.propose(p)
	}
}

// restOf returns the error off the lines of a partitioning.
func (e *encoder) restOf(s *split, count int, all *moments) float32 {
	var m [3]moments
	for k := range count - 1 {
		for left := s.mask[k]; left != 0; left &= left - 1 {
			m[k].add(&e.px[bits.TrailingZeros64(left)])
		}
	}
	last := *all
	for k := range count - 1 {
		last = last.without(&m[k])
	}
	m[count-1] = last
	var sum float32
	for k := range count {
		c := m[k].covariance()
		_, rest := axisOf(&c, m[k].n, 3)
		sum += rest
	}
	return sum
}

// secondPlane proposes plans in which a channel has weights of its own: those
// with the least error of the others.
func (e *encoder) secondPlane() {
	var all moments
	for i := range e.n {
		all.add(&e.px[i])
	}
	c := all.covariance()
	var rest [4]float32
	order := make([]int, 0, 4)
	for ch := range 4 {
		if !e.live[ch] || e.grey && ch != 3 {
			continue
		}
		d := c
		for i := range 4 {
			d[pairs[ch][i]] = 0
		}
		if d[0]+d[4]+d[7]+d[9] <= 0 {
			continue // nothing is left for the first plane
		}
		_, rest[ch] = axisOf(&d, all.n, axisRounds)
		at := len(order)
		order = append(order, ch)
		for at > 0 && rest[order[at]] < rest[order[at-1]] {
			order[at], order[at-1] = order[at-1], order[at]
			at--
		}
	}
	for _, ch := range order[:min(len(order), e.effort.duals)] {
		p := e.newPlan()
		p.partitions, p.dual, p.channel = 1, true, ch
		e.lay(p)
		e.propose(p)
	}
}

func grow(b []uint8, n int) []uint8 {
	if cap(b) < n {
		return make([]uint8, n)
	}
	return b[:n]
}
