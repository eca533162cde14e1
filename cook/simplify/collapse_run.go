package simplify

import "math"

var inf = float32(math.Inf(1))

// passShare is the part of the edges that one pass may look at: small shares
// come closer to always taking the cheapest collapse, but below this one that
// gains nothing that could be measured.
const passShare = 0.25

// Reduce collapses until at most target triangles are left or the geometric
// error would exceed maxError metres; a maxError that is not positive, or
// +Inf, means no limit. It continues from where the last call stopped; a
// target above the present count changes nothing.
//
// The limit works on an estimate: 2.5 times the root mean square distance, by
// quadrics, of the new vertex from the planes of all source triangles that it
// stands for. Result.Error, which is measured, stays below the limit on most
// meshes and within 1.5 times of it on those of the tests. Where groups meet it
// can be several times the limit: it looks for each group's own triangles, and so
// knows how far the line between groups moved within the surface, which the
// estimate does not.
func (s *Simplifier) Reduce(target int, maxError float64) Result {
	if !(maxError > 0) {
		maxError = math.Inf(1)
	}
	run := run{s: s, target: max(target, 0), limit: maxError}
	stop := Reached
	if s.triangles > run.target {
		s.unbar(maxError)
		stop = run.all()
	}
	return s.result(run.target, stop)
}

// run is one call of Reduce.
type run struct {
	s         *Simplifier
	target    int
	limit     float64
	rules     rules
	refused   [verdicts]int // in this step
	changed   int           // edges priced anew or collapsed, and triangles removed, in this pass
	collapsed int           // edges in this pass
	relaxed   bool          // no more rules to relax
	early     uint16        // the limit at which the last step was given up, or never
}

// steps relax the rules when no collapse is left: first thin and turning
// triangles, then seams, then the topology, then all.
var steps = []rules{
	{turn: 0.25},
	{turn: 0.02},
	{turn: 0.02, seams: true},
	{turn: 0.02, seams: true, topology: true},
	{turn: anyTurn, seams: true, topology: true},
}

// anyTurn lets triangles turn over.
const anyTurn = -1

// all goes through the steps until the target is reached or nothing is left,
// and says why it stopped.
func (r *run) all() StopReason {
	s := r.s
	for i, step := range steps {
		switch s.opt.Seams {
		case SeamsKeep:
			step.seams = false
		case SeamsWeld:
			step.seams = true
		}
		r.rules = step
		r.relaxed = i == len(steps)-1
		r.refused = [verdicts]int{}
		switch {
		case i == 0 && s.exhausted || i > 0 && r.early == never:
			s.reopen(s.cornerWedge)
		case i > 0:
			s.recall(r.early)
		}
		r.early = never
		if i > 0 {
			r.refused[inexact] = s.countBarred()
		}
		r.priceParts()
		if r.passes() {
			return Reached
		}
		if r.early == never && r.refused[inexact]*refusedOften > r.relaxable() {
			break // the limit stops the run, not the rules
		}
	}
	s.exhausted = true
	if s.opt.Sloppy && s.cluster(r.target, r.limit) {
		return Reached
	}
	for _, why := range []struct {
		verdict verdict
		reason  StopReason
	}{
		{inexact, ErrorBound},
		{acrossSeam, Seams},
		{holdsLocked, LockedVertices},
		{folds, Topology},
		{turns, Topology},
	} {
		if r.refused[why.verdict] > 0 || why.verdict == holdsLocked && s.held {
			return why.reason
		}
	}
	return Components
}

// passes collapses until the target is reached, which it reports, or nothing
// or little is allowed any more.
func (r *run) passes() bool {
	s := r.s
	idle := 0
	for s.triangles > r.target {
		fresh := s.unpriced
		limit := s.threshold(max((s.triangles-r.target)/4, r.target/40, leastWanted))
		if limit == never || idle > idlePasses {
			part := s.cheapestPart()
			if part == never {
				return false
			}
			if limit == never || limit < part {
				limit = part
			}
		}
		r.changed, r.collapsed = 0, 0
		before := r.relaxable()
		last := limit
		if !fresh {
			last = r.last(limit)
		}
		if r.prune(last) {
			return true
		}
		last = min(last, r.last(limit)) // the target may be near now
		if s.triangles > r.target+r.target/2 {
			s.reweight()
		}
		if r.pass(limit, last) {
			return true
		}
		if r.changed > 0 {
			idle = 0
		} else {
			idle++
		}
		if !r.relaxed && r.relaxable()-before > refusedShare*r.collapsed+refusedFew {
			r.early = last
			return false
		}
	}
	return true
}

