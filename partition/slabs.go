package partition

import (
	"cmp"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// slab is the top of an object that people may stand on.
type slab struct {
	top, area float64 // metres, square metres
	min, max  [2]float64
}

// slabs lists the objects that are flat and wide, or called so, by height.
// Ceilings and roofs are left out, for nobody lives above them.
func (r *floorRun) slabs() []slab {
	var out []slab
	for _, i := range r.order {
		b := r.objects[i].Box
		words := r.words[i]
		if b.IsEmpty() || words&bitOver != 0 {
			continue
		}
		d := b.Size()
		side, area := min(d[0], d[2]), float64(d[0]*d[2])
		named := words&bitSlab != 0 && d[1] <= slabMaxNamedHeight
		shaped := d[1] <= slabMaxHeight && area >= slabMinArea
		if (named || shaped) && side >= slabMinSide && d[1] <= slabFlatness*side {
			out = append(out, slab{b.Max[1], area, [2]float64{b.Min[0], b.Min[2]}, [2]float64{b.Max[0], b.Max[2]}})
		}
	}
	// Equal slabs are interchangeable, so this order is the same for any input.
	slices.SortFunc(out, func(a, b slab) int { return cmp.Or(cmp.Compare(a.top, b.top), cmp.Compare(a.area, b.area)) })
	return out
}

// builtArea is the footprint of all that has its middle a storey or more
// above a height: of the buildings, without the ground around them.
func (r *floorRun) builtArea(height float64) float64 {
	built := geom.EmptyBox()
	for _, i := range r.order {
		if b := r.objects[i].Box; !b.IsEmpty() && middle(b.Min[1], b.Max[1]) >= height+minStorey {
			built = built.Union(b)
		}
	}
	if built.IsEmpty() {
		return math.Inf(1)
	}
	size := built.Size()
	return float64(size[0] * size[2])
}

// slabPeaks returns the peaks of the histogram of the slabs' tops by height.
func slabPeaks(all []slab) (peaks []SlabLevel) {
	for from := 0; from < len(all); {
		// A bin starts at a slab, not at a multiple of its width, so that a
		// scene that is moved up keeps its floors.
		var l SlabLevel
		var moment float64
		base := all[from].top
		for ; from < len(all) && all[from].top-base <= slabBin; from++ {
			l.Area += all[from].area
			moment += float64((all[from].top - base) * all[from].area)
			l.Count++
		}
		l.Top = base + moment/l.Area
		peaks = append(peaks, l)
	}
	return peaks
}

// slabLevels finds the floors' heights: the peaks with the largest areas come
// first; a lesser one must have a quarter of the largest's area, or of what is
// built, and be a storey away from the others and from the scene's top.
func (r *floorRun) slabLevels() []SlabLevel {
	all := r.slabs()
	peaks := slabPeaks(all)
	if len(peaks) == 0 {
		return nil
	}
	built := r.builtArea(peaks[0].Top)
	slices.SortStableFunc(peaks, func(a, b SlabLevel) int { return cmp.Compare(b.Area, a.Area) })
	least := slabMinShare * min(peaks[0].Area, built)
	var levels []SlabLevel // sorted by height
	for _, p := range peaks {
		if p.Area < least || len(levels) >= maxSlabLevels {
			break
		}
		if len(peaks) > 1 && r.plan.SceneBounds.Max[1]-p.Top < minStorey {
			continue
		}
		at, _ := slices.BinarySearchFunc(levels, p.Top, func(l SlabLevel, top float64) int { return cmp.Compare(l.Top, top) })
		below := at == 0 || p.Top-levels[at-1].Top >= minStorey
		above := at == len(levels) || levels[at].Top-p.Top >= minStorey
		if below && above {
			levels = slices.Insert(levels, at, p)
		}
	}
	return stackedLevels(levels, all)
}

// stackedLevels drops the levels that do not lie above lower ones for the
// greater part: pavements on a hill are beside each other, storeys are not.
func stackedLevels(levels []SlabLevel, all []slab) []SlabLevel {
	if len(levels) < 2 {
		return levels
	}
	c := newCover(all)
	out := levels[:0:0]
	for _, l := range levels {
		var own []slab
		over := 0.0
		first, _ := slices.BinarySearchFunc(all, l.Top-slabBin, func(s slab, top float64) int { return cmp.Compare(s.top, top) })
		for last := first; last < len(all) && all[last].top <= l.Top+slabBin; last++ {
			own = all[first : last+1]
		}
		area := 0.0
		for i := range own {
			area += own[i].area
			over += float64(own[i].area * c.share(&own[i]))
		}
		if len(out) == 0 || over >= slabMinOver*area {
			out = append(out, l)
			c.add(own)
		}
	}
	return out
}

// coverSide is the number of cells along each side of a cover.
const coverSide = 128

// cover is a raster over the slabs' footprints that tells what is built below.
type cover struct {
	min, cell [2]float64
	count     []int32 // of slabs, by cell
	sum       []int32 // of covered cells with smaller or equal indices
}

func newCover(all []slab) *cover {
	lo, hi := all[0].min, all[0].max
	for _, s := range all {
		for a := range 2 {
			lo[a], hi[a] = min(lo[a], s.min[a]), max(hi[a], s.max[a])
		}
	}
	c := &cover{min: lo, count: make([]int32, coverSide*coverSide), sum: make([]int32, (coverSide+1)*(coverSide+1))}
	for a := range 2 {
		c.cell[a] = (hi[a] - lo[a]) / coverSide
	}
	return c
}

// span returns the cells whose middles lie within a slab, at least one.
func (c *cover) span(s *slab, axis int) (from, to int) {
	at := func(x float64) int {
		if !(c.cell[axis] > 0) {
			return 0
		}
		return int(min(max(math.Floor((x-c.min[axis])/c.cell[axis]+0.5), 0), coverSide))
	}
	from, to = at(s.min[axis]), at(s.max[axis])
	from = min(from, coverSide-1)
	return from, max(to, from+1)
}

// add covers the footprints of slabs.
func (c *cover) add(slabs []slab) {
	// Differences first, so that a slab costs the same whatever its size.
	var diff [(coverSide + 1) * (coverSide + 1)]int32
	const row = coverSide + 1
	for i := range slabs {
		x0, x1 := c.span(&slabs[i], 0)
		z0, z1 := c.span(&slabs[i], 1)
		diff[z0*row+x0]++
		diff[z0*row+x1]--
		diff[z1*row+x0]--
		diff[z1*row+x1]++
	}
	for z := range coverSide {
		for x := range coverSide {
			at := z*row + x
			if x > 0 {
				diff[at] += diff[at-1]
			}
			if z > 0 {
				diff[at] += diff[at-row]
			}
			if x > 0 && z > 0 {
				diff[at] -= diff[at-row-1]
			}
			if diff[at] > 0 {
				c.count[z*coverSide+x]++
			}
			covered := int32(0)
			if c.count[z*coverSide+x] > 0 {
				covered = 1
			}
			c.sum[(z+1)*row+x+1] = covered + c.sum[z*row+x+1] + c.sum[(z+1)*row+x] - c.sum[z*row+x]
		}
	}
}

// share returns which part of a slab's footprint is covered, 0 to 1.
func (c *cover) share(s *slab) float64 {
	const row = coverSide + 1
	x0, x1 := c.span(s, 0)
	z0, z1 := c.span(s, 1)
	n := c.sum[z1*row+x1] - c.sum[z0*row+x1] - c.sum[z1*row+x0] + c.sum[z0*row+x0]
	return float64(n) / float64((x1-x0)*(z1-z0))
}
