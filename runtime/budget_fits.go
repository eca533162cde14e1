package runtime

import (
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// limit is how much of the geometry budget a representation may use up.
type limit uint8

const (
	// limitMark is the high-water mark.
	limitMark limit = iota
	// limitSwap is the high-water mark once the representations that the tile has
	// now are gone, and until then the whole budget.
	limitSwap
	// limitBudget is the whole budget.
	limitBudget
	// limitReserve is the whole budget but for the room that an exchange needs: with
	// none, nothing could give way to something cheaper any more.
	limitReserve
	// limitRelief is what the tile has now, where the budget is exceeded or that is
	// more than half of it.
	limitRelief
)

// fits reports whether there is room for a representation beside what is used
// and on its way. r is nil for an idle tile. Without a budget everything fits,
// and so does the load that will be the first to tell what estimates are worth.
func (b *geometryBudget) fits(sc *scene, tile int32, r *record, rep payload.Rep, within limit) bool {
	budget := float64(b.memory.GeometryBudget)
	if first := !b.taught && b.used()+b.pending == 0; budget <= 0 || first {
		return true
	}
	with := float64(b.used()+b.pending) + b.expect(sc, tile, rep)
	freed := int64(0)
	if r != nil {
		for i := range r.reps {
			freed += r.reps[i].geometry
		}
	}
	switch within {
	case limitMark:
		return with < b.cfg.HighWaterMark*budget
	case limitSwap:
		return with <= budget && with-float64(freed) < b.cfg.HighWaterMark*budget
	case limitReserve:
		return with+b.split.reserve <= budget
	case limitRelief:
		return (float64(b.used()) > budget || float64(2*freed) > budget) && with-float64(freed) < float64(b.used()+b.pending)
	}
	return with <= budget
}

// fitsBeside reports whether there is room for a level beside what gives way to it.
// Where that has come although it is too large, as the first one may, all that is
// cheaper may come.
func (b *geometryBudget) fitsBeside(r *record, rep payload.Rep) bool {
	return b.fits(r.scene, r.tile, r, rep, limitBudget) || b.fits(r.scene, r.tile, r, rep, limitRelief)
}

// mayLoadLevel returns the level that a tile which wants rep may load, RepNone
// when memory forbids. Below the high-water mark that is every level, but for
// what was evicted a moment ago. At the mark a tile that draws something may
// only exchange it for something cheaper, and one that draws nothing gets its
// cheapest level as long as the budget holds it.
func (b *geometryBudget) mayLoadLevel(r *record, rep payload.Rep) payload.Rep {
	sc, tile := r.scene, r.tile
	if r.rep(rep).inEvictionHold(b.now) {
		return payload.RepNone
	}
	if !r.nothingDrawn() {
		down := r.canDowngrade() && (rep == sc.cheapestRep(tile) || isFiner(r.drawn, rep))
		if b.fits(sc, tile, r, rep, limitSwap) || down && b.fitsBeside(r, rep) {
			return rep
		}
		b.refused = true
		return payload.RepNone
	}
	if r.inEvictionHold() || r.grant == grantNothing {
		return payload.RepNone
	}
	if b.fits(sc, tile, r, rep, limitMark) {
		return rep
	}
	cheapest := sc.cheapestRep(tile)
	if cheapest != payload.RepFull && b.cfg.Handoff == config.HandoffCovered && rep != cheapest && (r.holds(cheapest) || b.retryable(r.rep(cheapest))) {
		rep = cheapest
	}
	if !r.holds(rep) && b.fits(sc, tile, r, rep, limitReserve) {
		return rep
	}
	b.refused = true
	return payload.RepNone
}

// mayLoadFull reports whether there is room for a full tile; r is nil for an
// idle one. One may always load, and what streams mesh by mesh takes none before
// its meshes do.
func (b *geometryBudget) mayLoadFull(sc *scene, tile int32, r *record) bool {
	if b.fits(sc, tile, r, payload.RepFull, limitSwap) || b.geometryBytes+b.pending == 0 || sc.ownsMeshes(tile, r) {
		return true
	}
	b.refused = true
	return false
}

// mayReturn reports whether the full representation of a tile may be loaded of
// which something was evicted.
func (b *geometryBudget) mayReturn(r *record) bool {
	return !b.evicting && !r.inEvictionHold() && b.fits(r.scene, r.tile, r, payload.RepFull, limitSwap)
}
