package runtime

// levelFor returns the level that distance d asks for, with the hysteresis of
// what is shown, or RepNone. r is nil for an idle tile.
func (sc *scene) levelFor(tile int32, r *record, d float64) Rep {
	if from, ok := sc.tiles.hlod(tile); ok {
		if d >= from || r != nil && r.holds(RepHLOD) && d >= from*sc.cfg.HLODHysteresisFactor {
			return RepHLOD
		}
	}
	lods := sc.tiles.lods(tile)
	shown := -1
	if r != nil {
		shown = r.shownLOD()
	}
	for i := len(lods) - 1; i >= 0; i-- {
		from := lods[i].from
		if i == shown {
			from *= sc.cfg.LODHysteresisFactor
		}
		if d >= from {
			return LOD(i)
		}
	}
	return RepNone
}

// bare reports whether nothing of a tile is drawn, and nothing could be.
func (r *record) bare() bool {
	if r.drawn != RepNone {
		return false
	}
	for i := range r.reps {
		if r.scene.ready(&r.reps[i]) {
			return false
		}
	}
	return true
}

// partial reports whether a tile draws the few meshes of it that have come in,
// for want of anything else.
func (r *record) partial() bool {
	return r.drawn == RepFull && r.full().split && !r.full().drawable
}

// holds reports whether a representation is resident or on its way.
func (r *record) holds(rep Rep) bool {
	st := r.rep(rep)
	return st.resident() || st.loading()
}

// shownLOD returns the LOD level that has the hysteresis: the planned one, or
// the finest that is there; -1 without.
func (r *record) shownLOD() int {
	if i, ok := r.target.Level(); ok && r.holds(r.target) {
		return i
	}
	for i := 2; i < len(r.reps); i++ {
		if r.holds(Rep(i + 1)) {
			return i - 2
		}
	}
	return -1
}

// planIdle plans the levels of a tile without a record.
func (sel *selector) planIdle(sc *scene, tile int32) {
	t := sc.tiles
	d, effective := sc.measureIdle(tile, sel.cfg.DispatchEpsilon)
	rep := RepNone
	if t.levelAt[tile] != t.levelAt[tile+1] && d <= sel.cfg.MaxQueryRadius {
		rep = sc.goal(tile, nil, d)
		if rep == RepNone && sel.budget.split.grant(d, shareNone) == shareAll && sel.cfg.Handoff == HandoffCovered {
			rep = sc.stopgap(tile, d)
		}
	}
	if rep != RepNone {
		sel.propose(sc, tile, nil, sc.outlineOf(tile, nil, rep), d)
	} else if sc.quietIdle(tile, effective, rep) {
		sc.rest(tile, d, effective)
	}
}