// leastWanted keeps the last passes over small meshes from looking for single
// edges.
const leastWanted = 16

// relaxable counts refusals that later steps may not repeat.
func (r *run) relaxable() int {
	n := r.refused[folds] + r.refused[turns]
	if r.s.opt.Seams != SeamsKeep {
		n += r.refused[acrossSeam]
	}
	return n
}

// A step also ends when a pass refuses so many times as many edges as it
// collapses: going on would mean to collapse what costs much for the sake of
// rules that cost little.
const (
	refusedShare = 8
	refusedFew   = 50
)

// refusedOften is how often an edge that the rules forbid is refused in a step,
// roughly; one that exceeds the error limit is so once.
const refusedOften = 4

// idlePasses ends a step after so many passes in which every edge was refused.
// Refused edges come again when the limit has doubled.
const (
	idlePasses    = 6
	refusedFactor = 1 << 8 // in keys
)

// try collapses an edge if it still costs no more than the limit and is
// allowed, which it reports; else it stores when to come back.
func (r *run) try(c uint32, limit uint16) bool {
	s := r.s
	n, _ := corners(c)
	u, v := s.at(c), s.at(n)
	if s.vertices[u].flags&s.vertices[v].flags&flagLocked != 0 {
		s.cost[c], s.held = never, true // nothing will change that
		return false
	}
	var e candidate
	s.seek(u, v, &e)
	if k := key(e.cost); k > limit {
		s.cost[c] = k // the rest would only add to it
		r.changed++
		return false
	}
	multi := (s.vertices[u].flags|s.vertices[v].flags)&flagMulti != 0
	if multi {
		if !s.split(&s.scratch, u, v, ringMaxMulti) {
			r.refuse(c, folds, limit)
			return false
		}
		s.pairWedges(v, &e)
	}
	s.join(u, v, &e)
	if k := key(e.cost); k > limit {
		s.cost[c] = k
		r.changed++
		return false
	}
	if !multi && !s.split(&s.scratch, u, v, ringMax) {
		r.refuse(c, folds, limit)
		return false
	}
	why := r.judge(u, v, &e)
	if why == turns && r.elsewhere(u, v, &e, limit) {
		why = allowed
	}
	if why != allowed {
		r.refuse(c, why, limit)
		return false
	}
	r.apply(u, v, &e)
	return true
}

// refuse counts an edge that is not allowed to collapse and says when it comes
// again.
func (r *run) refuse(c uint32, why verdict, limit uint16) {
	r.refused[why]++
	key := uint16(never)
	switch k := uint32(limit) + refusedFactor; {
	case why == inexact:
		key = barred // errors grow faster than areas, with few exceptions
	case k < uint32(infinite) && why != lastOne:
		key = uint16(k)
	}
	r.s.cost[c] = key
}

// elsewhere looks for another position for a collapse that would turn triangles
// over where it costs least: where thin triangles meet, such as at the poles of
// a sphere, the middle of the edge or one of its ends often does.
func (r *run) elsewhere(u, v uint32, c *candidate, limit uint16) bool {
	s := r.s
	if (s.vertices[u].flags|s.vertices[v].flags)&flagLocked != 0 {
		return false
	}
	d := s.point(v).sub(s.point(u))
	for _, at := range [3]vec{d.scale(0.5), {}, d} {
		s.seekAt(u, v, at, c)
		s.join(u, v, c)
		if key(c.cost) <= limit && r.exact(u, v, c) && s.keepsOrientation(&s.scratch, u, v, c.at, r.rules.turn) {
			return true
		}
	}
	return false
}

// boundFactor is how much the greatest distance exceeds the root mean square
// that quadrics know, on all but rare vertices.
const boundFactor = 2.5

// judge is legal plus the error limit.
func (r *run) judge(u, v uint32, c *candidate) verdict {
	if !r.exact(u, v, c) {
		return inexact
	}
	return r.s.legal(u, v, c, &r.rules)
}

