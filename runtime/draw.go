package runtime

import (
	"slices"
	"time"
)

// drawnAfter is the rule of what a tile draws: the full representation, else
// the planned level, else what it draws already, else the finest level, else
// the HLOD. Only what is ready counts.
func (r *record) drawnAfter() Rep {
	switch {
	case !r.retire && r.scene.ready(r.full()):
		return RepFull
	case r.target != RepNone && r.scene.ready(r.rep(r.target)):
		return r.target
	case r.drawn != RepNone && r.scene.ready(r.rep(r.drawn)):
		return r.drawn
	}
	for i := 2; i < len(r.reps); i++ {
		if r.scene.ready(&r.reps[i]) {
			return Rep(i + 1)
		}
	}
	switch {
	case r.scene.ready(r.rep(RepHLOD)):
		return RepHLOD
	case r.scene.ready(r.full()), r.full().split && r.shows(RepFull):
		return RepFull
	}
	return RepNone
}

// draw makes rep the tile's drawn representation.
func (h *handoff) draw(r *record, rep Rep) {
	if rep == r.drawn {
		return
	}
	old := r.drawn
	h.countDrawn(old, -1)
	h.countDrawn(rep, 1)
	r.drawn, r.drawnAt = rep, h.now
	h.count.changes++
	e := h.event(EventDrawn, r, rep)
	if rep == RepFull && r.seen {
		e.Latency, r.seen = h.now-r.seenAt, false
	}
	h.emit(e)
	done := time.Duration(0)
	if rep == r.fading { // turned round: what was left to fade out is faded in already
		done = max(0, h.fadeDuration-r.faded)
	}
	r.endFade()
	if h.cfg.EnableFadeTransitions && old != RepNone && rep != RepNone && r.shows(old) {
		r.fading, r.faded = old, done
		r.scene.fades++
	}
}

// advanceFades runs every frame; an outgoing representation that has faded out
// is released by the next tick, which comes at once.
func (h *handoff) advanceFades(dt time.Duration) {
	if h.activeFades() == 0 {
		return
	}
	h.forEach(func(r *record) {
		if r.fading == RepNone {
			return
		}
		if r.faded += dt; r.faded >= h.fadeDuration {
			r.endFade()
			h.wake = true
		}
	})
}

// activeFades counts the tiles that fade.
func (e *env) activeFades() int {
	n := 0
	for _, sc := range e.scenes {
		n += sc.fades
	}
	return n
}

func (r *record) endFade() {
	if r.fading != RepNone {
		r.fading = RepNone
		r.scene.fades--
	}
}

// fadesOut reports whether a full tile that may go has to fade into its
// successor first.
func (r *record) fadesOut() bool {
	if !r.scene.cfg.EnableFadeTransitions || !r.near {
		return false
	}
	if r.fading == RepFull {
		return true
	}
	return r.drawn == RepFull && r.target != RepNone && r.scene.ready(r.rep(r.target))
}

// settleAll ends the tick for the tiles of a scene and forgets or puts to sleep
// those with nothing to do.
func (h *handoff) settleAll(sc *scene) {
	if len(sc.fresh) > 0 {
		sc.awake = append(sc.awake, sc.fresh...)
		slices.Sort(sc.awake)
		sc.awake = slices.Compact(sc.awake)
	}
	forgotten := false
	for _, tile := range sc.awake {
		r := sc.recordOf(tile)
		h.settle(r)
		switch {
		case r.idle(h.now):
			sc.forget(tile)
			forgotten = true
		case r.quiet():
			sc.rest(tile, r.actual, r.effective)
		}
	}
	if forgotten {
		sc.active = slices.DeleteFunc(sc.active, func(tile int32) bool { return sc.tiles.record[tile] < 0 })
	}
}

// settle decides what a tile draws after the passes of a tick, and whether it
// is undrawn.
func (h *handoff) settle(r *record) {
	h.draw(r, r.drawnAfter())
	inRange := r.actual <= r.scene.tiles.radius[r.tile].unload
	wants := r.full().resident() || r.near && (r.inGrace || inRange || r.scene.tiles.covers(r.tile, r.actual))
	if r.full().split && r.scene.tiles.has(r.tile, flagEntity) {
		wants = inRange
	}
	if wants && r.share == shareNone && r.leftAlone() {
		h.budget.split.given = min(h.budget.split.given, r.actual)
	}
	wants = wants && r.share != shareNone
	r.everDrawn = wants && (r.everDrawn || r.drawn != RepNone)
	h.markUndrawn(r, r.everDrawn && r.drawn == RepNone)
	h.audit(r)
}

func (h *handoff) markUndrawn(r *record, undrawn bool) {
	if r.undrawn == undrawn {
		return
	}
	r.undrawn = undrawn
	if undrawn {
		h.count.undrawn++
	} else {
		h.count.undrawn--
	}
}

func (h *handoff) countDrawn(rep Rep, by int) {
	if rep == RepNone {
		return
	}
	h.count.visible[classOf(rep)] += by
}

// AppendDrawn appends what is to be drawn now, by scene and tile. A full tile
// that streams mesh by mesh has an entry for each mesh.
func (s *Streamer) AppendDrawn(dst []Drawn) []Drawn {
	for i := range s.succession.retired {
		x := &s.succession.retired[i]
		for _, tile := range x.active {
			r := x.recordOf(tile)
			dst = r.appendDrawn(dst, r.drawn, 1)
		}
	}
	for _, sc := range s.scenes {
		for _, tile := range sc.active {
			r := sc.recordOf(tile)
			if r.drawn == RepNone {
				continue
			}
			in := 1.0
			if r.fading != RepNone {
				in = r.fadeProgress()
				dst = r.appendDrawn(dst, r.fading, 1-in)
			}
			dst = r.appendDrawn(dst, r.drawn, in)
		}
	}
	return dst
}

// appendDrawn appends a representation, mesh by mesh if it streams so.
func (r *record) appendDrawn(dst []Drawn, rep Rep, fade float64) []Drawn {
	if rep == RepFull && r.full().split {
		return r.appendParts(dst, fade)
	}
	return append(dst, Drawn{r.key(rep), fade})
}

// shows reports whether there is anything of a representation to draw.
func (r *record) shows(rep Rep) bool {
	st := r.rep(rep)
	return st.resident() && (!st.split || r.meshes.uploaded > 0)
}

func (r *record) fadeProgress() float64 {
	return min(1, float64(r.faded)/float64(r.scene.fadeDuration))
}

// TileVisualState grades how much of a full tile is uploaded when its meshes
// are streamed one by one.
type TileVisualState uint8

// The grades. From VisualUsable on a tile may take over from its fallback.
const (
	VisualEmpty TileVisualState = iota
	VisualPartial
	VisualUsable
	VisualComplete
)

// VisualState returns the grade of a tile in the given state with so many of
// its streamed meshes uploaded.
func VisualState(state TileState, total, uploaded int) TileVisualState {
	switch {
	case state != TileParsed:
		return VisualEmpty
	case uploaded >= total:
		return VisualComplete
	case uploaded <= 0:
		return VisualEmpty
	case 2*uploaded >= total:
		return VisualUsable
	}
	return VisualPartial
}
