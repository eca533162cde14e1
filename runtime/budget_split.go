package runtime

import (
	"math"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// The tiles' distances may ask for more than the geometry budget holds. Then the
// budget is split, the nearest tiles first: every tile is granted its cheapest
// representation, and with what is left the one that its distance asks for. Two
// limits follow. Beyond the keep distance nothing is kept; beyond the detail
// distance only the cheapest representations are. A drawn tile is downgraded
// only once its cheapest representation can be drawn, so none disappears.

// grant is how much of what its distance asks for a tile may have.
type grant uint8

const (
	grantAll      grant = iota // what its distance asks for
	grantCheapest              // its cheapest representation
	grantNothing
)

// splitPart is the part of the room below the high-water mark that is split; the
// rest is for the moments in which one representation takes over from another.
// detailPart is the part of that room that the cheapest representations leave to
// finer ones.
const (
	splitPart  = 0.95
	detailPart = 0.4
)

// keepLead is how much farther away than the limit a tile keeps its share,
// as a factor: else the tiles at a limit would come and go with every step.
const keepLead = 1.1

// Distances are told apart in steps that grow with them, 64 for each doubling of
// 1 + d: half a metre at 50 m, 4 m at 500 m. The last step has no end.
const (
	splitSteps = 1024
	stepShift  = 52 - 6 // of the bits of a float64
)

// stepOf returns the step of a distance.
func stepOf(d float64) int {
	return int(min((math.Float64bits(1+d)-math.Float64bits(1))>>stepShift, splitSteps-1))
}

// stepFrom returns the distance at which a step begins.
func stepFrom(step int) float64 {
	return math.Float64frombits(math.Float64bits(1)+uint64(step)<<stepShift) - 1
}

// budgetSplit is how far the geometry budget goes, in metres of the scenes.
type budgetSplit struct {
	scarce                       bool // else everything is granted, and the limits mean nothing
	keepDistance, detailDistance float64
	nearestEvicted               float64 // distance of the nearest tile all of which was evicted a moment ago
	split                        bool    // limits were worked out, at splitAt for budget
	splitAt                      time.Duration
	budget                       int64
	steps                        [splitSteps]demand
}

// demand is what tiles at one distance cost, in bytes.
type demand struct {
	cheapest, extra float64
	held            bool // some tile lies within its streaming radius: the nearest such is always granted
	level           bool // the cheapest representation of some tile in range is a level, which may use the whole budget
}

// grantAt returns the grant of a tile at a distance that had another one
// before. A tile keeps what it has a little beyond the limits.
func (a *budgetSplit) grantAt(d float64, before grant) grant {
	if !a.scarce {
		return grantAll
	}
	lead := func(kept bool) float64 {
		if kept {
			return keepLead
		}
		return 1
	}
	switch {
	case d > a.keepDistance*lead(before != grantNothing):
		return grantNothing
	case d > a.detailDistance*lead(before == grantAll):
		return grantCheapest
	}
	return grantAll
}

// splitBudget works the limits out, at most once per updateInterval. It begins
// when geometry comes near the low-water mark and ends when everything fits
// again.
func (b *geometryBudget) splitBudget() {
	a := &b.split
	budget := float64(b.memory.GeometryBudget)
	if budget <= 0 || b.cfg.Handoff == config.HandoffStrict ||
		!a.scarce && float64(b.used()+b.pending) < b.cfg.LowWaterMark*budget {
		b.setLimits(false, math.Inf(1), math.Inf(1))
		return
	}
	if a.split && b.memory.GeometryBudget == a.budget && b.now-a.splitAt < b.updateInterval {
		return
	}
	a.split, a.budget, a.splitAt = true, b.memory.GeometryBudget, b.now
	clear(a.steps[:])
	cheapest, extras, meshes := 0.0, 0.0, 0.0
	for _, sc := range b.scenes {
		for _, tile := range sc.query.tiles {
			w := b.demandOf(sc, tile)
			if w.cheapest+w.extra+w.meshes == 0 {
				continue
			}
			cheapest, extras, meshes = cheapest+w.cheapest, extras+w.extra, meshes+w.meshes
			d := &a.steps[stepOf(w.near)]
			d.cheapest += w.cheapest
			d.held = d.held || w.held
			d.level = d.level || w.level
			a.steps[stepOf(w.far)].extra += w.extra
		}
	}
	room := float64(splitPart*b.cfg.HighWaterMark*budget) - float64(b.memory.GeometryUsed+b.nodes)
	if cheapest+extras+meshes <= room {
		b.setLimits(false, math.Inf(1), math.Inf(1))
		return
	}
	keep, cheapest := a.extend(room-min(float64(detailPart*room), extras), budget-float64(b.memory.GeometryUsed+b.nodes))
	left, last := room-meshes-cheapest, 0
	for last < splitSteps && left >= a.steps[last].extra {
		left -= a.steps[last].extra
		last++
	}
	b.setLimits(true, keep, min(keep, stepFrom(last)))
}

// extend returns how far so many bytes go for the cheapest representations,
// the nearest first, and what those take. Levels of tiles in range may use the
// whole budget.
func (a *budgetSplit) extend(room, budget float64) (keep, cheapest float64) {
	first := true
	for i := range a.steps {
		d := &a.steps[i]
		sum := cheapest + d.cheapest
		if d.cheapest > 0 && !(sum <= room || d.level && sum <= budget || first && d.held) {
			return stepFrom(i), cheapest
		}
		first = first && d.cheapest == 0
		cheapest = sum
	}
	return math.Inf(1), cheapest
}

// setLimits takes over new limits and wakes all tiles near, for each has to
// compare its distance. Therefore small changes wait until they add up.
func (b *geometryBudget) setLimits(scarce bool, keep, detail float64) {
	a := &b.split
	const worth = 0.02
	same := func(x, y float64) bool { return x == y || math.Abs(x-y) <= worth*min(x, y) }
	if scarce == a.scarce && same(keep, a.keepDistance) && same(detail, a.detailDistance) {
		return
	}
	a.scarce, a.keepDistance, a.detailDistance = scarce, keep, detail
	for _, sc := range b.scenes {
		sc.awake = sc.awake[:0]
		for _, tile := range sc.active {
			sc.include(tile)
		}
		for _, tile := range sc.query.tiles {
			sc.tiles.wake[tile] = math.Inf(-1)
		}
	}
}

// tileDemand is what one tile asks for, in bytes.
type tileDemand struct {
	cheapest, extra float64
	meshes          float64 // of a tile that streams mesh by mesh: what it has, for its meshes are admitted one by one
	near, far       float64 // distances by which cheapest and extra are ranked
	held, level     bool    // see demand
}

func (b *geometryBudget) demandOf(sc *scene, tile int32) (w tileDemand) {
	t := sc.tiles
	d := distanceTo(&t.box[tile], &sc.view.pos)
	if sc.closes(tile) {
		return w
	}
	if d > b.cfg.MaxQueryRadius && !t.has(tile, flagShared) {
		return w
	}
	r := sc.recordOf(tile)
	w.near, w.far = d, d
	if r != nil && r.grant != grantNothing {
		w.near = d / keepLead
		if r.grant == grantAll {
			w.far = w.near
		}
	}
	rep := sc.repAt(tile, r, d)
	if rep == payload.RepNone {
		return w
	}
	cheapest := sc.cheapestRep(tile)
	if rep == payload.RepFull && sc.ownsMeshes(tile, r) {
		if r != nil {
			w.meshes = float64(r.full().geometry)
		}
		if cheapest != payload.RepFull {
			w.cheapest = b.cost(sc, tile, cheapest)
		}
	} else {
		w.cheapest = b.cost(sc, tile, cheapest)
		w.extra = max(0, b.cost(sc, tile, rep)-w.cheapest)
	}
	w.held = d <= t.radius[tile].stream
	w.level = cheapest != payload.RepFull && d <= t.radius[tile].unload
	return w
}

// limits returns both distances, as the query radius where there is no
// shortage. A tile that was evicted a moment ago is never within the first.
func (a *budgetSplit) limits(query float64) (keep, detail float64) {
	keep = query
	if a.nearestEvicted <= query {
		keep = math.Nextafter(a.nearestEvicted, math.Inf(-1))
	}
	if !a.scarce {
		return keep, query
	}
	return min(a.keepDistance, keep), min(a.detailDistance, query)
}

// limitSlack returns how far d lies from the nearest of the limits, in metres:
// see scene.slack.
func (a *budgetSplit) limitSlack(d float64) float64 {
	if !a.scarce {
		return math.Inf(1)
	}
	return min(math.Abs(d-a.keepDistance), math.Abs(d-float64(a.keepDistance*keepLead)), math.Abs(d-a.detailDistance), math.Abs(d-float64(a.detailDistance*keepLead)))
}
