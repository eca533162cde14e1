package geom

// stray is the part of all weight that may lie beyond each side of the bulk.
const stray = 0.02

// Bulk returns the box of what carries almost all of the weight: along each axis
// the outermost boxes are left out at either end as long as they weigh no more
// than a fiftieth of all together. That is the box of all of them unless it is
// more than twice as wide, so that a plane under everything, or something far
// away, does not count. Boxes that are empty or not finite are left out;
// without any weight all weigh the same.
func Bulk(boxes []Box, weights []float64) Box {
	all, total := EmptyBox(), 0.0
	var used []int
	for i, b := range boxes {
		if b.IsEmpty() || !b.Size().IsFinite() || !b.Min.IsFinite() || !(weights[i] >= 0) {
			continue
		}
		used, all, total = append(used, i), all.Union(b), total+weights[i]
	}
	bulk := all
	if total == 0 {
		return all
	}
	order := make(ranking, len(used))
	for axis := range 3 {
		end := func(coord func(i int) float64) float64 {
			for k, i := range used {
				order[k] = ranked{coord(i), i}
			}
			return order.reach(weights, float64(total*stray))
		}
		bulk.Min[axis] = end(func(i int) float64 { return boxes[i].Min[axis] })
		bulk.Max[axis] = -end(func(i int) float64 { return -boxes[i].Max[axis] })
	}
	width := func(b Box) float64 { return max(b.Size()[0], b.Size()[1], b.Size()[2]) }
	if bulk.IsEmpty() || width(all) <= 2*width(bulk) {
		return all
	}
	return bulk
}

// ranked is a box by where one of its sides is.
type ranked struct {
	at    float64
	index int
}

func (a ranked) before(b ranked) bool { return a.at < b.at || a.at == b.at && a.index < b.index }

// ranking becomes a heap: of all boxes few are passed until the weight is reached, and the
// others need no order.
type ranking []ranked

// reach passes boxes in their order until they weigh more than most, and returns where the
// last one is.
func (h ranking) reach(weights []float64, most float64) float64 {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
	for sum := 0.0; ; {
		first := h[0]
		if sum += weights[first.index]; sum > most || len(h) == 1 {
			return first.at
		}
		last := len(h) - 1
		h[0] = h[last]
		h = h[:last]
		h.sink(0)
	}
}

func (h ranking) sink(i int) {
	for {
		next := 2*i + 1
		if next >= len(h) {
			return
		}
		if right := next + 1; right < len(h) && h[right].before(h[next]) {
			next = right
		}
		if !h[next].before(h[i]) {
			return
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
}
