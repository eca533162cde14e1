package runtime

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// floorKeepsOut reports whether an interior tile lies on a floor too far above or
// below a camera. Only tiles of manifests with floors are judged.
func (sc *scene) floorKeepsOut(tile int32, camera geom.Vec3) bool {
	const judged = flagInterior | flagFloor
	gate := sc.cfg.FloorProximityGateY
	return sc.tiles.flags[tile]&judged == judged && !math.IsInf(gate, 1) &&
		math.Abs(sc.tiles.centerY[tile]-camera[1]) > gate
}

// zoneKeepsOut reports whether a tile is an interior one and a camera is outside
// the interior zone.
func (sc *scene) zoneKeepsOut(tile int32, camera geom.Vec3) bool {
	if !sc.hasZone || !sc.tiles.has(tile, flagInterior) {
		return false
	}
	for i, v := range camera {
		if v < sc.zone.Min[i] || v > sc.zone.Max[i] {
			return true
		}
	}
	return false
}

// gate says why a full tile is not to be dispatched now.
type gate uint8

const (
	gateOpen gate = iota
	gateFar
	gateFloor
	gateInterior
	gateFrustum
)

// gateOf judges a tile for dispatch.
func (sc *scene) gateOf(tile int32, effective float64) gate {
	t := sc.tiles
	if !(effective <= t.radius[tile].dispatch(sc.cfg.DispatchEpsilon)) {
		return gateFar
	}
	if sc.cfg.LODGate {
		if lods := t.lods(tile); len(lods) > 0 && effective > lods[0].from {
			return gateFar
		}
	}
	switch {
	case sc.floorKeepsOut(tile, sc.view.pos):
		return gateFloor
	case sc.zoneKeepsOut(tile, sc.view.pos):
		return gateInterior
	case sc.cfg.EnableFrustumGate && !t.has(tile, flagShared) && !sc.view.sees(&t.box[tile]):
		return gateFrustum
	}
	return gateOpen
}
