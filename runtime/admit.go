package runtime

// Which levels memory admits. Below the high-water mark that is
// all of them, but for what was evicted a moment ago. At the mark only tiles of
// which nothing is drawn load any, and those that give up something dearer for
// it.

// admit returns the level that a tile which wants rep may load, RepNone when
// memory forbids.
func (s *Streamer) admit(r *record, rep Rep) Rep {
	if r.rep(rep).held(s.now) {
		return RepNone
	}
	if !r.bare() {
		if s.fitsInstead(r.scene, r.tile, r, rep) || r.surplus() && rep == r.scene.floorRep(r.tile) && s.fitsBudget(r, rep) {
			return rep
		}
		s.refused = true
		return RepNone
	}
	if r.heldBack() || r.share == shareNone {
		return RepNone
	}
	if s.fits(r, rep) {
		return rep
	}
	if floor := r.scene.floorRep(r.tile); floor != RepFull && s.cfg.Handoff == HandoffCovered && rep != floor && (r.holds(floor) || s.retryable(r.rep(floor))) {
		rep = floor
	}
	if !r.holds(rep) && s.fitsBudget(r, rep) {
		return rep
	}
	s.refused = true
	return RepNone
}

// admitFull reports whether there is room for a full tile; r is nil for an idle
// one. One may always load, and what streams mesh by mesh takes none before its
// meshes do.
func (s *Streamer) admitFull(sc *scene, tile int32, r *record) bool {
	if s.fitsInstead(sc, tile, r, RepFull) || s.stats.GeometryBytes+s.pending == 0 || sc.ownsMeshes(tile, r) {
		return true
	}
	s.refused = true
	return false
}

// mayReturn reports whether the full representation of a tile of which something
// was evicted may be loaded: there is room for it below the high-water mark, with
// that of the levels that it replaces.
func (s *Streamer) mayReturn(r *record) bool {
	return !s.relieving && !r.heldBack() && s.fitsInstead(r.scene, r.tile, r, RepFull)
}

// fits reports whether a representation would stay below the high-water mark,
// beside those on their way.
func (s *Streamer) fits(r *record, rep Rep) bool {
	budget := float64(s.memory.GeometryBudget)
	return budget <= 0 || s.teaches() || float64(s.geometryUsed()+s.pending)+s.expect(r.scene, r.tile, rep) < s.cfg.HighWaterMark*budget
}

// fitsInstead is the same for what takes the place of what the tile has: that
// goes as soon as the other is there, and until then the whole of the budget is
// the limit. r is nil for an idle tile.
func (s *Streamer) fitsInstead(sc *scene, tile int32, r *record, rep Rep) bool {
	budget := float64(s.memory.GeometryBudget)
	if budget <= 0 || s.teaches() {
		return true
	}
	own := int64(0)
	if r != nil {
		for i := range r.reps {
			own += r.reps[i].geometry
		}
	}
	with := float64(s.geometryUsed()+s.pending) + s.expect(sc, tile, rep)
	return with <= budget && with-float64(own) < s.cfg.HighWaterMark*budget
}

// fitsBudget is the same for the whole of the budget.
func (s *Streamer) fitsBudget(r *record, rep Rep) bool {
	budget := float64(s.memory.GeometryBudget)
	return budget <= 0 || s.teaches() || float64(s.geometryUsed()+s.pending)+s.expect(r.scene, r.tile, rep) <= budget
}

// sumPending counts the geometry that is on its way.
func (s *Streamer) sumPending() {
	s.pending = 0
	for _, f := range s.loads.list {
		if r := f.record(); r != nil && !f.orphan && !f.reread && f.phase != phaseParts {
			s.pending += s.expected(r, f.request.Key.Rep)
		}
	}
}

// expected returns what a load will bring to the Device at once: nothing of a
// tile whose meshes follow one by one.
func (s *Streamer) expected(r *record, rep Rep) int64 {
	if rep == RepFull && r.scene.ownsMeshes(r.tile, r) {
		return 0
	}
	return int64(s.expect(r.scene, r.tile, rep))
}

// expect is cost, but takes estimates of a manifest at their word before the
// first load: else the first wave would be admitted as if it took nothing.
func (s *Streamer) expect(sc *scene, tile int32, rep Rep) float64 {
	if !s.taught && rep == RepFull && sc.tiles.has(tile, flagEstimated) && sc.tiles.payloadOf(tile, rep).gpu == 0 {
		return min(maxCost, float64(sc.tiles.memory[tile]))
	}
	return s.cost(sc, tile, rep)
}

// teaches reports whether the next load will be the first to tell what
// estimates are worth: it is admitted whatever they say.
func (s *Streamer) teaches() bool {
	return !s.taught && s.geometryUsed()+s.pending == 0
}
