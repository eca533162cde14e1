package runtime

// selector owns which representations are loaded next: the candidates of a tick,
// their order, and the slots that they get.
//
// It promises a strict total order, so that no two runs differ; that what is
// shut out by a gate, by the tile's share of the memory or by the memory itself
// starts nothing; and that with more tiles near the camera than a tick looks at,
// all of them are looked at in turn.
type selector struct {
	*env
	loads     *loadQueue
	budget    *geometryBudget
	residency *residency

	candidates [classes][]candidate
	best       []candidate
	shortlist  [classes][]waiting
	window     int           // scanWindow
	waits      [classes]bool // whether the last look has left candidates over
	scanning   bool          // a window of scanIdle is followed by another
	windowed   bool          // not all idle tiles were looked at in this tick
	windows    int           // that hold all idle tiles of a scene, as of the last look
	fruitless  int           // looks in a row from where the camera is after which nothing was on its way
	lookedFrom Camera        // of the last tick that looked for what could be loaded, levels included

	fullBacklog, levelBacklog int // candidates that found no slot; of LODs and HLODs as of the last tick with a free slot for one

	count selectorCounters
}

// selectorCounters are tiles that a gate kept out in the last look.
type selectorCounters struct {
	skippedByHierarchy, skippedByFrustum, skippedByFloor, skippedByInterior int
}

// addTo adds the counters up.
func (c *selectorCounters) addTo(st *Stats) {
	st.TilesSkippedByHierarchy, st.TilesSkippedByFrustum, st.TilesSkippedByFloor, st.TilesSkippedByInterior =
		c.skippedByHierarchy, c.skippedByFrustum, c.skippedByFloor, c.skippedByInterior
}

// begin forgets the candidates of the last tick.
func (sel *selector) begin() {
	for c := range sel.candidates {
		sel.candidates[c] = sel.candidates[c][:0]
	}
	sel.windowed = false
}

// candidateCount returns how many candidates there are.
func (sel *selector) candidateCount() int {
	n := 0
	for c := range sel.candidates {
		n += len(sel.candidates[c])
	}
	return n
}

// slotForWaiting reports whether a tick between two intervals has to look for
// what could be loaded: something waits, and there is a slot for it.
func (sel *selector) slotForWaiting() bool {
	for c := range sel.waits {
		if sel.waits[c] && sel.loads.freeSlots(class(c)) > 0 {
			return true
		}
	}
	return sel.scanning && sel.levelSlot()
}

// levelSlot reports whether a level could start.
func (sel *selector) levelSlot() bool {
	return sel.loads.freeSlots(classLOD) > 0 || sel.loads.freeSlots(classHLOD) > 0
}

// startLook begins the part of a tick that looks for what could be loaded;
// levels is whether it looks at those of idle tiles.
func (sel *selector) startLook(levels bool) {
	sel.fullBacklog = 0
	if levels {
		sel.scanning, sel.waits, sel.windows = false, [classes]bool{}, 0
		if sel.lookedFrom != sel.camera {
			sel.lookedFrom, sel.fruitless = sel.camera, 0
		}
	}
	c := &sel.count
	c.skippedByHierarchy, c.skippedByFrustum, c.skippedByFloor, c.skippedByInterior = 0, 0, 0, 0
}
