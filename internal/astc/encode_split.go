package astc

import "math/bits"

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
