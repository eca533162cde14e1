package runtime

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// floorClosed reports whether an interior tile lies on a floor too far above or
// below the camera. Only tiles of manifests with floors are judged.
func (sc *scene) floorClosed(tile int32, gate float64) bool {
	return sc.floorKeepsOut(tile, gate, sc.view.pos)
}

func (sc *scene) floorKeepsOut(tile int32, gate float64, camera geom.Vec3) bool {
	const judged = flagInterior | flagFloor
	return sc.tiles.flags[tile]&judged == judged && !math.IsInf(gate, 1) &&
		math.Abs(sc.tiles.centerY[tile]-camera[1]) > gate
}

// interiorClosed reports whether an interior tile is out of bounds because the
// camera is outside the interior zone.
func (sc *scene) interiorClosed(tile int32) bool { return sc.zoneKeepsOut(tile, sc.view.pos) }

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
	// What is dispatched beyond its unload radius would be in grace at once and
	// come and go for ever.
	if r := &t.radius[tile]; !(effective <= min(r.prefetch+sc.cfg.DispatchEpsilon, r.unload)) {
		return gateFar
	}
	if sc.cfg.LODGate {
		if lods := t.lods(tile); len(lods) > 0 && effective > lods[0].from {
			return gateFar
		}
	}
	switch {
	case sc.floorClosed(tile, sc.cfg.FloorProximityGateY):
		return gateFloor
	case sc.interiorClosed(tile):
		return gateInterior
	case sc.cfg.EnableFrustumGate && !t.has(tile, flagShared) && !sc.view.sees(&t.box[tile]):
		return gateFrustum
	}
	return gateOpen
}
