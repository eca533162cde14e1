package runtime

import (
	"math"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// A tile of which nothing is loading changes only when the camera crosses one of
// its distances. Each tile therefore has a mark on the camera's odometer, and no
// pass looks at it before the odometer has reached the mark: the cost of a tick
// grows with what changes, not with what is near.

// sleepMargin is subtracted from every slack, in metres, against rounding.
const sleepMargin = 1e-3

// maxOdometer is where the odometer starts over, in metres: its rounding stays
// far below sleepMargin, however far the camera jumps and however long it flies.
const maxOdometer = 1e9

// move advances the scene's odometer: no distance, to the camera or to where it
// will soon be, has changed by more.
func (sc *scene) move() {
	if !sc.moved {
		sc.moved = true
	} else {
		step := max(sc.view.pos.Sub(sc.lastPos).Len(), sc.view.predicted.Sub(sc.lastPredicted).Len())
		sc.odometer += step
		sc.jumped = sc.jumped || !(step <= minJump)
	}
	sc.lastPos, sc.lastPredicted = sc.view.pos, sc.view.predicted
	if !(sc.odometer <= maxOdometer) { // or not a number
		sc.restartOdometer()
	}
}

// restartOdometer wakes every tile and forgets the query, and how far the camera has gone since
// things were in view.
func (sc *scene) restartOdometer() {
	sc.odometer = 0
	clear(sc.sight.viewedOn)
	sc.query.radius, sc.query.at = -1, 0
	sc.inner.radius, sc.inner.at = -1, 0
	for i := range sc.tiles.wake {
		sc.tiles.wake[i] = math.Inf(-1)
	}
}

func (sc *scene) asleep(tile int32) bool { return sc.tiles.wake[tile] > sc.odometer }

// wakeUp wakes a tile: something about it changed.
func (r *record) wakeUp() {
	if r.scene.tiles.has(r.tile, flagNode) {
		return
	}
	if r.scene.asleep(r.tile) {
		r.scene.woken = append(r.scene.woken, r.tile)
	}
	r.scene.tiles.wake[r.tile] = math.Inf(-1)
}

// sleep puts a tile to sleep until the nearest of its distances can be crossed.
func (sc *scene) sleep(tile int32, actual, effective float64) {
	if sc.sleepless {
		return
	}
	if slack := sc.slack(tile, actual, effective) - sleepMargin; slack > 0 {
		sc.tiles.wake[tile] = sc.odometer + slack
	}
}

// slack returns how far the camera must move at least before a comparison of
// one of the tile's distances comes out differently.
func (sc *scene) slack(tile int32, actual, effective float64) float64 {
	t := sc.tiles
	r := &t.radius[tile]
	m := min(math.Abs(actual-r.stream), math.Abs(actual-(r.stream+1)), math.Abs(actual-r.unload),
		math.Abs(effective-r.unload), math.Abs(effective-(r.prefetch+sc.cfg.DispatchEpsilon)),
		math.Abs(actual-sc.cfg.MaxQueryRadius), sc.limitSlack(tile, actual))
	levels := t.levels[t.levelAt[tile]:t.levelAt[tile+1]]
	for i := range levels {
		factor := sc.cfg.LODHysteresisFactor
		if i == 0 && t.has(tile, flagHLOD) {
			factor = sc.cfg.HLODHysteresisFactor
		}
		from := levels[i].from
		m = min(m, math.Abs(actual-from), math.Abs(actual-float64(from*factor)), math.Abs(effective-from))
	}
	return m
}

// canSleep reports whether ticks would do nothing about a tile until one of
// its distances is crossed.
func (r *record) canSleep() bool {
	if r.inGrace || r.retire || r.fading != payload.RepNone || r.undrawn {
		return false
	}
	if !r.grantSettled() {
		return false
	}
	if !r.near {
		return r.leftBehind()
	}
	if r.evicted != payload.RepNone && r.drawn == payload.RepNone {
		return false
	}
	resident := payload.RepNone
	for i := range r.reps {
		switch st := &r.reps[i]; {
		case st.state == TileUnloaded:
		case st.state != TileParsed || !st.drawable || resident != payload.RepNone:
			return false
		default:
			resident = payload.Rep(i + 1)
		}
	}
	if resident == payload.RepNone && r.countsSwaps() {
		return false // the record goes once they are forgotten
	}
	if r.drawn != resident || r.scene.tiles.has(r.tile, flagInterior) {
		return false // interior gates depend on more than the distance
	}
	if resident == payload.RepFull {
		return r.target == payload.RepNone && r.wanted == payload.RepFull // planned since it can be drawn
	}
	if r.scene.gateOf(r.tile, r.effective) != gateFar {
		return false
	}
	next := r.scene.grantedLevelAt(r.tile, r, r.actual)
	if r.scene.cfg.Handoff == config.HandoffStrict {
		return next == resident
	}
	if next == payload.RepNone && resident == payload.RepNone {
		next = r.scene.fallbackLevel(r.tile, r.actual)
	}
	return next == payload.RepNone || next == resident
}

// grantSettled reports whether the next tick would measure the same grant. A tile all
// of which is held back has none until the hold ends or something of it has come.
func (r *record) grantSettled() bool {
	grant, finest := r.scene.grantAfter(r.tile, r.actual, r.grant, r.finest)
	return grant == r.grant && finest == r.finest && !r.whollyEvicted()
}

// leftBehind reports whether a tile beyond the query radius has a record only
// because failures of it are counted.
func (r *record) leftBehind() bool {
	failed := false
	for i := range r.reps {
		st := &r.reps[i]
		if st.state != TileUnloaded && st.state != TileFailed {
			return false
		}
		failed = failed || st.fails > 0
	}
	return failed && r.drawn == payload.RepNone
}

// idleCanSleep is canSleep for a tile without a record; level is what its distance
// asks for.
func (sc *scene) idleCanSleep(tile int32, effective float64, level payload.Rep) bool {
	return level == payload.RepNone && !sc.tiles.has(tile, flagInterior) && sc.gateOf(tile, effective) == gateFar
}
