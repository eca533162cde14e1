package bake

import (
	"cmp"
	"slices"
)

// skyline is what is taken of a square from below: steps from the left to the right,
// beside one another. What lies under a step and is empty is lost.
type skyline struct {
	side  int
	steps []step
}

type step struct{ x, y, w int }

func newSkyline(side int) *skyline { return &skyline{side, []step{{0, 0, side}}} }

// put finds the place of a rectangle whose corner is at multiples of so many texels: the
// lowest, of these the one that loses least, and takes it. It reports false where there is
// none.
func (s *skyline) put(w, h, align int) (x, y int, ok bool) {
	lost := 0
	for i := range s.steps {
		at := up(s.steps[i].x, align)
		if at+w > s.side {
			break
		}
		if at >= s.steps[i].x+s.steps[i].w { // the next step has that place
			continue
		}
		floor, under := 0, 0
		over := s.steps[i:]
		for k := 0; k < len(over) && over[k].x < at+w; k++ {
			floor = max(floor, over[k].y)
		}
		if floor = up(floor, align); floor+h > s.side || ok && floor > y {
			continue
		}
		for k := 0; k < len(over) && over[k].x < at+w; k++ {
			t := &over[k]
			under += (min(at+w, t.x+t.w) - max(at, t.x)) * (floor - t.y)
		}
		if !ok || floor < y || under < lost {
			x, y, lost, ok = at, floor, under, true
		}
	}
	if ok {
		s.take(x, y+h, w)
	}
	return x, y, ok
}

// take raises the skyline to a height between x and x+w.
func (s *skyline) take(x, y, w int) {
	i, _ := slices.BinarySearchFunc(s.steps, x+1, func(t step, x int) int { return cmp.Compare(t.x, x) })
	i-- // the step that x lies on
	j := i
	for s.steps[j].x+s.steps[j].w < x+w {
		j++
	}
	now := make([]step, 0, 3)
	if first := s.steps[i]; first.x < x {
		now = append(now, step{first.x, first.y, x - first.x})
	}
	now = append(now, step{x, y, w})
	if last := s.steps[j]; last.x+last.w > x+w {
		now = append(now, step{x + w, last.y, last.x + last.w - x - w})
	}
	s.steps = slices.Replace(s.steps, i, j+1, now...)
	// Neighbours of one height are one step.
	for k := max(1, i); k < len(s.steps) && k <= i+len(now); {
		if s.steps[k].y == s.steps[k-1].y {
			s.steps[k-1].w += s.steps[k].w
			s.steps = slices.Delete(s.steps, k, k+1)
		} else {
			k++
		}
	}
}

// up returns the first multiple of align that is not below a number.
func up(v, align int) int { return (v + align - 1) / align * align }
