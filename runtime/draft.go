package runtime

import (
	"math"
	"slices"
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// A scene with a pyramid begins with a draft: until all that is in view has come, it is as
// coarse as if several times as much of its error might be seen, and nothing is loaded
// that is out of view, but for what relieves a short memory. What is seen from the start
// takes a fraction of the bytes so. Other scenes keep their detail, and a scene that takes
// over from one that is drawn has no draft. (An outline is another thing: what comes first
// of a single tile, see select_outline.go.)

// draftStretches are how many times the error that may be seen is good enough for the stages
// of a draft, one after the other: 8 and 4 pixels where 2 are asked for.
var draftStretches = [...]float64{4, 2}

// leapTime is for how long a draft leaves out what will not be seen of it. Where that takes
// longer, steps between the roots and the draft are worth their bytes.
const leapTime = 2 * time.Second

// rootTime is for how long tiles wait for the root above them: one that is slower leaves the
// first picture to their outlines.
const rootTime = 5 * time.Second

// A draft ends, too, when nothing has been under way for draftPause, as what cannot be
// loaded does not come, and after draftTime: else one of a camera that always sees new
// things would not end.
const (
	draftPause = time.Second
	draftTime  = 30 * time.Second
)

// draft is how far the draft of a scene is.
type draft struct {
	drafted   bool          // it has ended
	stages    int           // of draftStretches that are over
	begun     bool          // there has been a tick
	arrived   int           // how many roots have come, or cannot be loaded
	founded   bool          // all have, or rootTime is over
	since     time.Duration // of the first tick
	busyUntil time.Duration // draftPause after the last tick in which something was under way
}

// drafts reports whether a draft of the scene is under way.
func (sc *scene) drafts() bool { return sc.refinement != nil && !sc.refinement.drafted }

// stretch returns the one of the stage.
func (d *draft) stretch() float64 { return draftStretches[min(d.stages, len(draftStretches)-1)] }

// leapt reports whether leapTime is over.
func (d *draft) leapt(now time.Duration) bool { return d.begun && now-d.since >= leapTime }

// Drafts reports whether what is drawn of some scene is still its draft.
func (s *Streamer) Drafts() bool { return slices.ContainsFunc(s.scenes, (*scene).drafts) }

// postpones reports whether something is not loaded yet, as the draft of the scene is under
// way and it is out of view, or a tile, whose files are large, and the root above it has not
// come: roots are the first picture.
func (sc *scene) postpones(row int32) bool {
	return sc.drafts() && !sc.tiles.has(row, flagShared) && (sc.awaitsRoot(row) || !sc.view.sees(&sc.tiles.box[row]))
}

// awaitsRoot reports whether a tile waits for the root above it.
func (sc *scene) awaitsRoot(row int32) bool {
	ref := sc.refinement
	return !ref.founded && row < int32(len(ref.parent)) && !ref.hasRoot(sc, ref.rootAbove(row))
}

// leaps reports whether a draft leaves a node out for now that is granted to be open. One of
// which a part is out of view is not: what would be drawn there is postponed.
func (sc *scene) leaps(n *node) bool {
	return n.node >= 0 && sc.drafts() && !sc.refinement.leapt(sc.now) &&
		!slices.ContainsFunc(n.children, func(row int32) bool { return !sc.view.sees(&sc.tiles.box[row]) })
}

// awaitsNode reports whether a node above a tile is about to be drawn in its place, as a
// draft begins.
func (sc *scene) awaitsNode(tile int32) bool {
	if !sc.drafts() || tile >= int32(len(sc.refinement.parent)) {
		return false
	}
	ref := sc.refinement
	at := ref.rootAbove(tile)
	if at < 0 {
		return false
	}
	st := ref.record(sc, at).rep(payload.RepHLOD)
	return st.resident() || st.fails == 0 && !ref.founded
}

// rootAbove returns the root above a tile, -1 without.
func (p *refinement) rootAbove(tile int32) int32 {
	at := p.parent[tile].node
	for at >= 0 && p.nodes[at].node >= 0 {
		at = p.nodes[at].node
	}
	return at
}

// hasRoot reports whether a root has come or cannot be loaded; -1 is none.
func (p *refinement) hasRoot(sc *scene, i int32) bool {
	if i < 0 {
		return true
	}
	st := p.record(sc, i).rep(payload.RepHLOD)
	return st.resident() || st.fails > 0
}

// endDrafts finds out whether drafts are complete.
func (s *Streamer) endDrafts() {
	busy := len(s.loads.list) > 0 || len(s.meshes.loading) > 0 || s.residency.awaited > 0
	for _, sc := range s.scenes {
		if !sc.drafts() {
			continue
		}
		d := &sc.refinement.draft
		if busy || !d.begun {
			d.busyUntil = s.now + draftPause
		}
		if !d.begun {
			d.begun, d.since = true, s.now
		}
		if !d.founded && sc.refinement.found(sc) {
			s.lookAgain(sc)
		}
		if s.now < d.busyUntil && s.now-d.since < draftTime && !sc.showsDraft(s.residency) {
			continue
		}
		if d.stages++; d.stages == len(draftStretches) || s.now-d.since >= draftTime {
			d.drafted = true
		}
		s.lookAgain(sc)
	}
}

// lookAgain lets the next tick look for what is wanted of a scene now. There is no rest
// before it.
func (s *Streamer) lookAgain(sc *scene) {
	sc.wakeAll()
	s.wake, s.sinceLook, s.selector.lookedFrom = true, s.updateInterval, Camera{}
}

// found counts the roots that have come, and reports whether some tiles need not wait for
// theirs any more.
func (p *refinement) found(sc *scene) bool {
	before := p.arrived
	p.arrived = 0
	for _, i := range p.roots {
		if p.hasRoot(sc, i) {
			p.arrived++
		}
	}
	p.founded = p.arrived == len(p.roots) || sc.now-p.since >= rootTime
	return p.founded || p.arrived != before
}

// wakeAll wakes all tiles near and all with a record, for the next tick.
func (sc *scene) wakeAll() {
	for _, tiles := range [][]int32{sc.query.tiles, sc.active} {
		for _, tile := range tiles {
			sc.tiles.wake[tile] = math.Inf(-1)
		}
	}
}

// showsDraft reports whether all that is wanted in view is drawn, and the roots can be, but
// for what is left out, cannot be loaded or hangs.
func (sc *scene) showsDraft(rs *residency) bool {
	ref := sc.refinement
	for i := range ref.nodes {
		n, st := &ref.nodes[i], ref.record(sc, int32(i)).rep(payload.RepHLOD)
		if n.wanted && !n.leaps && !sc.ready(st) && st.fails == 0 && !rs.hangs(st) && (n.node < 0 || sc.view.sees(&sc.tiles.box[ref.first+int32(i)])) {
			return false
		}
	}
	for _, tile := range sc.query.tiles {
		if sc.closes(tile) || sc.closedOff(tile) || !sc.view.sees(&sc.tiles.box[tile]) {
			continue
		}
		if r := sc.recordOf(tile); !(r != nil && (r.drawn != payload.RepNone || r.failed() || rs.hangsFor(r))) && !sc.takenOver(tile) {
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
