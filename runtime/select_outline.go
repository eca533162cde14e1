package runtime

import "github.com/untoldkit/untold/runtime/payload"

// Downloads share a bandwidth, so a large tile delays many small ones. Over a
// network the outline of everything in view is therefore loaded first, then the
// detail. Reads from a disk do not wait for each other, and both come at once. Tiles in
// whose place a node of the pyramid is drawn have their outline already.

// bare reports whether nothing is drawn in the place of a tile, nor is a node about to be.
// r is nil for an idle one.
func (sc *scene) bare(tile int32, r *record) bool {
	return (r == nil || r.nothingDrawn()) && !sc.refinement.standsFor(tile) && !sc.awaitsNode(tile)
}

// outlineOf returns the representation to load in place of next: the cheapest
// one while nothing of the tile is drawn. r is nil for an idle tile.
func (sc *scene) outlineOf(tile int32, r *record, next payload.Rep) payload.Rep {
	if next == payload.RepNone || !sc.outlineFirst() || !sc.bare(tile, r) || r != nil && r.holds(next) {
		return next
	}
	cheapest := sc.cheapestRep(tile)
	if cheapest == payload.RepFull || r != nil && !r.rep(cheapest).loading() && !sc.retryable(r.rep(cheapest)) {
		return next
	}
	return cheapest
}

// awaitsOutline reports whether a full tile waits for its outline: nothing of
// it is drawn, and a level is on its way. r may be nil.
func (r *record) awaitsOutline() bool {
	if r == nil || !r.scene.outlineFirst() || !r.scene.bare(r.tile, r) {
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
		if r := f.record(); r != nil && !f.orphan && f.request.Key.Rep != payload.RepFull && r.scene.bare(r.tile, r) && r.scene.view.sees(&r.scene.tiles.box[r.tile]) {
			return true
		}
	}
	return false
}
