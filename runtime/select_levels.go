package runtime

import "github.com/untoldkit/untold/runtime/payload"

// dispatchLevels starts the best levels of one class and returns how many are
// left over.
func (sel *selector) dispatchLevels(c class) int {
	list := sel.candidates[c]
	slots := sel.loads.freeSlots(c)
	if len(list) > slots && (slots > 0 || sel.windowed) {
		sel.scoreLevels(list)
	}
	if slots > 0 {
		heapOf(list)
	}
	for slots > 0 && len(list) > 0 {
		var best *candidate
		best, list = popBest(list)
		r := best.scene.activate(best.tile)
		// Candidates before this one may have taken the room for all but a cheaper level.
		if rep := sel.budget.mayLoadLevel(r, best.rep); rep != payload.RepNone && sel.loads.freeSlots(classOf(rep)) > 0 {
			sel.residency.start(r, rep)
			if classOf(rep) == c {
				slots--
			}
		}
	}
	if sel.windowed {
		sel.keepBest(c, list)
	}
	sel.waits[c] = sel.waits[c] || len(list) > 0
	return len(list)
}

// scoreLevels rates candidates by solid angle and alignment.
func (sel *selector) scoreLevels(list []candidate) {
	largest := 0.0
	for i := range list {
		c := &list[i]
		c.score = solidAngle(&c.scene.tiles.box[c.tile], &c.scene.view, c.distance)
		largest = max(largest, c.score)
	}
	for i := range list {
		c := &list[i]
		weight := alignment(&c.scene.tiles.box[c.tile], &c.scene.view, sel.cfg.ViewAlignmentMinWeight)
		c.quantise(largest, weight, sel.cfg.EnableImportanceSort)
	}
}

// propose adds a level to the candidates of its class, unless memory forbids.
func (sel *selector) propose(sc *scene, tile int32, r *record, rep payload.Rep, d float64) {
	if sc.postpones(tile) && !(sc.budget.scarce && r != nil && r.relieves(rep)) {
		return
	}
	if r != nil {
		if rep = sel.budget.mayLoadLevel(r, rep); rep == payload.RepNone {
			return
		}
	}
	c := classOf(rep)
	sel.candidates[c] = append(sel.candidates[c], candidate{
		scene: sc, tile: tile, rep: rep, priority: sc.tiles.priority[tile], distance: d,
		urgent: r != nil && r.full().loading() && r.nothingDrawn(),
		seen:   sc.refinement.seenOf(sc, tile, r, d),
	})
}
