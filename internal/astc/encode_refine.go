package astc

import "math/bits"

// solution is a block that is worked out.
type solution struct {
	choice
	endsMode endpointMode // as stored: that of the choice, or as differences
	numbers  [18]uint8    // of the colours, as stored
	ends     [3][2]color
	ranks    [2][maxWeights]uint8
	weights  [2][maxTexels]uint8 // of texels
	err      int64
	flat     bool // one colour, without error
}

// refine works a choice out: weights are quantised, colours fitted to them,
// weights chosen anew for the colours, and so on. The best of all is kept in
// e.best.
func (e *encoder) refine(c *choice) {
	s := &e.work
	s.choice = *c
	g, p := c.mode.grid, c.plan
	planes := 1
	if p.dual {
		planes = 2
	}
	var points [maxWeights]int32
	for k := range planes {
		e.decimate(g, &p.ideal[k], &points, 1<<60)
		for j, v := range points[:g.count] {
			s.ranks[k][j] = rankOf[c.mode.weights][(v+2)>>2]
		}
	}
	for round := 0; ; round++ {
		e.spreadRanks(s, planes)
		e.fitColors(s)
		e.storeColors(s)
		s.err = e.errorOf(s)
		if s.err < e.best.err {
			e.best = *s
		}
		if round+1 >= e.effort.rounds || !e.weighAnew(s, planes) {
			return
		}
	}
}

// spreadRanks fills in the weights of texels.
func (e *encoder) spreadRanks(s *solution, planes int) {
	g := s.mode.grid
	var values [maxWeights]uint8
	table := &rankValue[s.mode.weights]
	for k := range planes {
		for j, r := range s.ranks[k][:g.count] {
			values[j] = table[r&31]
		}
		g.spread(values[:], s.weights[k][:e.n])
	}
}

// partOf returns the partitions of texels.
func (p *plan) partOf() *[maxEncode]uint8 {
	if p.split == nil {
		return &noParts
	}
	return &p.split.part
}

var noParts [maxEncode]uint8

// errorOf returns the error of a solution as a decoder will have it.
func (e *encoder) errorOf(s *solution) int64 {
	part := s.plan.partOf()
	var sum int32 // of 64 texels below 1 << 25
	for i := range e.n {
		k := part[i] % 3
		a, b, x := &s.ends[k][0], &s.ends[k][1], &e.px[i]
		w := int32(s.weights[0][i])
		v := 64 - w
		if !s.plan.dual {
			for c := range 4 {
				d := x[c] - int32(e.round[(a[c]*v+b[c]*w)&0x3fff])
				sum += d * d
			}
			continue
		}
		for c := range 4 {
			w, v := w, v
			if c == s.plan.channel {
				w = int32(s.weights[1][i])
				v = 64 - w
			}
			d := x[c] - int32(e.round[(a[c]*v+b[c]*w)&0x3fff])
			sum += d * d
		}
	}
	return int64(sum)
}

// texelError returns the error of one texel.
func (s *solution) texelError(e *encoder, i int) int64 {
	if s.flat {
		return 0
	}
	k := s.plan.partOf()[i]
	var sum int64
	for c := range 4 {
		w := int32(s.weights[0][i])
		if s.plan.dual && c == s.plan.channel {
			w = int32(s.weights[1][i])
		}
		d := int64(e.px[i][c] - int32(e.round[s.ends[k][0][c]*(64-w)+s.ends[k][1][c]*w]))
		sum += d * d
	}
	return sum
}

// weighAnew chooses the weights for the colours of a solution and reports
// whether any changed.
func (e *encoder) weighAnew(s *solution, planes int) bool {
	g := s.mode.grid
	changed := false
	for k := range planes {
		var length [3]int64
		e.aim(s, k, &length)
		if g.full {
			table := &rankOf[s.mode.weights]
			for j, v := range e.target[k][:e.n] {
				r := table[(v+2)>>2]
				changed = changed || r != s.ranks[k][j]
				s.ranks[k][j] = r
			}
			continue
		}
		if e.descend(s, k, &length) {
			changed = true
		}
	}
	return changed
}

