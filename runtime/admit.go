package runtime

// Which levels memory admits. Below the high-water mark that is
// all of them, but for what was evicted a moment ago. At the mark only tiles of
// which nothing is drawn load any, and those that give up something dearer for
// it.

// admit returns the level that a tile which wants rep may load, RepNone when
// memory forbids.
func (b *geometryBudget) admit(r *record, rep Rep) Rep {
	if r.rep(rep).held(b.now) {
		return RepNone
	}
	if !r.bare() {
		if b.fitsInstead(r.scene, r.tile, r, rep) || r.surplus() && rep == r.scene.floorRep(r.tile) && b.fitsBudget(r, rep) {
			return rep
		}
		b.refused = true
		return RepNone
	}
	if r.heldBack() || r.share == shareNone {
		return RepNone
	}
	if b.fits(r, rep) {
		return rep
	}
	if floor := r.scene.floorRep(r.tile); floor != RepFull && b.cfg.Handoff == HandoffCovered && rep != floor && (r.holds(floor) || b.retryable(r.rep(floor))) {
		rep = floor
	}
	if !r.holds(rep) && b.fitsBudget(r, rep) {
		return rep
	}
	b.refused = true
	return RepNone
}

// admitFull reports whether there is room for a full tile; r is nil for an idle
// one. One may always load, and what streams mesh by mesh takes none before its
// meshes do.
func (b *geometryBudget) admitFull(sc *scene, tile int32, r *record) bool {
	if b.fitsInstead(sc, tile, r, RepFull) || b.geometryBytes+b.pending == 0 || sc.ownsMeshes(tile, r) {
		return true
	}
	b.refused = true
	return false
}

// mayReturn reports whether the full representation of a tile of which something
// was evicted may be loaded: there is room for it below the high-water mark, with
// that of the levels that it replaces.
func (b *geometryBudget) mayReturn(r *record) bool {
	return !b.relieving && !r.heldBack() && b.fitsInstead(r.scene, r.tile, r, RepFull)
}

// fits reports whether a representation would stay below the high-water mark,
// beside those on their way.
func (b *geometryBudget) fits(r *record, rep Rep) bool {
	budget := float64(b.memory.GeometryBudget)
	return budget <= 0 || b.teaches() || float64(b.used()+b.pending)+b.expect(r.scene, r.tile, rep) < b.cfg.HighWaterMark*budget
}

// fitsInstead is the same for what takes the place of what the tile has: that
// goes as soon as the other is there, and until then the whole of the budget is
// the limit. r is nil for an idle tile.
func (b *geometryBudget) fitsInstead(sc *scene, tile int32, r *record, rep Rep) bool {
	budget := float64(b.memory.GeometryBudget)
	if budget <= 0 || b.teaches() {
		return true
	}
	own := int64(0)
	if r != nil {
		for i := range r.reps {
			own += r.reps[i].geometry
		}
	}
	with := float64(b.used()+b.pending) + b.expect(sc, tile, rep)
	return with <= budget && with-float64(own) < b.cfg.HighWaterMark*budget
}

// fitsBudget is the same for the whole of the budget.
func (b *geometryBudget) fitsBudget(r *record, rep Rep) bool {
	budget := float64(b.memory.GeometryBudget)
	return budget <= 0 || b.teaches() || float64(b.used()+b.pending)+b.expect(r.scene, r.tile, rep) <= budget
}

// sumPending counts the geometry that is on its way.
func (b *geometryBudget) sumPending(loads []*load) {
	b.pending = 0
	for _, f := range loads {
		if r := f.record(); r != nil && !f.orphan && !f.reread && f.phase != phaseParts {
			b.pending += b.expected(r, f.request.Key.Rep)
		}
	}
}

// expected returns what a load will bring to the Device at once: nothing of a
// tile whose meshes follow one by one.
func (b *geometryBudget) expected(r *record, rep Rep) int64 {
	if rep == RepFull && r.scene.ownsMeshes(r.tile, r) {
		return 0
	}
	return int64(b.expect(r.scene, r.tile, rep))
}

// expect is cost, but takes estimates of a manifest at their word before the
// first load: else the first wave would be admitted as if it took nothing.
func (b *geometryBudget) expect(sc *scene, tile int32, rep Rep) float64 {
	if !b.taught && rep == RepFull && sc.tiles.has(tile, flagEstimated) && sc.tiles.payloadOf(tile, rep).gpu == 0 {
		return min(maxCost, float64(sc.tiles.memory[tile]))
	}
	return b.cost(sc, tile, rep)
}

// teaches reports whether the next load will be the first to tell what
// estimates are worth: it is admitted whatever they say.
func (b *geometryBudget) teaches() bool {
	return !b.taught && b.used()+b.pending == 0
}
