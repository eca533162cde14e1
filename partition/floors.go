package partition

import (
	"math"
	"slices"
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
	slabMinOver        = 0.5  // of a level's area must lie above lower levels
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

// cutFloors finds the floors by the heights of slabs. profile is what is known at this point.
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
