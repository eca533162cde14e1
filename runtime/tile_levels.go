package runtime

import (
	"math"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// levelAt returns the level that distance d asks for, with the hysteresis of
// what is shown, or RepNone. r is nil for an idle tile.
func (sc *scene) levelAt(tile int32, r *record, d float64) payload.Rep {
	if from, ok := sc.tiles.hlod(tile); ok {
		if d >= from || r != nil && r.holds(payload.RepHLOD) && d >= from*sc.cfg.HLODHysteresisFactor {
			return payload.RepHLOD
		}
	}
	lods := sc.tiles.lods(tile)
	shown := -1
	if r != nil {
		shown = r.shownLOD()
	}
	for i := len(lods) - 1; i >= 0; i-- {
		from := lods[i].from
		if i == shown {
			from *= sc.cfg.LODHysteresisFactor
		}
		if d >= from {
			return payload.LOD(i)
		}
	}
	return payload.RepNone
}

// grantedLevelAt is levelAt within the tile's grant.
func (sc *scene) grantedLevelAt(tile int32, r *record, d float64) payload.Rep {
	next := sc.levelAt(tile, r, d)
	grant, finest := sc.grantAt(tile, r, d)
	switch {
	case grant == grantAll:
		return next
	case grant == grantNothing, next == payload.RepNone && (d > sc.tiles.radius[tile].unload || sc.closedOff(tile) && !r.stays()):
		return payload.RepNone
	}
	cheapest := sc.cheapestRep(tile)
	switch {
	case cheapest == payload.RepFull:
		return next
	case sc.ownsMeshes(tile, r), next != payload.RepNone && isFiner(cheapest, next):
		return cheapest
	case next == payload.RepNone || isFiner(next, finest):
		return finest
	}
	return next
}

// repAt returns the representation that a tile would show at distance d if
// memory were plenty.
func (sc *scene) repAt(tile int32, r *record, d float64) payload.Rep {
	rd := &sc.tiles.radius[tile]
	open := !sc.closedOff(tile)
	switch {
	case open && d <= max(rd.stream, rd.dispatch(sc.cfg.DispatchEpsilon)), r != nil && r.full().resident() && d <= rd.unload:
		return payload.RepFull
	}
	rep := sc.levelAt(tile, r, d)
	switch {
	case rep != payload.RepNone || d > rd.unload:
		return rep
	case r.stays():
		return r.drawn // it stays until something follows it
	case len(sc.tiles.lods(tile)) == 0:
		return rep
	}
	return payload.LOD(0)
}

// fallbackLevel returns the level to show while the full representation is
// wanted but absent, at a distance for which no level is meant: the finest. Over a network
// there is none while a node of the pyramid shows the tile, or is about to: it would delay
// what is wanted.
func (sc *scene) fallbackLevel(tile int32, d float64) payload.Rep {
	switch {
	case d > sc.tiles.radius[tile].unload || sc.closedOff(tile) || sc.outlineFirst() && (sc.refinement.hides(tile) || sc.awaitsNode(tile)):
	case len(sc.tiles.lods(tile)) > 0:
		return payload.RepLOD0
	case sc.tiles.has(tile, flagHLOD) && sc.outlineFirst():
		return payload.RepHLOD
	}
	return payload.RepNone
}

// cheapestRep returns the representation of a tile with the smallest file, of
// equal ones the coarsest. Levels whose size is not declared count as smaller
// the coarser they are.
func (sc *scene) cheapestRep(tile int32) payload.Rep {
	t := sc.tiles
	best, least := payload.RepFull, int64(math.MaxInt64)
	try := func(rep payload.Rep) {
		size := t.fileOf(tile, rep).size
		if size < least || best == payload.RepFull {
			best, least = rep, size
		}
	}
	if t.has(tile, flagHLOD) {
		try(payload.RepHLOD)
	}
	for i := len(t.lods(tile)) - 1; i >= 0; i-- {
		try(payload.LOD(i))
	}
	if size := t.full[tile].size; best != payload.RepFull && size > 0 && size <= least {
		return payload.RepFull
	}
	return best
}

// ownsMeshes reports whether a tile streams mesh by mesh, as far as is known.
func (sc *scene) ownsMeshes(tile int32, r *record) bool {
	return sc.cfg.OutOfCorePolicy == config.OutOfCoreAlways && sc.tiles.full[tile].gpu == 0 || sc.tiles.has(tile, flagEntity|flagMeshes) || r != nil && r.full().split
}

// grantsFull reports whether a tile's grant covers its full representation.
// Tiles that stream mesh by mesh are judged mesh by mesh.
func (sc *scene) grantsFull(tile int32, r *record, d float64) bool {
	grant, _ := sc.grantAt(tile, r, d)
	return grant == grantAll || grant == grantLess && (sc.cheapestRep(tile) == payload.RepFull || sc.ownsMeshes(tile, r))
}

// closedOff reports whether the interior zone or the floor gate keeps a tile
// from being loaded, whatever the camera's direction. Neither gate unloads
// anything.
func (sc *scene) closedOff(tile int32) bool {
	return sc.floorKeepsOut(tile, sc.view.pos) || sc.zoneKeepsOut(tile, sc.view.pos)
}

// stays reports whether something of a tile is drawn, which no gate takes
// away. r may be nil.
func (r *record) stays() bool { return r != nil && r.drawn != payload.RepNone }

// wantedAt names what a tile should show: the full representation within the
// streaming radius, else the level of the distance, else the full one up to the
// unload radius.
func (r *record) wantedAt(level payload.Rep) payload.Rep {
	rd := &r.scene.tiles.radius[r.tile]
	switch {
	case r.actual <= rd.stream && !r.scene.closedOff(r.tile):
		return payload.RepFull
	case level != payload.RepNone:
		return level
	case r.actual <= rd.unload && !r.scene.closedOff(r.tile):
		return payload.RepFull
	}
	return payload.RepNone
}

// shownLOD returns the LOD level that has the hysteresis: the planned one, or
// the finest that is there; -1 without.
func (r *record) shownLOD() int {
	if i, ok := r.target.Level(); ok && r.holds(r.target) {
		return i
	}
	for i := 2; i < len(r.reps); i++ {
		if r.holds(payload.Rep(i + 1)) {
			return i - 2
		}
	}
	return -1
}

// hasLevels reports whether the tile has an HLOD or LODs.
func (r *record) hasLevels() bool {
	t := r.scene.tiles
	return t.levelAt[r.tile] != t.levelAt[r.tile+1]
}

// holds reports whether a representation is resident or on its way.
func (r *record) holds(rep payload.Rep) bool {
	st := r.rep(rep)
	return st.resident() || st.loading()
}

// alternativeTo returns another level to load in place of one that failed;
// RepNone when one is on its way or there is none.
func (r *record) alternativeTo(failed payload.Rep) payload.Rep {
	best, bestRank := payload.RepNone, 0
	for i := 1; i < len(r.reps); i++ {
		rep := payload.Rep(i + 1)
		if rep == payload.RepHLOD && !r.scene.tiles.has(r.tile, flagHLOD) || rep == failed {
			continue
		}
		st := &r.reps[i]
		if st.loading() || st.resident() {
			return payload.RepNone
		}
		if !r.scene.retryable(st) {
			continue
		}
		// Coarser levels in order, then the HLOD, then finer ones.
		rank := int(rep)
		switch {
		case rep == payload.RepHLOD:
			rank = 1 << 9
		case rep < failed:
			rank = 1<<10 - int(rep)
		}
		if best == payload.RepNone || rank < bestRank {
			best, bestRank = rep, rank
		}
	}
	return best
}

// grantAt returns the grant of a tile at distance d, and the finest representation
// that it allows; r is nil for an idle one.
func (sc *scene) grantAt(tile int32, r *record, d float64) (grant, payload.Rep) {
	if r != nil {
		return r.grant, r.finest
	}
	return sc.grantAfter(tile, d, grantNothing, payload.RepNone)
}

// grantAfter returns the grant of a tile at distance d that had another one before. A
// tile keeps what it has a little beyond the limits.
func (sc *scene) grantAfter(tile int32, d float64, before grant, finest payload.Rep) (grant, payload.Rep) {
	a, least := sc.budget, sc.leastStretch()
	switch {
	case !a.scarce && least == 0:
		return grantAll, payload.RepFull
	case a.scarce && !a.keeps(d, before != grantNothing) && !sc.hangs(tile):
		return grantNothing, payload.RepNone
	}
	if before == grantNothing {
		finest = payload.RepNone
	}
	rep, begins := sc.cheapestRep(tile), math.Inf(1)
	for rep != payload.RepFull {
		begins = min(begins, sc.tiles.begin(tile, rep))
		next := sc.tiles.finer(tile, rep)
		if !(sc.stretchOf(tile, begins, d, finest == next || isFiner(finest, next)) >= least) {
			return grantLess, rep
		}
		rep = next
	}
	return grantAll, rep
}

// canDowngrade reports whether a tile is granted less than its full representation,
// and has something cheaper.
func (r *record) canDowngrade() bool {
	return r.grant == grantLess && !r.scene.ownsMeshes(r.tile, r) && r.scene.cheapestRep(r.tile) != payload.RepFull
}

// relieves reports whether a representation is what a tile steps down to.
func (r *record) relieves(rep payload.Rep) bool {
	return rep == r.target && r.canDowngrade() && isFiner(r.drawn, rep)
}

// mustStepDown reports whether a tile has something finer than it is granted, and
// nothing cheaper yet that could take over.
func (r *record) mustStepDown() bool {
	return r.canDowngrade() && isFiner(r.drawn, r.finest) && !r.holds(r.scene.cheapestRep(r.tile))
}
