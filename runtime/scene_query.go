package runtime

import (
	"math"

	"github.com/untoldkit/untold/runtime/config"
)

// queryMargin is how much farther than necessary a query looks, in metres, so
// that its result holds until the camera has moved so far.
const queryMargin = 32.0

// nearby is the result of a sphere query, ascending. It holds all tiles within
// its radius of where the camera was when it was made.
type nearby struct {
	tiles  []int32
	at     float64 // odometer at the query
	radius float64 // -1 before the first query
}

// find brings the lists of near tiles up to date: they hold all tiles within
// queryDistance and fullQueryDistance of the camera. Without a margin every call
// makes a query.
func (sc *scene) find(ceiling, margin float64) {
	sc.findNear(&sc.query, sc.queryDistance, ceiling, margin)
	if sc.fullQueryDistance < sc.queryDistance {
		sc.findNear(&sc.inner, sc.fullQueryDistance, ceiling, margin)
	}
}

func (sc *scene) findNear(n *nearby, distance, ceiling, margin float64) {
	if distance < ceiling {
		distance = min(ceiling, distance+sc.view.ahead)
	}
	if margin > 0 && n.radius >= distance+(sc.odometer-n.at) {
		return
	}
	n.at, n.radius = sc.odometer, distance+margin
	n.tiles = sc.tree.Sphere(sc.view.pos, n.radius, n.tiles[:0])
	// The shared bucket is looked at wherever the camera is.
	if last := int32(sc.tiles.tiles) - 1; last >= 0 && sc.tiles.has(last, flagShared) {
		n.tiles = append(n.tiles, last)
	}
}

// listNearby lists the near tiles that are not asleep: those with a record,
// and if idle is set the others too.
func (sc *scene) listNearby(idle bool) {
	sc.nearActive, sc.nearIdle, sc.listed = sc.nearActive[:0], sc.nearIdle[:0], len(sc.woken)
	for _, tile := range sc.query.tiles {
		switch {
		case sc.asleep(tile):
		case sc.tiles.record[tile] >= 0:
			sc.nearActive = append(sc.nearActive, tile)
		case idle:
			sc.nearIdle = append(sc.nearIdle, tile)
		}
	}
}

// dispatchNearby lists the tiles that may be near enough for a dispatch.
func (sc *scene) dispatchNearby() []int32 {
	if sc.fullQueryDistance < sc.queryDistance {
		return sc.inner.tiles
	}
	return sc.query.tiles
}

// measureIdle takes the distances of a tile without a record.
func (sc *scene) measureIdle(tile int32, epsilon float64) (actual, effective float64) {
	if sc.closes(tile) {
		return hiddenDistance, hiddenDistance
	}
	actual = distanceTo(&sc.tiles.box[tile], &sc.view.pos)
	// A lower bound of the effective distance does for all but the few that
	// could be dispatched.
	if effective = actual - sc.view.ahead; effective <= sc.tiles.radius[tile].prefetch+epsilon {
		_, effective = sc.view.distance(&sc.tiles.box[tile])
	}
	return actual, effective
}

// measureQueryDistance works out how far queries have to look: to the query
// radius when there are levels, else as far as the largest radius.
func (sc *scene) measureQueryDistance(cfg *config.Config) {
	for i := range sc.tiles.tiles {
		r := &sc.tiles.radius[i]
		if !math.IsInf(r.stream, 1) {
			sc.largest = max(sc.largest, r.stream)
		}
		if sc.tiles.has(int32(i), flagShared) {
			continue // looked at wherever the camera is
		}
		sc.queryDistance = max(sc.queryDistance, r.unload, r.prefetch+cfg.DispatchEpsilon, r.stream+1)
		sc.fullQueryDistance = max(sc.fullQueryDistance, r.prefetch+cfg.DispatchEpsilon)
	}
	if len(sc.tiles.levels) > 0 || !(sc.queryDistance < cfg.MaxQueryRadius) {
		sc.queryDistance = cfg.MaxQueryRadius
	}
}

// include adds a tile with a record to those that this tick looks at.
func (sc *scene) include(tile int32) {
	sc.awake = append(sc.awake, tile)
	r := sc.recordOf(tile)
	r.measure()
	r.parsedAtStart = r.full().resident() && (!r.full().split || r.full().drawable)
}
