package runtime

import (
	"slices"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

// leaver is a full tile that may be torn down.
type leaver struct {
	record   *record
	distance float64
}

// unloadPass ends backoffs, starts and ends grace periods, tears down full
// tiles out of range, the farthest first, and drops the levels of tiles beyond
// the query radius.
func (h *handoff) unloadPass() {
	h.leavers = h.leavers[:0]
	for _, sc := range h.scenes {
		for _, tile := range sc.awake {
			r := sc.recordOf(tile)
			h.residency.endBackoff(r)
			h.judgeRange(r)
			if !r.near {
				h.leaveRange(r)
			}
		}
	}
	slices.SortFunc(h.leavers, func(a, b leaver) int {
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
	h.count.unloadCandidates = len(h.leavers)
	h.leavers = h.leavers[:min(len(h.leavers), h.cfg.MaxTileUnloadsPerUpdate)]
	h.count.processedUnloads = len(h.leavers)
	for i := range h.leavers {
		if r := h.leavers[i].record; r.full().resident() {
			h.residency.unload(r, payload.RepFull)
		} else {
			r.inGrace = false
			h.residency.cancel(r, payload.RepFull)
		}
		h.leavers[i].record = nil
	}
}

// leaveRange drops the levels of a tile beyond the query radius. A level that
// is drawn stays while the full representation is about to take over, or a node of
// the pyramid fades in.
func (h *handoff) leaveRange(r *record) {
	fades := r.scene.dissolves(r.tile)
	if !fades {
		r.endFade()
	}
	r.target, r.wanted = payload.RepNone, payload.RepNone
	full := r.full()
	for i := 1; i < len(r.reps); i++ {
		if rep := payload.Rep(i + 1); rep != r.drawn || !fades && (!full.resident() || h.ready(full)) {
			h.residency.drop(r, rep)
		}
	}
}

// judgeRange starts, ends and evaluates the grace period of a full tile.
func (h *handoff) judgeRange(r *record) {
	st := r.full()
	if !st.resident() && !st.loading() {
		r.inGrace, r.retire = false, false
		return
	}
	downgrade := r.canDowngrade()
	hurry := downgrade && (h.budget.refused || h.budget.evicting) // something waits for the room
	if !(r.effective > r.scene.tiles.radius[r.tile].unload) && !downgrade {
		if r.inGrace {
			r.inGrace, r.retire = false, false
			h.emitRep(event.TileGraceCleared, r, payload.RepFull)
		}
		return
	}
	if st.loading() && !r.near { // so far out nothing oscillates: no grace
		h.leavers = append(h.leavers, leaver{r, r.actual})
		return
	}
	if !r.inGrace {
		r.inGrace, r.graceSince = true, h.now
		h.emitRep(event.TileGrace, r, payload.RepFull)
	}
	switch {
	case !hurry && h.now-r.graceSince < h.gracePeriod:
	case st.resident() && (!hurry && h.now-st.residentAt < h.minResident || !h.successorReady(r)):
	case st.resident() && (r.fadesOut() || r.scene.dissolves(r.tile)):
		r.retire = true
	default:
		h.leavers = append(h.leavers, leaver{r, r.actual})
	}
}

// successorReady reports whether a full tile out of range may go: what is to
// follow can be drawn, or nothing is to follow.
func (h *handoff) successorReady(r *record) bool {
	if h.cfg.Handoff == config.HandoffStrict || !r.near {
		return true
	}
	next := h.grantedLevel(r)
	return next == payload.RepNone || h.ready(r.rep(next))
}
