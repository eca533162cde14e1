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

// leapTime is for how long a draft leaves out steps between the roots and what will be seen of
// it, whatever they show. Where that takes longer over a network, those are worth their bytes
// that are leapStep times as fine as what stands above them.
const (
	leapTime = 2 * time.Second
	leapStep = 8
)

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

// headStart reports whether only roots are loaded, as a draft over a network begins: they are
// the first picture, and share the bandwidth with nothing for a moment.
func (p *refinement) headStart(sc *scene) bool { return sc.drafts() && !p.begun && sc.outlineFirst() }

// rootCompany is how many nodes, roots among them, are loaded at a time at most while a root is
// still to come over a network: on a slow one each of them delays the first picture.
const rootCompany = 5

// crowds reports whether no other node is asked for beside those under way, as roots of a draft
// over a network are still to come.
func (p *refinement) crowds(sc *scene, under int) bool {
	return sc.drafts() && !p.founded && sc.outlineFirst() && under >= rootCompany
}

// leaps reports whether a draft leaves a node out for now that is granted to be open. One of
// which a part is out of view is not: what would be drawn there is postponed.
func (sc *scene) leaps(n *node) bool {
	return n.node >= 0 && sc.drafts() && sc.refinement.skips(sc, n) &&
		!slices.ContainsFunc(n.children, func(row int32) bool { return !sc.view.sees(&sc.tiles.box[row]) })
}

// skips reports whether a node is a step that a draft has no time for: from a disk any, as each
// takes a slot from what will be seen; over a network, where bytes count and a draft takes long,
// one just above that. Those above it are few, for all that they stand in for.
func (p *refinement) skips(sc *scene, n *node) bool {
	if !sc.outlineFirst() {
		return !p.leapt(sc.now)
	}
	return !p.leadsOn(sc, n) && (!p.leapt(sc.now) || !p.improves(n))
}

// leadsOn reports whether other nodes below a node are granted to be open.
func (p *refinement) leadsOn(sc *scene, n *node) bool {
	return slices.ContainsFunc(n.children, func(row int32) bool {
		return row >= p.first && p.nodes[row-p.first].granted(sc)
	})
}

// improves reports whether a node is leapStep times as fine as the nearest one above it that is
// not left out.
func (p *refinement) improves(n *node) bool {
	up := &p.nodes[n.node]
	for up.leaps {
		up = &p.nodes[up.node]
	}
	return float64(n.error*leapStep) <= up.error
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
		r := sc.recordOf(tile)
		switch {
		case r != nil && (r.failed() || rs.hangsFor(r)):
		case r != nil && r.drawn != payload.RepNone:
			if !sc.ownsMeshes(tile, r) && isFiner(r.granted(), r.drawn) {
				return false
			}
		case !sc.takenOver(tile):
			return false
		}
	}
	return true
}

// granted returns what a tile should show, or what of that its grant allows.
func (r *record) granted() payload.Rep {
	if r.grant == grantLess && isFiner(r.wanted, r.finest) {
		return r.finest
	}
	return r.wanted
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
