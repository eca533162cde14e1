package runtime

import (
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// planLevels plans the LODs and HLODs of the tiles near the camera that have a
// record.
func (h *handoff) planLevels(sc *scene) {
	for _, tile := range sc.nearActive {
		h.planTile(sc.recordOf(tile))
	}
	for _, tile := range sc.woken[sc.listed:] {
		h.planTile(sc.recordOf(tile))
	}
}

func (h *handoff) planTile(r *record) {
	switch {
	case !r.near:
	case h.cfg.Handoff == config.HandoffStrict:
		h.planStrict(r)
	default:
		h.plan(r)
	}
}

// plan decides what a tile shows besides its full representation, under the
// covered hand-off: nothing that is drawn goes before its successor is there.
func (h *handoff) plan(r *record) {
	full := r.full()
	d := r.actual
	if full.resident() && !r.inGrace && (!full.split || full.drawable) {
		r.target, r.wanted = payload.RepNone, payload.RepFull
		if h.ready(full) {
			for i := 1; i < len(r.reps); i++ {
				h.replace(r, payload.Rep(i+1))
			}
		}
		return
	}
	if len(r.reps) == 2 && !r.scene.tiles.has(r.tile, flagHLOD) {
		r.wanted = r.wantedAt(payload.RepNone)
		return
	}
	next := h.grantedLevel(r)
	if next == payload.RepNone && r.grant != grantNothing && (r.nothingDrawn() || r.partial()) {
		next = r.scene.fallbackLevel(r.tile, d)
	}
	r.wanted = r.wantedAt(next)
	if next == payload.RepNone {
		// What is drawn stays; what comes is of no use unless nothing is there.
		if !r.nothingDrawn() {
			h.cancelLevels(r, payload.RepNone)
		}
		return
	}
	st := r.rep(next)
	if h.ready(st) && r.flips(next) {
		return
	}
	r.target = next
	switch {
	case h.ready(st):
		h.dropLevels(r, next)
	case st.resident():
	default:
		if !r.nothingDrawn() {
			h.cancelLevels(r, next)
		}
		h.requestLevel(r, r.scene.outlineOf(r.tile, r, next))
	}
}

// grantedLevel returns the level that a tile should show within its grant. Where what
// it shows leaves no room for one that takes less, the cheapest comes in between.
func (h *handoff) grantedLevel(r *record) payload.Rep {
	next := r.scene.grantedLevelAt(r.tile, r, r.actual)
	if next == payload.RepNone || !r.canDowngrade() || !isFiner(r.drawn, next) || r.holds(next) || h.budget.fitsBeside(r, next) {
		return next
	}
	return r.scene.cheapestRep(r.tile)
}

// flips reports whether a tile would draw another of its LODs before the one
// that it draws has dwelt: while both are resident nothing else keeps them from
// taking turns.
func (r *record) flips(next payload.Rep) bool {
	return r.drawn >= payload.RepLOD0 && next >= payload.RepLOD0 && next != r.drawn && r.drawn == r.target &&
		r.scene.ready(r.rep(r.drawn)) && r.scene.now-r.drawnAt < r.scene.dwell
}

// dropLevels unloads every level but keep, each class when it has dwelt long
// enough, and cancels what is on its way.
func (h *handoff) dropLevels(r *record, keep payload.Rep) {
	hlod, lod := r.dwelt(payload.RepHLOD), r.dwelt(payload.RepLOD0)
	for i := 1; i < len(r.reps); i++ {
		rep := payload.Rep(i + 1)
		if rep == keep {
			continue
		}
		if r.reps[i].loading() || rep == payload.RepHLOD && hlod || rep != payload.RepHLOD && lod {
			h.replace(r, rep)
		}
	}
}

// cancelLevels cancels the levels on their way, but not keep.
func (h *handoff) cancelLevels(r *record, keep payload.Rep) {
	for i := 1; i < len(r.reps); i++ {
		if rep := payload.Rep(i + 1); rep != keep && r.reps[i].loading() {
			h.residency.cancel(r, rep)
		}
	}
}

// requestLevel proposes a level for loading. While it backs off and nothing is
// drawn, the nearest coarser level takes its place, else any.
func (h *handoff) requestLevel(r *record, rep payload.Rep) {
	if r.rep(rep).loading() {
		return
	}
	if !h.retryable(r.rep(rep)) {
		if !r.nothingDrawn() {
			return
		}
		if rep = r.alternativeTo(rep); rep == payload.RepNone {
			return
		}
	}
	if !r.dwelt(rep) && !r.nothingDrawn() {
		return
	}
	h.selector.propose(r.scene, r.tile, r, rep, r.actual)
}
