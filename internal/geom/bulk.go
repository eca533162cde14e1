package geom

import (
	"cmp"
	"slices"
)

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
	for axis := range 3 {
		end := func(coord func(i int) float64) float64 {
			slices.SortFunc(used, func(a, b int) int {
				return cmp.Or(cmp.Compare(coord(a), coord(b)), cmp.Compare(a, b))
			})
			sum := 0.0
			for _, i := range used {
				if sum += weights[i]; sum > float64(total*stray) {
					return coord(i)
				}
			}
			return coord(used[len(used)-1])
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
