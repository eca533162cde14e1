package runtime

import (
	"math"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// The tiles' distances may ask for more than the geometry budget holds. Then the
// budget is split: every tile is granted its cheapest representation, the nearest
// first, and what is left goes to finer ones. Two limits follow. Beyond the keep
// distance nothing is kept. The stretch is how many times as far away as they are
// tiles count, by one metre more, when they choose between their levels: so what would
// be seen of the error of a level decides who is granted the next finer one. A drawn
// tile is downgraded only once its successor can be drawn, so none disappears.
//
// Nodes of a pyramid are levels, too: with the stretch a node is open only nearer to the
// camera, and what opening it costs, its children and the cheapest representations of
// tiles among them, is weighed against finer levels elsewhere. Only roots are left out.

// grant is how much of what its distance asks for a tile may have.
type grant uint8

const (
	grantAll  grant = iota // what its distance asks for
	grantLess              // nothing finer than a representation that the stretch says
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
	scarce         bool // else everything is granted, and the limits mean nothing
	keepDistance   float64
	stretch        float64 // least one at which the next finer level is granted: 0 all are, infinite none is
	detailDistance float64 // of the nearest tile that is granted less than it asks for
	reserve        float64 // bytes that the largest exchange for something cheaper needs
	nearestEvicted float64 // distance of the nearest tile all of which was evicted a moment ago
	split          bool    // limits were worked out, at splitAt for budget
	splitAt        time.Duration
	budget         int64
	steps          [splitSteps]demand       // by distance
	detail         [splitSteps]detailDemand // by stretch
	frame          frameBudget
}

// demand is what the cheapest representations of tiles at one distance cost.
type demand struct {
	cheapest float64 // bytes
	held     bool    // some tile lies within its streaming radius: the nearest such is always granted
	level    bool    // the cheapest representation of some tile in range is a level, which may use the whole budget
}

// detailDemand is what finer representations cost at one stretch.
type detailDemand struct {
	bytes   float64
	nearest float64 // metres: the nearest tile
}

// keeps reports whether a tile at a distance is granted anything. One that has
// something keeps it a little beyond the limit.
func (a *budgetSplit) keeps(d float64, had bool) bool {
	limit := a.keepDistance
	if had {
		limit *= keepLead
	}
	return !(d > limit)
}

// stretchOf returns the stretch up to which a level that begins at from does not do at
// distance d. What a tile has counts as a little nearer.
func stretchOf(from, d float64, had bool) float64 {
	s := from / (1 + d)
	if had {
		s *= keepLead
	}
	return s
}

// splitBudget works the limits out, at most once per updateInterval. It begins
// when geometry comes near the low-water mark or something found no room, and ends
// when everything fits again.
func (b *geometryBudget) splitBudget() {
	a := &b.split
	budget := float64(b.memory.GeometryBudget)
	if budget <= 0 || b.cfg.Handoff == config.HandoffStrict ||
		!a.scarce && !b.refused && float64(b.used()+b.pending) < b.cfg.LowWaterMark*budget {
		b.plenty()
		return
	}
	if a.split && b.memory.GeometryBudget == a.budget && b.now-a.splitAt < b.updateInterval {
		return
	}
	a.split, a.budget, a.splitAt = true, b.memory.GeometryBudget, b.now
	cheapest, extras, meshes := b.sumDemand()
	others := float64(b.memory.GeometryUsed)
	for _, sc := range b.scenes {
		others += float64(sc.rootBytes())
	}
	room := float64(splitPart*b.cfg.HighWaterMark*budget) - others
	if cheapest+extras+meshes <= room {
		b.plenty()
		return
	}
	for _, sc := range b.scenes {
		sc.lookAround()
	}
	forDetail := min(float64(detailPart*room), extras)
	keep, cheapest := a.extend(room-forDetail, budget-others)
	left := room - meshes - cheapest
	if !math.IsInf(keep, 1) { // or detail would come and go with each tile more that is kept
		left = min(left, forDetail)
	}
	b.sumDetail(keep)
	stretch, detail := a.detailFor(left)
	b.setLimits(true, keep, stretch, min(keep, detail))
	b.findReserve()
}

// findReserve works out how much room the largest exchange needs that is due.
func (b *geometryBudget) findReserve() {
	b.split.reserve = 0
	for _, sc := range b.scenes {
		if ref := sc.refinement; ref != nil {
			for i := range ref.nodes {
				row := ref.first + int32(i)
				if ref.nodes[i].closesLate(sc) && !sc.recordOf(row).rep(payload.RepHLOD).resident() {
					b.split.reserve = max(b.split.reserve, b.cost(sc, row, payload.RepHLOD))
				}
			}
		}
		for _, tile := range sc.active {
			if r := sc.recordOf(tile); r.mustStepDown() {
				b.split.reserve = max(b.split.reserve, b.cost(sc, tile, sc.cheapestRep(tile)))
			}
		}
	}
}

// sumDemand adds up what the tiles near ask for, the cheapest representations by
// distance.
func (b *geometryBudget) sumDemand() (cheapest, extras, meshes float64) {
	a := &b.split
	clear(a.steps[:])
	for _, sc := range b.scenes {
		b.climbNodes(sc, func(_, bytes float64) { extras += bytes })
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
		}
	}
	return cheapest, extras, meshes
}

