package runtime

import "time"

// Swap-thrash audit: so many loads and unloads of one representation within the
// window are one too many.
const (
	swapWindow    = 5 * time.Second
	swapThreshold = 4
)

// makeResident books an uploaded representation.
func (rs *residency) makeResident(r *record, rep Rep, res *Result) {
	st := r.rep(rep)
	st.state, st.residentAt, st.fails, st.given = TileParsed, rs.now, 0, false
	if r.evicted != RepFull || rep == RepFull {
		r.evicted = RepNone
	}
	r.touch()
	rs.count.resident[classOf(rep)]++
	if st.split = rep == RepFull && r.meshes != nil; st.split {
		st.drawable = false // until enough of its meshes are
		r.scene.tiles.flags[r.tile] |= flagMeshes
		return
	}
	st.geometry, st.texture = max(0, res.GeometryBytes), max(0, res.TextureBytes)
	rs.budget.learn(r, rep, st.geometry)
	rs.budget.book(st.geometry, st.texture)
	st.drawable = rs.device.visibility == nil
	if !st.drawable {
		rs.awaited++
	}
}

// freeRep releases a resident representation.
func (rs *residency) free(r *record, rep Rep) {
	st := r.rep(rep)
	if st.split {
		rs.meshes.drop(r)
	} else {
		start := rs.device.clock.Now()
		rs.device.Release(r.key(rep))
		rs.device.noteRelease(start)
	}
	rs.budget.book(-st.geometry, -st.texture)
	rs.count.resident[classOf(rep)]--
	if !st.drawable && !st.split {
		rs.awaited--
	}
	st.state, st.drawable, st.split, st.geometry, st.texture = TileUnloaded, false, false, 0, 0
	r.touch()
}

// unloadRep tears a resident representation down and reports it.
func (rs *residency) unload(r *record, rep Rep) {
	rs.free(r, rep)
	if r.share != shareAll {
		r.noteGivenUp(rep)
	}
	if rep == RepFull {
		r.inGrace, r.retire, r.handoffAge = false, false, 0
	}
	if r.fading == rep {
		r.endFade()
	}
	rs.emitRep(unloadKind(rep), r, rep)
	r.stamp(rep)
	rs.toggled(r, rep)
}

// dropRep unloads or cancels a level, whichever applies.
func (rs *residency) drop(r *record, rep Rep) {
	switch st := r.rep(rep); {
	case st.resident() && r.fading != rep: // a fade needs both
		rs.unload(r, rep)
	case st.loading():
		rs.cancel(r, rep)
	}
}

// succeed drops a level that something ready replaces. With fades what is still
// drawn has to fade out first.
func (h *handoff) succeed(r *record, rep Rep) {
	if !h.cfg.EnableFadeTransitions || r.drawn != rep {
		h.residency.drop(r, rep)
	}
}

// ready reports whether a resident representation can take over: the device
// can draw it, or has had long enough. What streams mesh by mesh has to come in
// first, however long that takes.
func (e *env) ready(st *repState) bool {
	return st.resident() && (st.drawable || !st.split && e.now-st.residentAt >= e.handoffMaxWait)
}

// pollDrawable asks the Visibility for what is not drawable yet.
func (rs *residency) pollDrawable() {
	if rs.awaited == 0 {
		return
	}
	for _, sc := range rs.scenes {
		for _, tile := range sc.active {
			if sc.asleep(tile) {
				continue
			}
			r := sc.recordOf(tile)
			for i := range r.reps {
				st := &r.reps[i]
				if !st.resident() || st.drawable || st.split {
					continue
				}
				st.drawable = rs.device.visibility.Drawable(r.key(Rep(i + 1)))
				if st.drawable {
					rs.awaited--
				}
				// A wait that ends, well or not, is worth a tick.
				if waited := rs.now - st.residentAt - rs.handoffMaxWait; st.drawable || waited >= 0 && waited < rs.updateInterval {
					rs.wake = true
				}
			}
		}
	}
}

// stamp notes a transition of a tile's LODs or of its HLOD.
func (r *record) stamp(rep Rep) {
	switch classOf(rep) {
	case classHLOD:
		r.hlodStamp, r.hlodStamped = r.scene.now, true
	case classLOD:
		r.lodStamp, r.lodStamped = r.scene.now, true
	}
}

// dwelt reports whether the tile's HLOD, or its LODs, may change again.
func (r *record) dwelt(rep Rep) bool {
	if classOf(rep) == classHLOD {
		return !r.hlodStamped || r.scene.now-r.hlodStamp >= r.scene.dwell
	}
	return !r.lodStamped || r.scene.now-r.lodStamp >= r.scene.dwell
}

// toggled counts loads and unloads of one representation.
func (rs *residency) toggled(r *record, rep Rep) {
	st := r.rep(rep)
	if st.toggles == 0 || rs.now-st.togglesAt > swapWindow {
		st.toggles, st.togglesAt = 0, rs.now
	}
	if st.toggles++; st.toggles < swapThreshold {
		return
	}
	st.toggles = 0
	rs.count.swapWarnings++
	rs.warn(r, rep, "the representation is loaded and unloaded over and over: its radii or switch distances lie too close together")
}