// exact reports whether a collapse keeps to the error limit.
func (r *run) exact(u, v uint32, c *candidate) bool {
	if r.limit < math.Inf(1) || r.s.opt.NoRefine {
		c.geo = r.s.deviation(u, v, c.at)
	}
	// Without a limit there need not be an area, either.
	return math.IsInf(r.limit, 1) || float64(c.geo*(boundFactor*boundFactor)) <= float64(float64(r.limit*r.limit)*c.area)
}

// apply collapses.
func (r *run) apply(u, v uint32, c *candidate) {
	s := r.s
	r.changed++
	r.collapsed++
	if c.area > 0 {
		s.stats.maxCost = max(s.stats.maxCost, float64(boundFactor*math.Sqrt(c.geo/c.area)))
	}
	s.stats.relaxed = s.stats.relaxed || c.loose && s.opt.Seams != SeamsWeld
	s.collapse(u, v, c)
	x := &s.scratch
	if r.rules.topology {
		s.dropRepeats(u)
		x.around.n = 0
		s.gatherApart(u, none, &x.around, &x.atU, ringMax)
		x.fromV = x.around.n
	}
	// Edges of u and v to the same vertex are one now.
	s.oneKeys(x, key(c.cost))
	// Edges of u have become dearer, mostly by more than twice this cost. A higher
	// key spares looking at them again and again.
	least := min(key(c.cost)+1<<8, infinite-1)
	cost := s.cost
	for _, e := range x.around.list() {
		_, p := corners(e.c)
		cost[e.c], cost[p] = max(dearer(cost[e.c]), least), max(dearer(cost[p]), least)
	}
}

// dearer is the key of about 1.4 times the cost. Keys beyond all costs stay.
func dearer(k uint16) uint16 {
	return uint16(min(uint32(k)+1<<7, uint32(max(k, infinite-1))))
}

func (s *Simplifier) result(target int, stop StopReason) Result {
	r := Result{
		Triangles: s.triangles, Source: len(s.in.Indices) / 3, Target: target,
		Error: max(s.stats.maxCost, s.stats.least), Stop: stop,
		Pruned: s.stats.pruned, Relaxed: s.stats.relaxed, Sloppy: s.stats.sloppy,
	}
	if !s.opt.NoRefine && s.triangles > 0 {
		if s.stats.fitted != s.triangles {
			near := newFinder(s)
			s.fit(near)
			s.stats.fitted = s.triangles
			s.stats.worst, s.stats.rms = s.distances(near)
		}
		r.Creases = s.crease.count()
		r.Error, r.MeanError = max(s.stats.worst, s.stats.least), s.stats.rms
	}
	if s.diag > 0 {
		r.RelativeError = r.Error / s.diag
	}
	return r
}

// reweight raises the weight of attributes as the mesh gets coarser: squared
// distances grow faster with the triangles' size than attributes' deviations.
func (s *Simplifier) reweight() {
	if s.attributeCount == 0 || s.triangles*3 > s.scaled*2 {
		return
	}
	f := math.Sqrt(math.Sqrt(float64(s.scaled) / float64(max(s.triangles, 1))))
	f = 1 + float64(attributeGrowth*(f-1))
	s.scaled = s.triangles
	f2 := float32(f * f)
	s.gain = float64(s.gain * float64(f2))
	for i := range s.vertices {
		if s.vertices[i].first == none {
			continue
		}
		s.vertices[i].sum.scaleFrom(&s.geo[i], f2)
	}
}

// attributeGrowth is the power of the edge length that weights follow.
const attributeGrowth = 1.3

// scaleFrom replaces q by g + s (q - g).
func (q *quadric32) scaleFrom(g *quadric32, s float32) {
	q.axx = g.axx + float32(s*(q.axx-g.axx))
	q.ayy = g.ayy + float32(s*(q.ayy-g.ayy))
	q.azz = g.azz + float32(s*(q.azz-g.azz))
	q.axy = g.axy + float32(s*(q.axy-g.axy))
	q.axz = g.axz + float32(s*(q.axz-g.axz))
	q.ayz = g.ayz + float32(s*(q.ayz-g.ayz))
	q.bx = g.bx + float32(s*(q.bx-g.bx))
	q.by = g.by + float32(s*(q.by-g.by))
	q.bz = g.bz + float32(s*(q.bz-g.bz))
	q.c = g.c + float32(s*(q.c-g.c))
}