// sumDetail adds up by stretch what tiles within the keep distance ask for beyond
// their cheapest representations.
func (b *geometryBudget) sumDetail(keep float64) {
	a := &b.split
	for i := range a.detail {
		a.detail[i] = detailDemand{nearest: math.Inf(1)}
	}
	for _, sc := range b.scenes {
		b.climbNodes(sc, func(stretch, bytes float64) { a.detail[stepOf(stretch)].bytes += bytes })
		for _, tile := range sc.query.tiles {
			w := b.demandOf(sc, tile)
			if w.extra == 0 || w.near > keep && !w.hangs {
				continue
			}
			b.climb(sc, tile, &w, func(stretch, bytes float64) {
				d := &a.detail[stepOf(stretch)]
				d.bytes += bytes
				d.nearest = min(d.nearest, w.distance)
			})
		}
	}
}

// detailFor returns the least stretch at which so many bytes hold all finer
// representations, and how far away the nearest tile is that is granted less.
func (a *budgetSplit) detailFor(left float64) (stretch, detail float64) {
	k := splitSteps
	for k > 0 && left >= a.detail[k-1].bytes {
		k--
		left -= a.detail[k].bytes
	}
	detail = math.Inf(1)
	for i := range a.detail[:k] {
		detail = min(detail, a.detail[i].nearest)
	}
	if k == splitSteps {
		return math.Inf(1), detail
	}
	return stepFrom(k), detail
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

// plenty ends the shortage.
func (b *geometryBudget) plenty() {
	for _, sc := range b.scenes {
		sc.sight.forget()
	}
	b.setLimits(false, math.Inf(1), 0, math.Inf(1))
	b.split.reserve = 0
}

// setLimits takes over new limits and wakes all tiles near, for each has to
// compare its distance. Therefore small changes wait until they add up.
func (b *geometryBudget) setLimits(scarce bool, keep, stretch, detail float64) {
	a := &b.split
	a.detailDistance = detail
	if scarce == a.scarce && sameLimit(keep, a.keepDistance) && sameLimit(stretch, a.stretch) {
		return
	}
	a.scarce, a.keepDistance, a.stretch = scarce, keep, stretch
	for _, sc := range b.scenes {
		sc.judgeAnew()
	}
}

// sameLimit reports whether a change of a limit is too small to wake all tiles for.
func sameLimit(x, y float64) bool {
	const worth = 0.02
	return x == y || math.Abs(x-y) <= worth*min(x, y)
}

// judgeAnew wakes all tiles near in the middle of a tick.
func (sc *scene) judgeAnew() {
	sc.awake = sc.awake[:0]
	for _, tile := range sc.active {
		sc.include(tile)
	}
	for _, tile := range sc.query.tiles {
		sc.tiles.wake[tile] = math.Inf(-1)
	}
}

// tileDemand is what one tile asks for, in bytes.
type tileDemand struct {
	cheapest, extra float64
	meshes          float64 // of a tile that streams mesh by mesh: what it has, for its meshes are admitted one by one
	distance, near  float64 // near is the one by which cheapest is ranked
	held, level     bool    // see demand
	hangs           bool    // it lies below a node
	opens           float64 // stretch up to which that is open
	first           float64 // the cheapest representation of such a tile, which is part of extra

	from, to payload.Rep // extra is for those finer than from up to to
	has      payload.Rep // the finest that it is granted now
}

func (b *geometryBudget) demandOf(sc *scene, tile int32) (w tileDemand) {
	t := sc.tiles
	d := distanceTo(&t.box[tile], &sc.view.pos)
	if w.opens, w.hangs = sc.refinement.opensAbove(tile); w.hangs && w.opens == 0 {
		return w
	}
	if d > b.cfg.MaxQueryRadius && !t.has(tile, flagShared) {
		return w
	}
	r := sc.recordOf(tile)
	w.distance, w.near = d, d
	if r != nil && r.grant != grantNothing {
		w.near, w.has = d/keepLead, r.finest
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
		w.from, w.to = cheapest, rep
		b.climb(sc, tile, &w, func(_, bytes float64) { w.extra += bytes })
	}
	if w.hangs {
		w.first, w.cheapest = w.cheapest, 0
		w.extra += w.first
	}
	w.held = !w.hangs && d <= t.radius[tile].stream
	w.level = !w.hangs && cheapest != payload.RepFull && d <= t.radius[tile].unload
	return w
}

// climbNodes calls f for each node that its error asks to be open, with the stretch up to
// which it is, and the bytes of the nodes below it. A broken one is open at any stretch.
func (b *geometryBudget) climbNodes(sc *scene, f func(stretch, bytes float64)) {
	ref := sc.refinement
	if ref == nil {
		return
	}
	for i := range ref.nodes {
		n, opens := &ref.nodes[i], ref.nodes[i].opens
		if n.broken {
			opens = math.Inf(1)
		}
		if opens == 0 {
			continue
		}
		bytes := 0.0
		for _, row := range n.children {
			if row >= ref.first {
				bytes += b.cost(sc, row, payload.RepHLOD)
			}
		}
		f(opens, bytes)
	}
}

// climb calls f for each representation finer than the cheapest up to what a tile
// asks for, with the stretch up to which it is granted and the bytes that it takes
// more than those before. Of a tile below a node the cheapest is the first.
func (b *geometryBudget) climb(sc *scene, tile int32, w *tileDemand, f func(stretch, bytes float64)) {
	most := math.Inf(1) // stretch
	if w.hangs {
		most = w.opens
		if w.first > 0 {
			f(most, w.first)
		}
	}
	if !isFiner(w.to, w.from) {
		return
	}
	begins, held := math.Inf(1), b.cost(sc, tile, w.from)
	for rep := w.from; rep != w.to; {
		begins = min(begins, sc.tiles.begin(tile, rep))
		rep = sc.tiles.finer(tile, rep)
		cost := b.cost(sc, tile, rep)
		f(min(most, sc.stretchOf(tile, begins, w.distance, w.has == rep || isFiner(w.has, rep))), max(0, cost-held))
		held = max(held, cost)
	}
}

// leastStretch returns the least stretch at which something of the scene is granted its
// next finer level: 0 all are, infinite none is.
func (sc *scene) leastStretch() float64 {
	least := 0.0
	if sc.budget.scarce {
		least = sc.budget.stretch
	}
	if sc.refinement != nil {
		least = max(least, sc.budget.frame.stretch)
	}
	if sc.drafts() {
		least = max(least, sc.refinement.draft.stretch())
	}
	return least
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

// limitSlack returns how far a tile's distance d lies from the nearest of the limits,
// in metres: see scene.slack.
func (sc *scene) limitSlack(tile int32, d float64) float64 {
	a, least, m := sc.budget, sc.leastStretch(), math.Inf(1)
	if a.scarce {
		m = min(math.Abs(d-a.keepDistance), math.Abs(d-float64(a.keepDistance*keepLead)))
	}
	if !(least > 0) || math.IsInf(least, 1) {
		return m
	}
	levels := sc.tiles.levels[sc.tiles.levelAt[tile]:sc.tiles.levelAt[tile+1]]
	for i := range levels {
		at := float64(levels[i].from*sc.detailOf(tile)) / least
		m = min(m, math.Abs(1+d-at), math.Abs(1+d-float64(at*keepLead)))
	}
	return m
}
