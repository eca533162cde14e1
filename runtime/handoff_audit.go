package runtime

import (
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// Limits of the audits.
const (
	gapDwell         = 500 * time.Millisecond // parsing may take so long unnoticed
	gapThrottle      = 2 * time.Second        // between two warnings about one tile
	lod0WarningTicks = 12                     // a resident full tile should be drawn by then
)

// audit looks for what should not last: tiles in range and view with nothing
// to draw, and full tiles that are resident but not drawn.
func (h *handoff) audit(r *record) {
	full := r.full()
	near := r.actual <= r.scene.tiles.radius[r.tile].stream+1
	switch {
	case !near:
		r.seen = false
	case !r.seen && full.loading() && r.actual <= r.scene.tiles.radius[r.tile].stream:
		r.seen, r.seenAt = true, h.now // on its way since before it was in range
	}
	h.auditGap(r, near)
	if !full.resident() || r.drawn == payload.RepFull || r.retire {
		r.handoffAge = 0
		return
	}
	h.count.waiting++
	if r.handoffAge++; r.handoffAge != lod0WarningTicks {
		return
	}
	h.count.lod0Warnings++
	if r.drawn != payload.RepNone {
		h.count.lod0WithFallback++
	} else {
		h.count.lod0NoFallback++
	}
	h.warn(r, payload.RepFull, "the full representation is resident but not drawable")
}

func (h *handoff) auditGap(r *record, near bool) {
	if !near || r.drawn != payload.RepNone || !r.scene.view.sees(&r.scene.tiles.box[r.tile]) {
		r.gap.open = false
		return
	}
	h.count.gaps++
	if !r.full().loading() {
		r.gap.open = false // what has not been requested yet is only counted
		return
	}
	if !r.gap.open {
		r.gap.open, r.gap.since = true, h.now
	}
	if h.now-r.gap.since < gapDwell || r.gap.shown && h.now-r.gap.warned < gapThrottle {
		return
	}
	r.gap.shown, r.gap.warned = true, h.now
	h.count.gapWarnings++
	h.warn(r, payload.RepFull, "nothing of the tile is drawn although it is in view and within its streaming radius")
}
