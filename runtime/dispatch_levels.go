package runtime

// dispatchLevels starts the best levels of one class and returns how many are
// left over.
func (s *Streamer) dispatchLevels(c class) int {
	list := s.candidates[c]
	slots := s.loads.freeSlots(c)
	if len(list) > slots && (slots > 0 || s.windowed) {
		s.scoreLevels(list)
	}
	if slots > 0 {
		heapOf(list)
	}
	for slots > 0 && len(list) > 0 {
		var best *candidate
		best, list = popBest(list)
		r := best.scene.activate(best.tile)
		// Others may have taken the room, so that a smaller one has to do.
		if rep := s.budget.admit(r, best.rep); rep != RepNone && s.loads.freeSlots(classOf(rep)) > 0 {
			s.startLoad(r, rep)
			if classOf(rep) == c {
				slots--
			}
		}
	}
	if s.windowed {
		s.keepBest(c, list)
	}
	s.waits[c] = s.waits[c] || len(list) > 0
	return len(list)
}

// scoreLevels rates candidates by solid angle and alignment.
func (s *Streamer) scoreLevels(list []candidate) {
	largest := 0.0
	for i := range list {
		c := &list[i]
		c.score = solidAngle(&c.scene.tiles.box[c.tile], &c.scene.view, c.distance)
		largest = max(largest, c.score)
	}
	for i := range list {
		c := &list[i]
		weight := alignment(&c.scene.tiles.box[c.tile], &c.scene.view, s.cfg.ViewAlignmentMinWeight)
		c.quantise(largest, weight, s.cfg.EnableImportanceSort)
	}
}
