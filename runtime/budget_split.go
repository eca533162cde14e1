package runtime

import (
	"math"
	"time"
)

// The allowance shares out a geometry budget that does not hold all that the
// distances of the tiles ask for. Nearest first every tile is granted its
// cheapest representation, its floor, then what its distance asks for instead.
// The first limit is the reach: beyond it nothing is kept. The second is the
// detail: beyond it floors are all there is. What is drawn goes only when its
// floor can be drawn, so that no tile within reach is left bare.

// share is how much of its wishes a tile is granted.
type grant uint8

const (
	grantAll      grant = iota // what its distance asks for
	grantCheapest              // its cheapest representation
	grantNothing
)

// The parts of the room below the high-water mark that are shared out, the rest
// being for what is exchanged, and that floors leave to details.
const (
	splitPart  = 0.95
	detailPart = 0.4
)

// allotmentLead is how much farther away than the limit a tile keeps its share,
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

// allowance is how far the geometry budget goes, in metres of the scenes.
type budgetSplit struct {
	scarce                       bool // else everything is granted, and the limits mean nothing
	keepDistance, detailDistance float64
	nearestEvicted               float64 // the nearest tile that was given up a moment ago
	split                        bool    // worked out at the time for the budget that follow
	splitAt                      time.Duration
	budget                       int64
	steps                        [splitSteps]demand
}

// demand is what tiles at one distance cost, in bytes.
type demand struct {
	cheapest, extra float64
	held            bool // some is never given up: see firstHeld
	level           bool // some floor is a level of a tile in range, which may use the whole budget
}

// grant returns the share of a tile at a distance that had another one before.
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

// allot works the limits out, once geometry comes near the low-water mark, and
// goes on until everything fits again.
func (b *geometryBudget) splitBudget() {
	a := &b.split
	budget := float64(b.memory.GeometryBudget)
	if budget <= 0 || b.cfg.Handoff == HandoffStrict ||
		!a.scarce && float64(b.used()+b.pending) < b.cfg.LowWaterMark*budget {
		b.setLimits(false, math.Inf(1), math.Inf(1))
		return
	}
	if a.split && b.memory.GeometryBudget == a.budget && b.now-a.splitAt < b.updateInterval {
		return
	}
	a.split, a.budget, a.splitAt = true, b.memory.GeometryBudget, b.now
	clear(a.steps[:])
	floors, extras, meshes := 0.0, 0.0, 0.0
	for _, sc := range b.scenes {
		for _, tile := range sc.query.tiles {
			w := b.demandOf(sc, tile)
			if w.cheapest+w.extra+w.meshes == 0 {
				continue
			}
			floors, extras, meshes = floors+w.cheapest, extras+w.extra, meshes+w.meshes
			d := &a.steps[stepOf(w.near)]
			d.cheapest += w.cheapest
			d.held = d.held || w.held
			d.level = d.level || w.level
			a.steps[stepOf(w.far)].extra += w.extra
		}
	}
	room := float64(splitPart*b.cfg.HighWaterMark*budget) - float64(b.memory.GeometryUsed)
	if floors+extras+meshes <= room {
		b.setLimits(false, math.Inf(1), math.Inf(1))
		return
	}
	reach, floors := a.extend(room-min(float64(detailPart*room), extras), budget-float64(b.memory.GeometryUsed))
	left, last := room-meshes-floors, 0
	for last < splitSteps && left >= a.steps[last].extra {
		left -= a.steps[last].extra
		last++
	}
	b.setLimits(true, reach, min(reach, stepFrom(last)))
}

// extend returns how far floors may take so many bytes, those of levels in range
// up to the whole budget, and what they take.
func (a *budgetSplit) extend(room, budget float64) (reach, floors float64) {
	first := true
	for i := range a.steps {
		d := &a.steps[i]
		sum := floors + d.cheapest
		if d.cheapest > 0 && !(sum <= room || d.level && sum <= budget || first && d.held) {
			return stepFrom(i), floors
		}
		first = first && d.cheapest == 0
		floors = sum
	}
	return math.Inf(1), floors
}

// setLimits takes over new limits. All tiles near have to look at them, so small
// changes wait until they add up.
func (b *geometryBudget) setLimits(scarce bool, reach, detail float64) {
	a := &b.split
	const worth = 0.02
	same := func(x, y float64) bool { return x == y || math.Abs(x-y) <= worth*min(x, y) }
	if scarce == a.scarce && same(reach, a.keepDistance) && same(detail, a.detailDistance) {
		return
	}
	a.scarce, a.keepDistance, a.detailDistance = scarce, reach, detail
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

// wish is what one tile asks for, in bytes.
type tileDemand struct {
	cheapest, extra float64
	meshes          float64 // of a tile that streams mesh by mesh: admitted one by one
	near, far       float64 // distances by which floor and extra are ranked
	held, level     bool    // see demand
}

func (b *geometryBudget) demandOf(sc *scene, tile int32) (w tileDemand) {
	t := sc.tiles
	d := t.box[tile].Distance(sc.view.pos)
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
	if rep == RepNone {
		return w
	}
	floor := sc.cheapestRep(tile)
	if rep == RepFull && sc.ownsMeshes(tile, r) {
		if r != nil {
			w.meshes = float64(r.full().geometry)
		}
		if floor != RepFull {
			w.cheapest = b.cost(sc, tile, floor)
		}
	} else {
		w.cheapest = b.cost(sc, tile, floor)
		w.extra = max(0, b.cost(sc, tile, rep)-w.cheapest)
	}
	w.held = d <= t.radius[tile].stream
	w.level = floor != RepFull && d <= t.radius[tile].unload
	return w
}

// limits returns reach and detail, those of no shortage at the query radius.
// What was given up a moment ago is never within reach.
func (a *budgetSplit) limits(query float64) (reach, detail float64) {
	reach = query
	if a.nearestEvicted <= query {
		reach = math.Nextafter(a.nearestEvicted, math.Inf(-1))
	}
	if !a.scarce {
		return reach, query
	}
	return min(a.keepDistance, reach), min(a.detailDistance, query)
}

// limitSlack is slack for the limits of the allowance.
func (a *budgetSplit) limitSlack(d float64) float64 {
	if !a.scarce {
		return math.Inf(1)
	}
	return min(math.Abs(d-a.keepDistance), math.Abs(d-float64(a.keepDistance*keepLead)), math.Abs(d-a.detailDistance), math.Abs(d-float64(a.detailDistance*keepLead)))
}
