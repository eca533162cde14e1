package partition

import (
	"cmp"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// FloorMethod says how the floors were found.
type FloorMethod uint8

// The methods.
const (
	FloorsNone      FloorMethod = iota // no floors, as in grids
	FloorsGiven                        // by the options
	FloorsOutdoor                      // one floor, by the profile
	FloorsSlabs                        // by the heights of slabs
	FloorsMedian                       // by the median height of objects
	FloorsAnnotated                    // by the annotations
)

var floorMethodNames = [...]string{"none", "given", "outdoor", "slabs", "median", "annotated"}

// String returns a lower-case word for reports.
func (m FloorMethod) String() string {
	if int(m) < len(floorMethodNames) {
		return floorMethodNames[m]
	}
	return "unknown"
}

// FloorInfo says which floors a plan has.
type FloorInfo struct {
	Method FloorMethod
	Count  int
	// BandHeight is the height of a floor in metres; with FloorsSlabs the mean
	// distance of the slabs.
	BandHeight float64
	// Base is added to a floor's index, counted from 0 at the bottom, to give
	// Tile.Floor: 0, with Compat 1.
	Base int
	// Slabs holds the levels that were found, ascending: the heights of their
	// tops above world zero. It is empty with other methods.
	Slabs []SlabLevel
}

// SlabLevel is a height at which slabs lie.
type SlabLevel struct {
	Top   float64 // metres, the mean weighted by area
	Area  float64 // of all the slabs' footprints, square metres
	Count int     // objects
}

// What counts as a slab, in metres and square metres, and as a floor.
const (
	slabMaxHeight      = 0.6  // of a box that is taken for a slab by its shape
	slabMaxNamedHeight = 1.5  // of one that is called floor or slab
	slabMinSide        = 1.0  // both sides
	slabMinArea        = 4.0  // by shape
	slabFlatness       = 0.2  // height over the shorter side
	slabBin            = 0.25 // of the histogram of tops
	slabMinShare       = 0.25 // of the largest level's area, or of what is built above the lowest one
	minStorey          = 2.0  // between levels, and under the scene's top
	slabReach          = 0.5  // a floor starts this far below its slab's top
	maxSlabLevels      = 256
)

// floorCutter tells floors by height.
type floorCutter struct {
	info   FloorInfo
	bottom float64
	starts []float64 // of the floors above the first; nil: bands of equal height
}

// index returns the floor of an object by the height of its middle, from 0.
func (f *floorCutter) index(height float64) int {
	if f.info.Method == FloorsSlabs {
		n, found := slices.BinarySearch(f.starts, height)
		if found {
			n++
		}
		return n
	}
	i := math.Floor((height - f.bottom) / f.info.BandHeight)
	return int(min(max(i, 0), float64(f.info.Count-1)))
}

// cutFloors finds the floors (facts/manifest.md section 2.7, and the heights
// of slabs). profile is what is known at this point.
func (r *floorRun) cutFloors(profile string) *floorCutter {
	scene := r.plan.SceneBounds
	f := &floorCutter{bottom: scene.Min[1]}
	height := max(scene.Max[1]-scene.Min[1], .001)
	f.info = FloorInfo{Method: FloorsGiven, Count: r.opts.FloorCount, BandHeight: r.opts.FloorBandHeight}
	if r.opts.Compat {
		f.info.Base = 1
	}
	i := &f.info
	switch {
	case i.Count > 0 && i.BandHeight > 0:
	case i.Count > 0:
		i.BandHeight = height / float64(i.Count)
	case i.BandHeight > 0:
		i.Count = floorCount(height, i.BandHeight)
	case profile == ProfileOutdoor:
		i.Method, i.Count, i.BandHeight = FloorsOutdoor, 1, height
	default:
		if !r.opts.Compat {
			if levels := r.slabLevels(); len(levels) > 0 {
				f.bySlabs(levels, height)
				return f
			}
		}
		i.Method, i.BandHeight = FloorsMedian, r.medianStorey()
		i.Count = floorCount(height, i.BandHeight)
	}
	return f
}

func floorCount(height, band float64) int {
	return int(min(max(math.Ceil(height/band), 1), maxFloors))
}

func (f *floorCutter) bySlabs(levels []SlabLevel, height float64) {
	f.info.Method, f.info.Count, f.info.Slabs = FloorsSlabs, len(levels), levels
	f.info.BandHeight = height
	if n := len(levels); n > 1 {
		f.info.BandHeight = (levels[n-1].Top - levels[0].Top) / float64(n-1)
	}
	for _, l := range levels[1:] {
		f.starts = append(f.starts, l.Top-slabReach)
	}
}

// medianStorey is the reference's guess at the height of a storey: the median
// height of the objects between 1.8 and 5 m.
func (r *floorRun) medianStorey() float64 {
	var heights []float64
	for _, i := range r.order {
		b := r.objects[i].Box
		if h := b.Max[1] - b.Min[1]; !b.IsEmpty() && h >= 1.8 && h <= 5 {
			heights = append(heights, h)
		}
	}
	if len(heights) == 0 {
		return 3.5
	}
	slices.Sort(heights)
	return min(max(heights[len(heights)/2], 2.5), 5)
}

// slab is the top of an object that people may stand on.
type slab struct{ top, area float64 }

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
			out = append(out, slab{b.Max[1], area})
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
func (r *floorRun) slabPeaks() (peaks []SlabLevel) {
	all := r.slabs()
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
	peaks := r.slabPeaks()
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
	return levels
}
