package runtime

import (
	"slices"
	"time"

	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

// draw makes rep the tile's drawn representation.
func (h *handoff) draw(r *record, rep payload.Rep) {
	if rep == r.drawn {
		return
	}
	old := r.drawn
	h.countDrawn(old, -1)
	h.countDrawn(rep, 1)
	r.drawn, r.drawnAt = rep, h.now
	h.count.changes++
	e := h.event(event.Drawn, r, rep)
	if rep == payload.RepFull && r.seen {
		e.Latency, r.seen = h.now-r.seenAt, false
	}
	h.emit(e)
	done, back := time.Duration(0), false
	if rep == r.fading { // turned round: what was left to fade out is faded in already
		done, back = max(0, h.fadeDuration-r.faded), !r.fadesBack
	}
	r.endFade()
	if h.cfg.EnableFadeTransitions && old != payload.RepNone && rep != payload.RepNone && r.shows(old) {
		r.fading, r.faded, r.fadesBack = old, done, back
		r.scene.fades++
	}
}

// advanceFades runs every frame. When a representation has faded out, the next
// tick comes at once and releases it.
func (h *handoff) advanceFades(dt time.Duration) {
	if h.activeFades() == 0 {
		return
	}
	h.forEach(func(r *record) {
		if r.fading == payload.RepNone {
			return
		}
		if r.faded += dt; r.faded >= h.fadeDuration {
			r.endFade()
			h.wake = true
		}
	})
}

// fadesOut reports whether a full tile that may go has to fade into its
// successor first.
func (r *record) fadesOut() bool {
	if !r.scene.cfg.EnableFadeTransitions || !r.near {
		return false
	}
	if r.fading == payload.RepFull {
		return true
	}
	return r.drawn == payload.RepFull && r.target != payload.RepNone && r.scene.ready(r.rep(r.target))
}

// settleAll ends the tick for the tiles of a scene and forgets or puts to sleep
// those with nothing to do.
func (h *handoff) settleAll(sc *scene) {
	if len(sc.woken) > 0 {
		sc.awake = append(sc.awake, sc.woken...)
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
		case r.canSleep():
			sc.sleep(tile, r.actual, r.effective)
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
	t, full := r.scene.tiles, r.full()
	inRange := r.actual <= t.radius[r.tile].unload
	wants := full.resident() || r.near && (r.inGrace || inRange || t.covers(r.tile, r.actual))
	if full.split && t.has(r.tile, flagEntity) {
		wants = inRange
	}
	if wants && r.grant == grantNothing && r.whollyEvicted() {
		h.budget.split.nearestEvicted = min(h.budget.split.nearestEvicted, r.actual)
	}
	wants = wants && r.grant != grantNothing
	r.everDrawn = wants && (r.everDrawn || r.drawn != payload.RepNone)
	h.markUndrawn(r, r.everDrawn && r.drawn == payload.RepNone)
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

func (h *handoff) countDrawn(rep payload.Rep, by int) {
	if rep == payload.RepNone {
		return
	}
	h.count.visible[classOf(rep)] += by
}
