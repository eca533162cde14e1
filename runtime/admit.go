package runtime

// Which levels memory admits (DECISIONS R12). Below the high-water mark that is
// all of them, but for what was evicted: it does not come back into the very
// space that it has freed. At the mark, and for a tile whose representation was
// evicted, only tiles of which nothing is drawn load any.

// admit returns the level that a tile which wants rep may load, RepNone when
// memory forbids. spared is set when it is to stay although memory is short.
func (s *Streamer) admit(r *record, rep Rep) (level Rep, spared bool) {
	if !s.geometryHigh() && !r.evicted && r.rep(rep).freed == 0 {
		return rep, false
	}
	if !s.bare(r) {
		if s.geometryHigh() || !s.fits(r, rep) || r.evicted && !s.mayReturn(r, rep) {
			return RepNone, false
		}
		return rep, false
	}
	inRange := r.actual <= r.scene.tiles.radius[r.tile].unload
	if !r.evicted {
		if !inRange && s.beyondHorizon(r.actual) {
			return RepNone, false
		}
		return rep, inRange
	}
	if s.now-r.evictedAt < evictionHold {
		s.noteWaiting(r.actual, true)
		return RepNone, false
	}
	beyond := s.beyondHorizon(r.actual)
	if !beyond && s.mayReturn(r, rep) {
		return rep, false
	}
	if s.cfg.Handoff == HandoffCovered {
		rep = s.cheapest(r, rep)
	}
	switch {
	case r.holds(rep) || !s.retryable(r.rep(rep)):
	case !beyond && s.mayReturn(r, rep):
		return rep, false
	case inRange && s.fitsBudget(r, rep):
		return rep, true
	default:
		s.noteHole(r, rep)
		s.noteWaiting(r.actual, false)
	}
	return RepNone, false
}

// horizon is the distance of the nearest tile that waits for memory: what lies
// farther away does not get ahead of it, or everything would be loaded and
// evicted in turn.
type horizon struct {
	distance float64
	held     bool // it was evicted a moment ago
}

// noteWaiting collects the horizon of the next tick.
func (s *Streamer) noteWaiting(distance float64, held bool) {
	if distance < s.nextHorizon.distance {
		s.nextHorizon = horizon{distance, held}
	}
}

// beyondHorizon reports whether a tile of which nothing is drawn has to wait for
// a nearer one. Below the low-water mark there is room for both.
func (s *Streamer) beyondHorizon(distance float64) bool {
	return distance > s.horizon.distance*swapLead &&
		(s.horizon.held || float64(s.geometryUsed()+s.returning) > s.cfg.LowWaterMark*float64(s.memory.GeometryBudget))
}

// stillAdmitted judges a candidate again when its turn has come: others may
// have taken the room.
func (s *Streamer) stillAdmitted(c *candidate) bool {
	r := c.scene.recordOf(c.tile)
	if r == nil || !r.evicted {
		return true
	}
	if c.spared {
		return s.fitsBudget(r, c.rep)
	}
	return s.mayReturn(r, c.rep)
}

// mayReturn reports whether a representation of a tile that was evicted may be
// loaded: there is room for it below the high-water mark.
func (s *Streamer) mayReturn(r *record, rep Rep) bool {
	return !s.relieving && s.now-r.evictedAt >= evictionHold && s.fits(r, rep)
}

// fits reports whether a representation would stay below the high-water mark,
// beside those that return already.
func (s *Streamer) fits(r *record, rep Rep) bool {
	budget := s.memory.GeometryBudget
	return budget <= 0 || float64(s.geometryUsed())+float64(s.returning)+float64(r.expected(rep)) < s.cfg.HighWaterMark*float64(budget)
}

// fitsBudget is the same for the whole of the budget.
func (s *Streamer) fitsBudget(r *record, rep Rep) bool {
	budget := s.memory.GeometryBudget
	return budget <= 0 || float64(s.geometryUsed())+float64(s.returning)+float64(r.expected(rep)) <= float64(budget)
}

// expected returns how much geometry a representation will take, in bytes: what
// its eviction has freed, else the declared size of its file, else as much as
// the largest that was evicted from the tile.
func (r *record) expected(rep Rep) int64 {
	if freed := r.rep(rep).freed; freed > 0 {
		return freed
	}
	if size := r.scene.tiles.payloadOf(r.tile, rep).size; size > 0 {
		return size
	}
	largest := int64(0)
	for i := range r.reps {
		largest = max(largest, r.reps[i].freed)
	}
	return largest
}

// cheapest returns the level of a tile that takes the least geometry: the
// wanted one unless another takes less, of equal ones the coarsest.
func (s *Streamer) cheapest(r *record, wanted Rep) Rep {
	best, least := wanted, r.expected(wanted)
	try := func(rep Rep) {
		if n := r.expected(rep); n < least {
			best, least = rep, n
		}
	}
	if r.scene.tiles.has(r.tile, flagHLOD) {
		try(RepHLOD)
	}
	for i := len(r.reps) - 1; i >= 2; i-- {
		try(Rep(i + 1))
	}
	return best
}

// sumReturning counts what is on its way back after an eviction.
func (s *Streamer) sumReturning() {
	s.returning = 0
	for _, f := range s.flights {
		if f.orphan {
			continue
		}
		if r := f.record(); r != nil && r.evicted {
			s.returning += r.expected(f.request.Key.Rep)
		}
	}
}

// hole is a tile of which nothing is drawn for want of memory.
type hole struct {
	record *record
	rep    Rep // the level that would fill it
}

// swapLead is how much farther away something must be to make room for a hole,
// as a factor: else two tiles at one distance would take turns.
const swapLead = 1.1

// noteHole remembers the nearest hole of the tick.
func (s *Streamer) noteHole(r *record, rep Rep) {
	if s.hole.record == nil || r.actual < s.hole.record.actual {
		s.hole = hole{r, rep}
	}
}

// fillHole lets the nearest hole take the place of what lies farther away, at
// most once per updateInterval. Every exchange brings what is resident nearer,
// so there is an end to them while the camera stands still.
func (s *Streamer) fillHole() {
	h := s.hole
	s.hole = hole{}
	if h.record == nil || s.relieving || s.freeSlots(classOf(h.rep)) <= 0 || s.now-s.filledAt < s.updateInterval {
		return
	}
	s.filledAt = s.now
	s.listEvictees()
	room, n := int64(0), 0
	need := float64(s.geometryUsed()) + float64(s.returning) + float64(h.record.expected(h.rep))
	limit := s.cfg.HighWaterMark * float64(s.memory.GeometryBudget)
	for n < min(len(s.evictees), evictPerTick) && s.evictees[n].record.actual > h.record.actual*swapLead && need-float64(room) >= limit {
		e := s.evictees[n]
		room += e.record.rep(e.rep).geometry
		n++
	}
	if n > 0 && need-float64(room) < limit {
		for _, e := range s.evictees[:n] {
			s.evict(e)
		}
		s.startLoad(h.record, h.rep)
	}
	clear(s.evictees)
}