// aim finds the best weights of texels for the colours of a solution, and the
// squared lengths between these.
func (e *encoder) aim(s *solution, plane int, length *[3]int64) {
	part := s.plan.partOf()
	var d [3]color
	var inverse [3]float32
	for k := range s.plan.partitions {
		for c := range 4 {
			if s.plan.dual && (c == s.plan.channel) != (plane == 1) {
				continue
			}
			d[k][c] = s.ends[k][1][c] - s.ends[k][0][c]
			length[k] += int64(d[k][c] * d[k][c])
		}
		if length[k] > 0 {
			inverse[k] = full / float32(length[k])
		}
	}
	for i := range e.n {
		k := part[i] % 3
		a, x, d := &s.ends[k][0], &e.px[i], &d[k]
		dot := (x[0]-a[0])*d[0] + (x[1]-a[1])*d[1] + (x[2]-a[2])*d[2] + (x[3]-a[3])*d[3]
		e.target[plane][i] = min(max(int32(float32(dot)*inverse[k]), 0), full)
	}
}

// descend moves the weights of grid points, each to where it leaves the least
// error while the others stay.
func (e *encoder) descend(s *solution, plane int, length *[3]int64) bool {
	g := s.mode.grid
	part := s.plan.partOf()
	value, nearest := &rankValue[s.mode.weights], &rankOf[s.mode.weights]
	var off [maxEncode]int32 // interpolated less wanted weights
	ranks := &s.ranks[plane]
	for i := range e.n {
		p, h := &g.points[i], &g.shares[i]
		v := int32(value[ranks[p[0]&63]&31])*int32(h[0]) + int32(value[ranks[p[1]&63]&31])*int32(h[1]) +
			int32(value[ranks[p[2]&63]&31])*int32(h[2]) + int32(value[ranks[p[3]&63]&31])*int32(h[3])
		off[i] = v - e.target[plane][i]
	}
	changed := false
	for range 2 {
		moved := false
		for p := range g.count {
			var slope, bend int64
			for _, r := range g.reach[p] {
				l := length[part[r.texel&63]%3] * int64(r.share)
				slope += l * int64(off[r.texel&63])
				bend += l * int64(r.share)
			}
			if bend == 0 {
				continue
			}
			old := int32(value[ranks[p]&31])
			// In quarters of a value, as ranks are looked up.
			want := 4*old - int32(4*slope/bend)
			next := nearest[min(max(want, 0), 256)]
			if next == ranks[p] {
				continue
			}
			ranks[p] = next
			by := int32(value[next&31]) - old
			for _, r := range g.reach[p] {
				off[r.texel&63] += by * r.share
			}
			moved, changed = true, true
		}
		if !moved {
			break
		}
	}
	return changed
}

// bits writes a solution.
func (s *solution) bits(e *encoder) bits128 {
	m, p := s.mode, s.plan
	g := m.grid
	var w [maxWeights]uint8
	number := &rankNumber[m.weights]
	for j := range g.count {
		if p.dual {
			w[2*j], w[2*j+1] = number[s.ranks[0][j]], number[s.ranks[1][j]]
		} else {
			w[j] = number[s.ranks[0][j]]
		}
	}
	var down bits128
	writeSequence(&down, 0, m.weights, w[:m.count()])
	b := bits128{bits.Reverse64(down.hi), bits.Reverse64(down.lo)}
	b.put(0, 11, uint32(m.number))
	b.put(11, 2, uint32(p.partitions-1))
	start := uint(17)
	if p.partitions == 1 {
		b.put(13, 4, uint32(s.endsMode))
	} else {
		start = 29
		b.put(13, 10, uint32(p.split.seed))
		b.put(23, 6, uint32(s.endsMode)<<2)
	}
	if p.dual {
		b.put(uint(126-m.bits), 2, uint32(p.channel))
	}
	writeSequence(&b, start, s.level, s.numbers[:p.partitions*s.endsMode.numbers()])
	return b
}
