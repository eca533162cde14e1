package runtime

import "slices"

// leaver is a full tile that may be torn down.
type leaver struct {
	record   *record
	distance float64
}

// unloadPass runs before anything is loaded: it ends backoffs,
// starts and ends grace periods, tears down what is out of range, farthest
// first, and drops the levels of tiles beyond the query radius.
func (s *Streamer) unloadPass() {
	s.leavers = s.leavers[:0]
	for _, sc := range s.scenes {
		for _, tile := range sc.awake {
			r := sc.recordOf(tile)
			s.revive(r)
			s.judgeRange(r)
			if !r.near {
				s.leaveRange(r)
			}
		}
	}
	slices.SortFunc(s.leavers, func(a, b leaver) int {
		switch {
		case a.distance > b.distance:
			return -1
		case a.distance < b.distance:
			return 1
		case a.record.scene != b.record.scene:
			return int(a.record.scene.id) - int(b.record.scene.id)
		}
		return int(a.record.tile) - int(b.record.tile)
	})
	s.stats.UnloadCandidates = len(s.leavers)
	s.leavers = s.leavers[:min(len(s.leavers), s.cfg.MaxTileUnloadsPerUpdate)]
	s.stats.ProcessedUnloads = len(s.leavers)
	for i := range s.leavers {
		if r := s.leavers[i].record; r.full().resident() {
			s.unloadRep(r, RepFull)
		} else {
			r.inGrace = false
			s.cancelLoad(r, RepFull)
		}
		s.leavers[i].record = nil
	}
}

// leaveRange drops the levels of a tile beyond the query radius. One that is
// drawn while the full representation is about to take over stays that long.
func (s *Streamer) leaveRange(r *record) {
	r.endFade()
	r.target, r.wanted = RepNone, RepNone
	full := r.full()
	for i := 1; i < len(r.reps); i++ {
		if rep := Rep(i + 1); rep != r.drawn || !full.resident() || s.ready(full) {
			s.dropRep(r, rep)
		}
	}
}

// judgeRange starts, ends and evaluates the grace period of a full tile.
func (s *Streamer) judgeRange(r *record) {
	st := r.full()
	if !st.resident() && !st.loading() {
		r.inGrace, r.retire = false, false
		return
	}
	surplus := r.surplus()
	hurry := surplus && (s.budget.refused || s.budget.relieving) // something waits for the room
	if !(r.effective > r.scene.tiles.radius[r.tile].unload) && !surplus {
		if r.inGrace {
			r.inGrace, r.retire = false, false
			s.emitRep(EventTileGraceCleared, r, RepFull)
		}
		return
	}
	if st.loading() && !r.near { // so far out nothing oscillates: no grace
		s.leavers = append(s.leavers, leaver{r, r.actual})
		return
	}
	if !r.inGrace {
		r.inGrace, r.graceSince = true, s.now
		s.emitRep(EventTileGrace, r, RepFull)
	}
	switch {
	case !hurry && s.now-r.graceSince < s.gracePeriod:
	case st.resident() && (!hurry && s.now-st.residentAt < s.minResident || !r.successorReady()):
	case st.resident() && r.fadesOut():
		r.retire = true
	default:
		s.leavers = append(s.leavers, leaver{r, r.actual})
	}
}

// successorReady reports whether a full tile out of range may go: what is to
// follow can be drawn, or nothing is to follow.
func (r *record) successorReady() bool {
	if r.scene.cfg.Handoff == HandoffStrict || !r.near {
		return true
	}
	next := r.scene.goal(r.tile, r, r.actual)
	return next == RepNone || r.scene.ready(r.rep(next))
}

// ForceUnloadAll tears everything down at once: no grace, cap or dwell. Parses
// in flight are cancelled; their slots are free when their loaders have
// answered. What has been answered is delivered first. The next tick starts
// anew.
func (s *Streamer) ForceUnloadAll() {
	if s.closed {
		return
	}
	s.now = s.deps.Clock.Now()
	s.deliver()
	s.dropRetiredFor(nil)
	s.forEach((*record).endFade)
	s.forEach(func(r *record) {
		if r.full().loading() {
			r.inGrace = false
			s.cancelLoad(r, RepFull)
		}
	})
	s.forEach(func(r *record) {
		if r.full().resident() {
			s.unloadRep(r, RepFull)
		}
	})
	s.forEach(func(r *record) {
		s.dropRep(r, RepHLOD)
		for i := 2; i < len(r.reps); i++ {
			s.dropRep(r, Rep(i+1))
		}
		r.target = RepNone
		r.everDrawn = false // asked for, so not undrawn
		s.draw(r, RepNone)
	})
	s.backlog, s.fullBacklog, s.levelBacklog, s.scanning = 0, 0, 0, false
}

// forEach visits all records by scene and tile.
func (e *env) forEach(f func(*record)) {
	for _, sc := range e.scenes {
		for _, tile := range sc.active {
			f(sc.recordOf(tile))
		}
	}
}
