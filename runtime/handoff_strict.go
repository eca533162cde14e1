package runtime

import "github.com/untoldkit/untold/runtime/payload"

// planStrict is the literal rule of the reference engine's documents: first
// the HLOD pass, then the LOD pass, both judging the full tile as it was at
// the start of the tick. All transitions wait for the dwell, but for those
// after a full tile took over.
func (h *handoff) planStrict(r *record) {
	if r.parsedAtStart {
		r.target, r.wanted = payload.RepNone, payload.RepFull
		for i := 1; i < len(r.reps); i++ {
			h.residency.drop(r, payload.Rep(i+1))
		}
		return
	}
	hlod := h.strictHLOD(r)
	level := h.strictLOD(r, hlod)
	if hlod {
		level = payload.RepHLOD
	}
	r.target = level
	r.wanted = r.wantedAt(level)
}

// strictHLOD loads and drops the HLOD; it reports whether the tile has one or
// wants one.
func (h *handoff) strictHLOD(r *record) bool {
	from, ok := r.scene.tiles.hlod(r.tile)
	if !ok {
		return false
	}
	st, dwelt := r.rep(payload.RepHLOD), r.dwelt(payload.RepHLOD)
	switch d := r.actual; {
	case d >= from:
		if dwelt && h.retryable(st) {
			h.selector.propose(r.scene, r.tile, r, payload.RepHLOD, d)
		}
		return true
	case d < from*h.cfg.HLODHysteresisFactor && r.holds(payload.RepHLOD):
		if dwelt {
			h.residency.drop(r, payload.RepHLOD)
		}
	}
	return r.holds(payload.RepHLOD)
}

// strictLOD loads the level of the distance and drops the others at once. It
// returns the level, RepNone when there is none or the HLOD has the tile.
func (h *handoff) strictLOD(r *record, hlod bool) payload.Rep {
	dwelt := r.dwelt(payload.RepLOD0)
	level := payload.RepNone
	if !hlod {
		level = r.scene.levelAt(r.tile, r, r.actual)
	}
	if level != payload.RepNone && dwelt && h.retryable(r.rep(level)) {
		h.selector.propose(r.scene, r.tile, r, level, r.actual)
	}
	for i := 2; i < len(r.reps); i++ {
		if rep := payload.Rep(i + 1); rep != level && dwelt && r.holds(rep) {
			h.residency.drop(r, rep)
		}
	}
	return level
}