// plan decides what a tile shows besides its full representation, under the
// covered hand-off: nothing that is drawn goes before its successor is there.
func (h *handoff) plan(r *record) {
	full := r.full()
	d := r.actual
	if full.resident() && !r.inGrace && (!full.split || full.drawable) {
		r.target, r.wanted = RepNone, RepFull
		if h.ready(full) {
			for i := 1; i < len(r.reps); i++ {
				h.succeed(r, Rep(i+1))
			}
		}
		return
	}
	if len(r.reps) == 2 && !r.scene.tiles.has(r.tile, flagHLOD) {
		r.wanted = r.wantedAt(RepNone)
		return
	}
	next := r.scene.goal(r.tile, r, d)
	if next == RepNone && r.share != shareNone && (r.bare() || r.partial()) {
		next = r.scene.stopgap(r.tile, d)
	}
	r.wanted = r.wantedAt(next)
	if next == RepNone {
		// What is drawn stays; what comes is of no use unless nothing is there.
		if !r.bare() {
			h.cancelLevels(r, RepNone)
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
		if !r.bare() {
			h.cancelLevels(r, next)
		}
		h.requestLevel(r, r.scene.outlineOf(r.tile, r, next))
	}
}

// flips reports whether a tile would draw another of its LODs before the one
// that it draws has dwelt: while both are resident nothing else keeps them from
// taking turns.
func (r *record) flips(next Rep) bool {
	return r.drawn >= RepLOD0 && next >= RepLOD0 && next != r.drawn && r.drawn == r.target &&
		r.scene.ready(r.rep(r.drawn)) && r.scene.now-r.drawnAt < r.scene.dwell
}

// wantedAt names what a tile should show: the full representation within the
// streaming radius, else the level of the distance, else the full one up to the
// unload radius.
func (r *record) wantedAt(level Rep) Rep {
	rd := &r.scene.tiles.radius[r.tile]
	switch {
	case r.actual <= rd.stream && !r.scene.closedOff(r.tile):
		return RepFull
	case level != RepNone:
		return level
	case r.actual <= rd.unload && !r.scene.closedOff(r.tile):
		return RepFull
	}
	return RepNone
}

// stopgap returns the level to show where the full representation is wanted
// but absent, and no level is meant for so near a distance: the finest.
func (sc *scene) stopgap(tile int32, d float64) Rep {
	switch {
	case d > sc.tiles.radius[tile].unload || sc.closedOff(tile):
	case len(sc.tiles.lods(tile)) > 0:
		return RepLOD0
	case sc.tiles.has(tile, flagHLOD) && sc.outlineFirst():
		return RepHLOD
	}
	return RepNone
}

// dropLevels unloads every level but keep, each class when it has dwelt long
// enough, and cancels what is on its way.
func (h *handoff) dropLevels(r *record, keep Rep) {
	hlod, lod := r.dwelt(RepHLOD), r.dwelt(RepLOD0)
	for i := 1; i < len(r.reps); i++ {
		rep := Rep(i + 1)
		if rep == keep {
			continue
		}
		if r.reps[i].loading() || rep == RepHLOD && hlod || rep != RepHLOD && lod {
			h.succeed(r, rep)
		}
	}
}

// cancelLevels cancels the levels on their way, but not keep.
func (h *handoff) cancelLevels(r *record, keep Rep) {
	for i := 1; i < len(r.reps); i++ {
		if rep := Rep(i + 1); rep != keep && r.reps[i].loading() {
			h.residency.cancel(r, rep)
		}
	}
}

// requestLevel proposes a level for loading. While it backs off and nothing is
// drawn, the nearest coarser level takes its place, else any.
func (h *handoff) requestLevel(r *record, rep Rep) {
	if r.rep(rep).loading() {
		return
	}
	if !h.retryable(r.rep(rep)) {
		if !r.bare() {
			return
		}
		if rep = r.substitute(rep); rep == RepNone {
			return
		}
	}
	if !r.dwelt(rep) && !r.bare() {
		return
	}
	h.selector.propose(r.scene, r.tile, r, rep, r.actual)
}

// substitute returns another level to load in place of one that failed;
// RepNone when one is on its way or there is none.
func (r *record) substitute(failed Rep) Rep {
	best, bestRank := RepNone, 0
	for i := 1; i < len(r.reps); i++ {
		rep := Rep(i + 1)
		if rep == RepHLOD && !r.scene.tiles.has(r.tile, flagHLOD) || rep == failed {
			continue
		}
		st := &r.reps[i]
		if st.loading() || st.resident() {
			return RepNone
		}
		if !r.scene.retryable(st) {
			continue
		}
		// Coarser levels in order, then the HLOD, then finer ones.
		rank := int(rep)
		switch {
		case rep == RepHLOD:
			rank = 1 << 9
		case rep < failed:
			rank = 1<<10 - int(rep)
		}
		if best == RepNone || rank < bestRank {
			best, bestRank = rep, rank
		}
	}
	return best
}

// planLevels plans the LODs and HLODs of the tiles near the camera that have a
// record.
func (h *handoff) planLevels(sc *scene) {
	for _, tile := range sc.hot {
		h.planTile(sc.recordOf(tile))
	}
	for _, tile := range sc.fresh[sc.warmed:] {
		h.planTile(sc.recordOf(tile))
	}
}

func (h *handoff) planTile(r *record) {
	switch {
	case !r.near:
	case h.cfg.Handoff == HandoffStrict:
		h.planStrict(r)
	default:
		h.plan(r)
	}
}
