package runtime

// Over a network what is loaded at the same time shares a bandwidth, so that a
// large tile keeps many small ones back: the outline of everything in view comes
// first, then detail. From a disk, where no one waits for another, both come at
// once.

// outlineOf returns the representation that is loaded in the place of next: the
// smallest one, while nothing of the tile is drawn. r is nil for an idle tile.
func (sc *scene) outlineOf(tile int32, r *record, next Rep) Rep {
	if next == RepNone || !sc.outlineFirst() || r != nil && (!r.nothingDrawn() || r.holds(next)) {
		return next
	}
	floor := sc.cheapestRep(tile)
	if floor == RepFull || r != nil && !r.rep(floor).loading() && !sc.retryable(r.rep(floor)) {
		return next
	}
	return floor
}

// awaitsOutline reports whether a full tile waits, since something smaller of it
// is on its way and nothing is drawn.
func (r *record) awaitsOutline() bool {
	if r == nil || !r.scene.outlineFirst() || !r.nothingDrawn() {
		return false
	}
	for i := 1; i < len(r.reps); i++ {
		if r.reps[i].loading() {
			return true
		}
	}
	return false
}

// outlining reports whether the first representation of a tile in view is on its
// way.
func (sel *selector) outlining() bool {
	if !sel.outlineFirst() {
		return false
	}
	for _, f := range sel.loads.list {
		if r := f.record(); r != nil && !f.orphan && f.request.Key.Rep != RepFull && r.nothingDrawn() && r.scene.view.sees(&r.scene.tiles.box[r.tile]) {
			return true
		}
	}
	return false
}
