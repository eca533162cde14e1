package runtime

// dispatchLevels starts the best levels of one class and returns how many are
// left over.
func (s *Streamer) dispatchLevels(c class) int {
	list := s.candidates[c]
	slots := s.freeSlots(c)
	if len(list) == 0 || slots <= 0 {
		return len(list)
	}
	if len(list) > slots {
		s.scoreLevels(list)
	}
	for ; slots > 0 && len(list) > 0; slots-- {
		at := 0
		for i := range list {
			if list[i].before(&list[at]) {
				at = i
			}
		}
		s.startLoad(list[at].scene.activate(list[at].tile), list[at].rep)
		list[at] = list[len(list)-1]
		list = list[:len(list)-1]
	}
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
