package bc

// Quality says how much is tried.
type Quality uint8

// The qualities.
const (
	Fast Quality = iota
	High         // several times the time for a smaller error
)

// plan is what a quality tries.
type plan struct {
	one  effort // mode 6, which every block gets
	many effort // the others
	// enough is the squared error of a block in mode 6 that is not worth more.
	enough   int32
	patterns int    // of two sets that are looked at; those with low numbers are of use most often
	tried    [8]int // patterns by mode, the most promising ones
	splits   int    // ways to give a channel weights of its own that are tried
	// slack is how much more than the best so far an estimate may be for a try.
	slack float64
}

var plans = [...]plan{
	Fast: {
		one:  effort{rounds: 2, starts: 1, turns: 3},
		many: effort{rounds: 1, starts: 1, turns: 2}, enough: 4,
		patterns: 32, tried: [8]int{1: 1, 3: 1, 7: 1}, splits: 3, slack: 1,
	},
	High: {
		one:      effort{rounds: 8, reach: 1, starts: 4, careful: true, turns: 6},
		many:     effort{rounds: 1, reach: 1, starts: 4, careful: true, turns: 4},
		patterns: 64, tried: [8]int{0: 2, 1: 4, 2: 2, 3: 4, 7: 4}, splits: 8, slack: 2,
	},
}

// encoder compresses blocks of colours. Mode 6 is tried first, in all of them. What the other
// modes would leave is estimated by how the texels of every set lie around their line
// (rank.go), and the most promising are tried: lines are fitted to the sets (fit.go), and what
// they miss is counted as a decoder has it.
type encoder struct {
	plan   *plan
	enough int32 // of the plan, or more
	// alphaUnused: of opaque blocks alpha may come out as 254.
	alphaUnused bool

	px     [16][4]int32
	opaque bool
	best   coded

	whole  part
	parts  [3]part
	rank   ranking
	ranked [64]ranked
}

func newEncoder(q Quality, alphaUnused bool) *encoder {
	return &encoder{plan: &plans[q], enough: plans[q].enough, alphaUnused: alphaUnused}
}

// find looks for the best way to have the texels px.
func (e *encoder) find() {
	e.opaque = true
	for i := range e.px {
		e.opaque = e.opaque && e.px[i][3] == 255
	}
	channels := 4
	if e.opaque {
		channels = 3
	}
	e.best = coded{err: nothing}
	e.whole.take(&e.px, 0xffff, channels, e.plan.one.turns)
	if e.whole.flat {
		e.flat()
		return
	}
	e.single()
	if e.best.err <= e.enough {
		return
	}
	e.rank.prepare(&e.px, channels)
	two := e.ranked[:e.plan.patterns]
	e.rank.two(two, !e.opaque)
	if !e.opaque {
		e.sets(&layout7, two)
		e.apart()
		return
	}
	e.sets(&layout1, two)
	e.sets(&layout3, two)
	e.apart()
	if e.plan.tried[0]+e.plan.tried[2] > 0 && e.best.err > 0 {
		e.rank.three(&e.ranked)
		e.sets(&layout0, e.ranked[:patterns0])
		e.sets(&layout2, e.ranked[:])
	}
}

// flat encodes a block of one colour, which mode 5 meets.
func (e *encoder) flat() {
	var f fitted
	e.whole.fit(&layout5, &e.plan.one, nothing, &f)
	c := &e.best
	c.mode, c.err, c.index = 5, f.err, f.index
	c.ends[0] = f.ends
	a := uint8(e.px[0][3])
	c.ends[0][0][3], c.ends[0][1][3] = a, a
	c.scalar = [16]uint8{}
}

// single tries mode 6.
func (e *encoder) single() {
	l := &layout6
	if e.opaque {
		if l = &layout6Odd; e.alphaUnused {
			l = &layout6RGB
		}
	}
	var f fitted
	e.whole.fit(l, &e.plan.one, e.best.err, &f)
	if f.err >= e.best.err {
		return
	}
	c := &e.best
	c.mode, c.err, c.index = 6, f.err, f.index
	c.ends[0] = f.ends
	if e.opaque {
		for k := range 2 {
			c.ends[0][k][3] = 254 | f.ends[k][0]&1
		}
	}
}

// patterns0 is how many of the patterns of three sets mode 0 has.
const patterns0 = 16

// sets tries a mode with the patterns that are estimated to be best for it.
func (e *encoder) sets(l *layout, of []ranked) {
	by := 3 - l.index
	for _, r := range best(of, e.plan.tried[l.mode&7], by) {
		if e.best.err == 0 || r.miss[by] > float64(float64(e.best.err)*e.plan.slack) {
			return
		}
		e.pattern(l, r.pattern)
	}
}

// pattern tries a mode with the sets of a pattern.
func (e *encoder) pattern(l *layout, p uint8) {
	var masks [3]uint16
	if l.subsets == 2 {
		masks[1] = patterns[p&63]
	} else {
		masks[1], masks[2] = patterns3[p&63][0], patterns3[p&63][1]
	}
	masks[0] = ^(masks[1] | masks[2])
	var f [3]fitted
	sum := int32(0)
	for s := range f[:l.subsets] {
		part := &e.parts[s]
		part.take(&e.px, masks[s], l.channels, e.plan.many.turns)
		part.fit(l, &e.plan.many, e.best.err-sum, &f[s])
		if sum += f[s].err; sum >= e.best.err {
			return
		}
	}
	c := &e.best
	c.mode, c.pattern, c.err = l.mode, p, sum
	for s := range f[:l.subsets] {
		c.ends[s] = f[s].ends
		part := &e.parts[s]
		for i := range part.n {
			c.index[part.at[i&15]&15] = f[s].index[i&15]
		}
	}
}

// nothing is more than any block can miss.
const nothing = 1 << 28
