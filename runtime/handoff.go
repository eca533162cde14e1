package runtime

import "github.com/untoldkit/untold/runtime/payload"

// handoff owns which single representation of a tile is drawn: what the tile
// should show at its distance, when one representation may follow another, and
// when what is out of range goes.
//
// Under the covered hand-off it promises that what is drawn stays until its
// successor can be drawn; the strict one follows the literal rule of the
// reference engine's documents. Either way exactly one representation of a tile
// is drawn, or two while they fade.
type handoff struct {
	*eventLog
	budget    *geometryBudget
	residency *residency
	selector  *selector
	leavers   []leaver
	count     handoffCounters
}

// handoffCounters says what is drawn and what was late; Stats says what its
// fields mean.
type handoffCounters struct {
	visible                                                              [classes]int
	undrawn                                                              int
	waiting, gaps                                                        int // in the last tick
	unloadCandidates, processedUnloads                                   int // in the last tick
	changes, gapWarnings, lod0Warnings, lod0WithFallback, lod0NoFallback uint64
}

// begin starts the counters of a tick.
func (h *handoff) begin() { h.count.waiting, h.count.gaps = 0, 0 }

// addTo adds the counters up.
func (c *handoffCounters) addTo(st *Stats) {
	st.VisibleFull, st.VisibleHLOD, st.VisibleLOD = c.visible[classFull], c.visible[classHLOD], c.visible[classLOD]
	st.UndrawnTiles, st.WaitingFades, st.RepresentationGaps = c.undrawn, c.waiting, c.gaps
	st.UnloadCandidates += c.unloadCandidates
	st.ProcessedUnloads += c.processedUnloads
	st.RepresentationChanges, st.GapWarnings = c.changes, c.gapWarnings
	st.LOD0Warnings, st.LOD0WithFallback, st.LOD0NoFallback = c.lod0Warnings, c.lod0WithFallback, c.lod0NoFallback
}

// replace drops a level that something ready replaces. With fades, a level
// that is still drawn has to fade out first.
func (h *handoff) replace(r *record, rep payload.Rep) {
	if !h.cfg.EnableFadeTransitions || r.drawn != rep {
		h.residency.drop(r, rep)
	}
}

// drawnAfter is the rule of what a tile draws: the full representation, else
// the planned level, else what it draws already, else the finest level, else
// the HLOD. Only what is ready counts.
func (r *record) drawnAfter() payload.Rep {
	e := r.scene.env
	switch {
	case !r.retire && e.ready(r.full()):
		return payload.RepFull
	case r.target != payload.RepNone && e.ready(r.rep(r.target)):
		return r.target
	case r.drawn != payload.RepNone && e.ready(r.rep(r.drawn)):
		return r.drawn
	}
	for i := 2; i < len(r.reps); i++ {
		if e.ready(&r.reps[i]) {
			return payload.Rep(i + 1)
		}
	}
	switch {
	case e.ready(r.rep(payload.RepHLOD)):
		return payload.RepHLOD
	case e.ready(r.full()), r.full().split && r.shows(payload.RepFull):
		return payload.RepFull
	}
	return payload.RepNone
}
