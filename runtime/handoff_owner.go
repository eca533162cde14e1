package runtime

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
