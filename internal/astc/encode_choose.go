package astc

// choice is a way to quantise a plan.
type choice struct {
	plan     *plan
	mode     *encodeMode
	ends     endpointMode
	level    level // of colours
	estimate float32
}

// choices are the best ones so far, the best first.
type choices struct {
	list     [32]choice
	n, limit int
}

func (c *choices) reset(limit int) { c.n, c.limit = 0, limit }

// worst is the estimate that a further choice has to stay below.
func (c *choices) worst() float32 {
	if c.n < c.limit {
		return 1 << 60
	}
	return c.list[c.n-1].estimate
}

func (c *choices) add(n choice) {
	at := min(c.n, c.limit-1)
	for at > 0 && n.estimate < c.list[at-1].estimate {
		c.list[at] = c.list[at-1]
		at--
	}
	c.list[at] = n
	c.n = min(c.n+1, c.limit)
}

// endsCost is what an endpoint mode adds to the error of a plan.
type endsCost struct {
	mode  endpointMode
	fixed float32
	noise float32 // per texel, for a noise of 1 in the numbers
}

// endsCosts lists the endpoint modes that a plan may use.
func (e *encoder) endsCosts(p *plan) (out [3]endsCost, n int) {
	// Two ends share the noise: the mean of (1-w)(1-w) + w*w is two thirds.
	const both = 2. / 3
	if e.grey {
		if e.opaque {
			return [3]endsCost{{modeLuminance, 0, 3 * both}}, 1
		}
		return [3]endsCost{{modeLumAlpha, 0, 4 * both}}, 1
	}
	var square float32
	for k := range p.partitions {
		for c := range 3 {
			v := p.lines[k].e1[c]
			square += float32(v * v)
		}
	}
	scale := float32(3*0.7) + float32(square/float32(p.partitions)/65536/3)
	if e.opaque {
		return [3]endsCost{
			{modeRGB, 0, 3 * both},
			{modeScale, p.scaled, scale},
			{modeLuminance, p.grey, 3 * both},
		}, 3
	}
	return [3]endsCost{
		{modeRGBA, 0, 4 * both},
		{modeScaleAlpha, p.scaled, scale + both},
		{modeLumAlpha, p.grey, 4 * both},
	}, 3
}

// propose adds the ways to quantise a plan to the choices.
func (e *encoder) propose(p *plan) {
	costs, n := e.endsCosts(p)
	planes := 1
	grids, room := e.singleGrids, 111
	if p.partitions > 1 {
		room = 99
	}
	if p.dual {
		planes, grids = 2, e.doubleGrids
		room -= 2
	}
	var points [2][maxWeights]int32
	var failed [maxGrids]*encodeGrid // those that lose too much: so do coarser ones
	failures := 0
	for _, g := range grids {
		if g.coarserThanAny(failed[:failures]) {
			continue
		}
		lost := p.rest
		for k := range planes {
			enough := (e.choices.worst() - lost) / p.length[k]
			lost += float32(e.decimate(g, &p.ideal[k], &points[k], enough) * p.length[k])
		}
		if lost >= e.choices.worst() {
			failed[failures] = g
			failures++
			continue
		}
		modes := g.modes[planes-1]
		for i := range modes {
			m := &modes[i]
			est := lost
			for k := range planes {
				var q float32
				errors := &rankError[m.weights]
				for j, v := range points[k][:g.count] {
					q += float32(errors[(v+2)>>2] * g.square[j])
				}
				est += float32(q * p.length[k])
			}
			if est >= e.choices.worst() {
				continue
			}
			for _, c := range costs[:n] {
				numbers := p.partitions * c.mode.numbers()
				bits := room - m.bits
				if numbers > 18 || bits <= 0 {
					continue
				}
				l := colorLevel[numbers][bits]
				if l <= uint8(level6) {
					continue
				}
				noise := float32(c.noise * colorNoise[l-1])
				total := est + c.fixed + float32(noise*float32(e.n))
				if total < e.choices.worst() {
					e.choices.add(choice{p, m, c.mode, level(l - 1), total})
				}
			}
		}
	}
}

// maxGrids is above the number of grids of any footprint that is encoded.
const maxGrids = 64

// coarserThanAny reports whether a grid has no more points either way than one
// of others.
func (g *encodeGrid) coarserThanAny(others []*encodeGrid) bool {
	for _, o := range others {
		if g.width <= o.width && g.height <= o.height {
			return true
		}
	}
	return false
}

// decimate finds the weights of grid points whose interpolation is next to the
// texels', and returns the squared error as a part of full weights squared.
// Where that cannot come below enough it is rough.
func (e *encoder) decimate(g *encodeGrid, ideal *[maxEncode]int32, points *[maxWeights]int32, enough float32) float32 {
	if g.full {
		copy(points[:g.count], ideal[:e.n])
		return 0
	}
	for p := range g.count {
		var sum int32
		for _, r := range g.reach[p] {
			sum += r.share * ideal[r.texel&63]
		}
		points[p] = (sum*g.inverse[p] + 1<<15) >> 16
	}
	// Means blur; steps against what is left sharpen them again.
	var off [maxEncode]int32
	first := g.offsets(points, ideal, off[:e.n])
	if first*sharpened >= enough {
		return first
	}
	for p := range g.count {
		var sum int32
		for _, r := range g.reach[p] {
			sum += r.share * off[r.texel&63]
		}
		points[p] = min(max(points[p]+(sum*g.inverse[p])>>15, 0), full)
	}
	return min(first, g.offsets(points, ideal, off[:e.n]))
}

// sharpened is what a step leaves of the error of means, at best.
const sharpened = 0.5

// offsets fills in what the interpolation of points lacks of the ideal, and
// returns the sum of its squares.
func (g *encodeGrid) offsets(points *[maxWeights]int32, ideal *[maxEncode]int32, off []int32) float32 {
	var sum int64
	for i := range off {
		p, s := &g.points[i], &g.shares[i]
		v := points[p[0]&63]*int32(s[0]) + points[p[1]&63]*int32(s[1]) + points[p[2]&63]*int32(s[2]) + points[p[3]&63]*int32(s[3])
		d := ideal[i&63] - (v+8)>>4
		off[i] = d
		sum += int64(d * d)
	}
	return float32(sum) / (full * full)
}
