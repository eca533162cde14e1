package runtime

import (
	"math"
	"strings"
)

// candidate is a representation that could be loaded now.
type candidate struct {
	scene    *scene
	tile     int32
	rep      Rep
	low      bool // out of view: only for idle slots
	urgent   bool // nothing of the tile is drawn although it should be
	priority int32
	distance float64
	score    float64 // raw, then quantised by rank
	rank     int32
}

// gatherFull collects the full tiles that may be dispatched.
func (s *Streamer) gatherFull(sc *scene) {
	for _, tile := range sc.hot {
		if r := sc.recordOf(tile); s.dispatchable(r) {
			s.considerFull(sc, tile, r.actual, r.effective)
		}
	}
	for _, tile := range sc.dispatchReach() {
		if sc.tiles.record[tile] < 0 && !sc.asleep(tile) {
			actual, effective := sc.measureIdle(tile, s.cfg.DispatchEpsilon)
			s.considerFull(sc, tile, actual, effective)
		}
	}
}

// considerFull adds a tile to the candidates if the gates let it pass.
func (s *Streamer) considerFull(sc *scene, tile int32, actual, effective float64) {
	t := sc.tiles
	if actual > s.cfg.MaxQueryRadius && !t.has(tile, flagShared) || !sc.mayLoadFull(tile, sc.recordOf(tile), actual) {
		return
	}
	low := false
	switch sc.gateOf(tile, effective) {
	case gateFar:
		return
	case gateFloor:
		s.stats.TilesSkippedByFloor++
		return
	case gateInterior:
		s.stats.TilesSkippedByInterior++
		return
	case gateFrustum:
		s.stats.TilesSkippedByFrustum++
		if !s.cfg.FillIdleSlots {
			return
		}
		low = true
	}
	if actual <= t.radius[tile].stream {
		if r := sc.activate(tile); !r.seen {
			r.seen, r.seenAt = true, s.now
		}
	}
	s.candidates[classFull] = append(s.candidates[classFull], candidate{
		scene: sc, tile: tile, rep: RepFull, low: low, priority: t.priority[tile], distance: effective,
	})
}

// dispatchable reports whether the full representation of a tile is to be
// considered.
func (s *Streamer) dispatchable(r *record) bool {
	if r.full().state != TileUnloaded || r.full().held(s.now) {
		return false
	}
	return r.evicted == RepNone || r.actual <= r.scene.tiles.radius[r.tile].stream || s.budget.mayReturn(r)
}

// propose adds a level to the candidates of its class, unless memory forbids.
func (s *Streamer) propose(sc *scene, tile int32, r *record, rep Rep, d float64) {
	if r != nil {
		if rep = s.budget.admit(r, rep); rep == RepNone {
			return
		}
	}
	c := classOf(rep)
	s.candidates[c] = append(s.candidates[c], candidate{
		scene: sc, tile: tile, rep: rep, priority: sc.tiles.priority[tile], distance: d,
		urgent: r != nil && r.full().loading() && r.bare(),
	})
}

// dispatchFull starts the best full tiles, as slots, the parse budget and
// memory allow.
func (s *Streamer) dispatchFull() {
	list := s.candidates[classFull]
	slots := s.loads.freeSlots(classFull)
	s.waits[classFull] = len(list) > 0
	if len(list) == 0 || s.budget.high() {
		return
	}
	if s.outlining() {
		slots = 0
	}
	if slots <= 0 {
		s.fullBacklog = len(list)
		return
	}
	list = s.scoreFull(list)
	s.fullBacklog = max(0, len(list)-slots)
	heapOf(list)
	passed := false // over, as a smaller one may fit the parse budget
	for slots > 0 && len(list) > 0 {
		var c *candidate
		c, list = popBest(list)
		if !s.fetches && !s.loads.fitsParse(c.scene.tiles.memory[c.tile]) {
			passed = true
			continue
		}
		// What is refused gets no record for that: it may be many.
		r := c.scene.recordOf(c.tile)
		if r.awaitsOutline() {
			passed = true
			continue
		}
		if (r == nil || s.dispatchable(r)) && s.budget.admitFull(c.scene, c.tile, r) {
			s.startLoad(c.scene.activate(c.tile), RepFull)
			slots--
		}
	}
	s.waits[classFull] = passed || len(list) > 0
}

// scoreFull rates candidates by solid angle, alignment and occlusion, and
// returns those that may be loaded: a penalty of 0 is no weight but a gate, which
// keeps out what a covered region holds.
func (s *Streamer) scoreFull(list []candidate) []candidate {
	if s.cfg.EnableOcclusionSort {
		for _, sc := range s.scenes {
			s.findOccluders(sc)
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
		weight := alignment(&box, &c.scene.view, s.cfg.ViewAlignmentMinWeight)
		if s.cfg.EnableOcclusionSort {
			w, hidden := c.scene.occlusion.weight(&box, t.node[c.tile], c.distance)
			weight *= w
			if hidden {
				s.stats.TilesSkippedByHierarchy++
				if s.cfg.HierarchyOcclusionPenalty == 0 {
					continue
				}
			}
		}
		c.quantise(largest, weight, s.cfg.EnableImportanceSort)
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
func (s *Streamer) findOccluders(sc *scene) {
	o := &sc.occlusion
	o.list = o.list[:0]
	o.full, o.minimum, o.regionsPenalty = s.cfg.OcclusionFullThreshold, s.cfg.OcclusionMinWeight, s.cfg.HierarchyOcclusionPenalty
	o.view, o.regions, o.tick = &sc.view, sc.regions, s.tickCount
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
