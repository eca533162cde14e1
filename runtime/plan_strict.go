package runtime

// planStrict is the literal rule of the reference engine's documents, holes included: the HLOD pass,
// then the LOD pass, both judging the full tile as it was at the start of the
// tick, every transition but those of a full tile that took over gated by the
// dwell.
func (s *Streamer) planStrict(r *record) {
	if r.parsedAtStart {
		r.target, r.wanted = RepNone, RepFull
		for i := 1; i < len(r.reps); i++ {
			s.dropRep(r, Rep(i+1))
		}
		return
	}
	hlod := s.strictHLOD(r)
	level := s.strictLOD(r, hlod)
	if hlod {
		level = RepHLOD
	}
	r.target = level
	r.wanted = r.wantedAt(level)
}

// strictHLOD loads and drops the HLOD; it reports whether the tile has one or
// wants one.
func (s *Streamer) strictHLOD(r *record) bool {
	from, ok := r.scene.tiles.hlod(r.tile)
	if !ok {
		return false
	}
	st, dwelt := r.rep(RepHLOD), r.dwelt(RepHLOD)
	switch d := r.actual; {
	case d >= from:
		if dwelt && s.retryable(st) {
			s.propose(r.scene, r.tile, r, RepHLOD, d)
		}
		return true
	case d < from*s.cfg.HLODHysteresisFactor && r.holds(RepHLOD):
		if dwelt {
			s.dropRep(r, RepHLOD)
		}
	}
	return r.holds(RepHLOD)
}

// strictLOD loads the level of the distance and drops the others at once. It
// returns the level, RepNone when there is none or the HLOD has the tile.
func (s *Streamer) strictLOD(r *record, hlod bool) Rep {
	dwelt := r.dwelt(RepLOD0)
	level := RepNone
	if !hlod {
		level = r.scene.levelFor(r.tile, r, r.actual)
	}
	if level != RepNone && dwelt && s.retryable(r.rep(level)) {
		s.propose(r.scene, r.tile, r, level, r.actual)
	}
	for i := 2; i < len(r.reps); i++ {
		if rep := Rep(i + 1); rep != level && dwelt && r.holds(rep) {
			s.dropRep(r, rep)
		}
	}
	return level
}
