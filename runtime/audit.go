package runtime

import "time"

// Limits of the audits.
const (
	gapDwell         = 500 * time.Millisecond // parsing may take so long unnoticed
	gapThrottle      = 2 * time.Second        // between two warnings about one tile
	lod0WarningTicks = 12                     // a resident full tile should be drawn by then
	heartbeat        = 5 * time.Second
)

// audit looks for what should not last: tiles in reach and view with nothing
// to draw, and full tiles that are resident but not drawn.
func (s *Streamer) audit(r *record) {
	full := r.full()
	near := r.actual <= r.scene.tiles.radius[r.tile].stream+1
	switch {
	case !near:
		r.seen = false
	case !r.seen && full.loading() && r.actual <= r.scene.tiles.radius[r.tile].stream:
		r.seen, r.seenAt = true, s.now // on its way since before it was in range
	}
	s.auditGap(r, near)
	if !full.resident() || r.drawn == RepFull || r.retire {
		r.handoffAge = 0
		return
	}
	s.stats.WaitingFades++
	if r.handoffAge++; r.handoffAge != lod0WarningTicks {
		return
	}
	s.stats.LOD0Warnings++
	if r.drawn != RepNone {
		s.stats.LOD0WithFallback++
	} else {
		s.stats.LOD0NoFallback++
	}
	s.warn(r, RepFull, "the full representation is resident but not drawable")
}

func (s *Streamer) auditGap(r *record, near bool) {
	if !near || r.drawn != RepNone || !r.scene.view.sees(&r.scene.tiles.box[r.tile]) {
		r.gap = false
		return
	}
	s.stats.RepresentationGaps++
	if !r.full().loading() {
		r.gap = false // what has not been requested yet is only counted
		return
	}
	if !r.gap {
		r.gap, r.gapSince = true, s.now
	}
	if s.now-r.gapSince < gapDwell || r.gapShown && s.now-r.gapWarned < gapThrottle {
		return
	}
	r.gapShown, r.gapWarned = true, s.now
	s.stats.GapWarnings++
	s.warn(r, RepFull, "nothing of the tile is drawn although it is in view and within its streaming radius")
}

// beat writes a line every few seconds.
func (s *Streamer) beat() {
	if s.now-s.lastBeat < heartbeat {
		return
	}
	s.lastBeat = s.now
	if !s.logs {
		return
	}
	s.log.Info("streaming", "tiles", s.stats.TotalStreamingEntities, "full", s.stats.ResidentFull, "lod", s.stats.ResidentLOD,
		"hlod", s.stats.ResidentHLOD, "active", len(s.loads.list), "backlog", s.backlog, "geometry", s.budget.used())
}
