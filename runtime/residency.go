package runtime

import "time"

// Swap-thrash audit: so many loads and unloads of one representation within the
// window are one too many.
const (
	swapWindow    = 5 * time.Second
	swapThreshold = 4
)

// makeResident books an uploaded representation.
func (s *Streamer) makeResident(r *record, rep Rep, res *Result) {
	st := r.rep(rep)
	st.state, st.residentAt, st.fails, st.given = TileParsed, s.now, 0, false
	if r.evicted != RepFull || rep == RepFull {
		r.evicted = RepNone
	}
	r.touch()
	*s.residentCount(rep)++
	if st.split = rep == RepFull && r.meshes != nil; st.split {
		st.drawable = false // until enough of its meshes are
		r.scene.tiles.flags[r.tile] |= flagMeshes
		return
	}
	st.geometry, st.texture = max(0, res.GeometryBytes), max(0, res.TextureBytes)
	s.budget.learn(r, rep, st.geometry)
	s.budget.book(st.geometry, st.texture)
	st.drawable = s.device.visibility == nil
	if !st.drawable {
		s.awaited++
	}
}

// freeRep releases a resident representation.
func (s *Streamer) freeRep(r *record, rep Rep) {
	st := r.rep(rep)
	if st.split {
		s.meshes.drop(r)
	} else {
		start := s.device.clock.Now()
		s.device.Release(r.key(rep))
		s.device.noteRelease(start)
	}
	s.budget.book(-st.geometry, -st.texture)
	*s.residentCount(rep)--
	if !st.drawable && !st.split {
		s.awaited--
	}
	st.state, st.drawable, st.split, st.geometry, st.texture = TileUnloaded, false, false, 0, 0
	r.touch()
}

// unloadRep tears a resident representation down and reports it.
func (s *Streamer) unloadRep(r *record, rep Rep) {
	s.freeRep(r, rep)
	if r.share != shareAll {
		r.noteGivenUp(rep)
	}
	if rep == RepFull {
		r.inGrace, r.retire, r.handoffAge = false, false, 0
	}
	if r.fading == rep {
		r.endFade()
	}
	s.emitRep(unloadKind(rep), r, rep)
	r.stamp(rep)
	s.toggled(r, rep)
}

// dropRep unloads or cancels a level, whichever applies.
func (s *Streamer) dropRep(r *record, rep Rep) {
	switch st := r.rep(rep); {
	case st.resident() && r.fading != rep: // a fade needs both
		s.unloadRep(r, rep)
	case st.loading():
		s.cancelLoad(r, rep)
	}
}

// succeed drops a level that something ready replaces. With fades what is still
// drawn has to fade out first.
func (s *Streamer) succeed(r *record, rep Rep) {
	if !s.cfg.EnableFadeTransitions || r.drawn != rep {
		s.dropRep(r, rep)
	}
}

// ready reports whether a resident representation can take over: the device
// can draw it, or has had long enough. What streams mesh by mesh has to come in
// first, however long that takes.
func (e *env) ready(st *repState) bool {
	return st.resident() && (st.drawable || !st.split && e.now-st.residentAt >= e.handoffMaxWait)
}

// pollDrawable asks the Visibility for what is not drawable yet.
func (s *Streamer) pollDrawable() {
	if s.awaited == 0 {
		return
	}
	for _, sc := range s.scenes {
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
				st.drawable = s.device.visibility.Drawable(r.key(Rep(i + 1)))
				if st.drawable {
					s.awaited--
				}
				// A wait that ends, well or not, is worth a tick.
				if waited := s.now - st.residentAt - s.handoffMaxWait; st.drawable || waited >= 0 && waited < s.updateInterval {
					s.wake = true
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
func (s *Streamer) toggled(r *record, rep Rep) {
	st := r.rep(rep)
	if st.toggles == 0 || s.now-st.togglesAt > swapWindow {
		st.toggles, st.togglesAt = 0, s.now
	}
	if st.toggles++; st.toggles < swapThreshold {
		return
	}
	st.toggles = 0
	s.stats.SwapWarnings++
	s.warn(r, rep, "the representation is loaded and unloaded over and over: its radii or switch distances lie too close together")
}

func (s *Streamer) residentCount(rep Rep) *int {
	return [...]*int{&s.stats.ResidentFull, &s.stats.ResidentHLOD, &s.stats.ResidentLOD}[classOf(rep)]
}
