package runtime

import (
	"math"
	"strings"

	"github.com/untoldkit/untold/runtime/payload"
)

// candidate is a representation that could be loaded now.
type candidate struct {
	scene    *scene
	tile     int32
	rep      payload.Rep
	low      bool // out of view: only for idle slots
	urgent   bool // nothing of the tile is drawn although it should be
	priority int32
	distance float64
	score    float64 // raw, then quantised by rank
	rank     int32
	seen     int32 // doublings of what is seen of the error in its place, see seenOf
}

// gatherFull collects the full tiles that may be dispatched.
func (sel *selector) gatherFull(sc *scene) {
	for _, tile := range sc.nearActive {
		if r := sc.recordOf(tile); sel.dispatchable(r) {
			sel.considerFull(sc, tile, r.actual, r.effective)
		}
	}
	for _, tile := range sc.dispatchNearby() {
		if sc.tiles.record[tile] < 0 && !sc.asleep(tile) {
			actual, effective := sc.measureIdle(tile, sel.cfg.DispatchEpsilon)
			sel.considerFull(sc, tile, actual, effective)
		}
	}
}

// considerFull decides whether a full tile may be loaded: it lies within
// range, its grant allows it, and all gates let it pass. Then it is a
// candidate.
func (sel *selector) considerFull(sc *scene, tile int32, actual, effective float64) {
	t := sc.tiles
	if actual > sel.cfg.MaxQueryRadius && !t.has(tile, flagShared) || !sc.grantsFull(tile, sc.recordOf(tile), actual) {
		return
	}
	low := false
	switch sc.gateOf(tile, effective) {
	case gateFar:
		return
	case gateFloor:
		sel.count.skippedByFloor++
		return
	case gateInterior:
		sel.count.skippedByInterior++
		return
	case gateFrustum:
		sel.count.skippedByFrustum++
		if !sel.cfg.FillIdleSlots {
			return
		}
		low = true
	}
	if sc.postpones(tile) {
		return
	}
	if actual <= t.radius[tile].stream {
		if r := sc.activate(tile); !r.seen {
			r.seen, r.seenAt = true, sel.now
		}
	}
	sel.candidates[classFull] = append(sel.candidates[classFull], candidate{
		scene: sc, tile: tile, rep: payload.RepFull, low: low, priority: t.priority[tile], distance: effective,
		seen: sc.refinement.seenOf(sc, tile, sc.recordOf(tile), effective),
	})
}

// dispatchable reports whether the full representation of a tile with a record
// may be requested: it is not there or on its way, and was not evicted a
// moment ago.
func (sel *selector) dispatchable(r *record) bool {
	if r.full().state != TileUnloaded || r.full().inEvictionHold(sel.now) {
		return false
	}
	return r.evicted == payload.RepNone || r.actual <= r.scene.tiles.radius[r.tile].stream || sel.budget.mayReturn(r)
}

// dispatchFull starts the best full tiles. Free slots, the parse budget and
// mayLoadFull decide how many.
func (sel *selector) dispatchFull() {
	list := sel.candidates[classFull]
	slots := sel.loads.freeSlots(classFull)
	sel.waits[classFull] = len(list) > 0
	if len(list) == 0 || sel.budget.high() {
		return
	}
	if sel.outlining() {
		slots = 0
	}
	if slots <= 0 {
		sel.fullBacklog = len(list)
		return
	}
	list = sel.scoreFull(list)
	sel.fullBacklog = max(0, len(list)-slots)
	heapOf(list)
	passed := false // a candidate was passed over: a smaller one may fit
	for slots > 0 && len(list) > 0 {
		var c *candidate
		c, list = popBest(list)
		if !sel.fetches && !sel.loads.fitsParse(c.scene.tiles.memory[c.tile]) {
			passed = true
			continue
		}
		// A tile that is refused gets no record: there may be thousands.
		r := c.scene.recordOf(c.tile)
		if r.awaitsOutline() {
			passed = true
			continue
		}
		if (r == nil || sel.dispatchable(r)) && sel.budget.mayLoadFull(c.scene, c.tile, r) {
			sel.residency.start(c.scene.activate(c.tile), payload.RepFull)
			slots--
		}
	}
	sel.waits[classFull] = passed || len(list) > 0
}

// scoreFull rates candidates by solid angle, alignment and occlusion, and
// returns those that may be loaded. hierarchyOcclusionPenalty 0 is a gate
// rather than a weight: it keeps out what lies in a covered region.
func (sel *selector) scoreFull(list []candidate) []candidate {
	if sel.cfg.EnableOcclusionSort {
		for _, sc := range sel.scenes {
			sc.findOccluders()
		}
	}
	largest := 0.0
	for i := range list {
		c := &list[i]
		box := clip(c.scene.tiles.box[c.tile], c.scene.bounds)
		c.score = solidAngle(&box, &c.scene.view, c.distance)
		largest = max(largest, c.score)
	}
	open := list[:0]
	for i := range list {
		c := &list[i]
		t := c.scene.tiles
		box := clip(t.box[c.tile], c.scene.bounds)
		weight := alignment(&box, &c.scene.view, sel.cfg.ViewAlignmentMinWeight)
		if sel.cfg.EnableOcclusionSort {
			w, hidden := c.scene.occlusion.weight(&box, t.node[c.tile], c.distance)
			weight *= w
			if hidden {
				sel.count.skippedByHierarchy++
				if sel.cfg.HierarchyOcclusionPenalty == 0 {
					continue
				}
			}
		}
		c.quantise(largest, weight, sel.cfg.EnableImportanceSort)
		open = append(open, *c)
	}
	return open
}

// quantise turns the score into steps that compare transitively.
func (c *candidate) quantise(largest, weight float64, importance bool) {
	if !importance {
		c.score = 1
	} else if largest > 0 {
		c.score /= largest
	}
	c.score *= weight
	c.rank = int32(math.Round(c.score / scoreStep))
}

// findOccluders lists the parsed tiles of a scene that may hide others.
func (sc *scene) findOccluders() {
	o := &sc.occlusion
	o.list = o.list[:0]
	o.full, o.minimum, o.regionsPenalty = sc.cfg.OcclusionFullThreshold, sc.cfg.OcclusionMinWeight, sc.cfg.HierarchyOcclusionPenalty
	o.view, o.regions, o.tick = &sc.view, sc.regions, sc.tickCount
	if !sc.view.lens {
		return
	}
	for _, tile := range sc.active {
		r := sc.recordOf(tile)
		if !r.full().resident() {
			continue
		}
		box := clip(sc.tiles.box[tile], sc.bounds)
		if f, ok := sc.view.footprint(&box, false); ok {
			o.list = append(o.list, occluder{sc.tiles.box[tile].Distance(sc.view.pos), tile, f.mask()})
		}
	}
	o.sort()
}

// before orders candidates: in view, priority, urgency, score, distance, id.
// It is a strict total order, so no two runs differ.
func (c *candidate) before(o *candidate) bool {
	switch {
	case c.low != o.low:
		return o.low
	case c.priority != o.priority:
		return c.priority > o.priority
	case c.urgent != o.urgent:
		return c.urgent
	case c.seen != o.seen:
		return c.seen > o.seen
	case c.rank != o.rank:
		return c.rank > o.rank
	case c.distance != o.distance:
		return c.distance < o.distance
	}
	if by := strings.Compare(c.scene.tiles.id[c.tile], o.scene.tiles.id[o.tile]); by != 0 {
		return by < 0
	}
	if c.scene != o.scene {
		return c.scene.id < o.scene.id
	}
	return c.tile < o.tile
}
