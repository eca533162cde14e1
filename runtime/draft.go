package runtime

import (
	"math"
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// A scene with a pyramid begins with a draft: until all that is in view has come, it is as
// coarse as if draftStretch times as much of its error might be seen, and nothing is loaded
// that is out of view. What is seen from the start takes a fraction of the bytes so.

// draftStretch is how many times the error that may be seen is good enough for a draft: 8
// pixels where 2 are asked for.
const draftStretch = 4

// A draft ends when nothing has been under way for draftPause, as what cannot be loaded
// does not come, and after draftTime: a camera that always sees new things has none.
const (
	draftPause = time.Second
	draftTime  = 30 * time.Second
)

// draft is how far the draft of a scene is.
type draft struct {
	drafted   bool
	begun     bool
	since     time.Duration
	busyUntil time.Duration
}

// drafts reports whether a draft of the scene is under way.
func (sc *scene) drafts() bool { return sc.refinement != nil && !sc.refinement.drafted }

// draft lets a new scene begin with one.
func (b *geometryBudget) draft(sc *scene) {
	if sc.drafts() && !b.split.scarce {
		b.setLimits(true, math.Inf(1), draftStretch, math.Inf(1))
	}
}

// endDrafts finds out whether drafts are complete.
func (s *Streamer) endDrafts() {
	for _, sc := range s.scenes {
		if !sc.drafts() {
			continue
		}
		d := &sc.refinement.draft
		if !d.begun {
			d.begun, d.since = true, s.now
		}
		if len(s.loads.list) > 0 || d.busyUntil == 0 {
			d.busyUntil = s.now + draftPause
		}
		if s.now >= d.busyUntil || s.now-d.since >= draftTime || sc.showsDraft() {
			d.drafted, s.wake = true, true
		}
	}
}

// showsDraft reports whether all that is wanted in view is drawn, but for what cannot be
// loaded.
func (sc *scene) showsDraft() bool {
	ref := sc.refinement
	for i := range ref.nodes {
		st := ref.record(sc, int32(i)).rep(payload.RepHLOD)
		if ref.nodes[i].wanted && !sc.ready(st) && st.fails == 0 && sc.view.sees(&sc.tiles.box[ref.first+int32(i)]) {
			return false
		}
	}
	for _, tile := range sc.query.tiles {
		if sc.closes(tile) || sc.closedOff(tile) || !sc.view.sees(&sc.tiles.box[tile]) {
			continue
		}
		if r := sc.recordOf(tile); r == nil || r.drawn == payload.RepNone && !r.failed() {
			return false
		}
	}
	return true
}

// failed reports whether loading some representation of a tile has failed.
func (r *record) failed() bool {
	for i := range r.reps {
		if r.reps[i].fails > 0 {
			return true
		}
	}
	return false
}
