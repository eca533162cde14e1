package partition

import (
	"maps"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// The defaults of TileGoal.
const (
	DefaultTileTriangles = 50_000
	DefaultMaxTiles      = 2000
	// wholeTiles is how many times its goal a single tile may hold, and the
	// fullest one of several.
	wholeTiles = 4
)

// TileGoal says how large tiles should be.
type TileGoal struct {
	// Triangles of a tile, on the average over the triangles; 0 is 50,000. A
	// scene of up to four times as many is one tile, and no tile should hold
	// more than that.
	Triangles int
	// MaxTiles bounds the number of tiles, unless one of them would hold more
	// than four times the goal; 0 is 2000.
	MaxTiles int
}

func (g TileGoal) withDefaults() TileGoal {
	if g.Triangles <= 0 {
		g.Triangles = DefaultTileTriangles
	}
	if g.MaxTiles <= 0 {
		g.MaxTiles = DefaultMaxTiles
	}
	return g
}

// tileSteps are the sides that are tried, times powers of two: their planes are
// exact in single precision.
var tileSteps = [...]float64{1, 1.25, 1.5, 1.75}

// FitTileSize returns the side in metres of square tiles, with an origin at the
// scene's corner, that hold about as many triangles as wanted. An object's
// triangles count for the cells that its box overlaps, evenly. It takes
// O(n log n) for every side that is tried, some dozens at most.
func FitTileSize(objects []Object, goal TileGoal) float64 {
	goal = goal.withDefaults()
	loads, scene, total := loadsOf(objects)
	if scene.IsEmpty() {
		return DefaultTileSide
	}
	size := scene.Size()
	longest := max(size[0], size[2], 1e-2) // all of it may be at one place
	side := stepAbove(longest)
	if total <= wholeTiles*goal.Triangles {
		// What is flat and stands on the far edge of the scene belongs to the
		// cell behind it when the edge is a border of cells.
		if loads.at(side).tiles > 1 {
			side = stepAbove(math.Nextafter(side, math.Inf(1)))
		}
		return side
	}
	for now := loads.at(side); ; {
		finer := stepBelow(side)
		if finer < longest/maxCellsAcross {
			return side
		}
		next := loads.at(finer)
		crowded := now.fullest > float64(wholeTiles*goal.Triangles)
		switch {
		case crowded && next.fullest < now.fullest:
		case next.tiles > goal.MaxTiles:
			return side
		case now.typical <= float64(goal.Triangles):
			return side
		}
		side, now = finer, next
	}
}

// maxCellsAcross ends the search: finer tiles would not make it better.
const maxCellsAcross = 1 << 12

// stepAbove returns the smallest side that is no less than v.
func stepAbove(v float64) float64 {
	_, exp := math.Frexp(v) // v < 2^exp
	for _, s := range tileSteps {
		if side := math.Ldexp(s, exp-1); side >= v {
			return side
		}
	}
	return math.Ldexp(1, exp)
}

// stepBelow returns the next smaller side.
func stepBelow(side float64) float64 {
	frac, exp := math.Frexp(side) // side = 2 frac * 2^(exp-1)
	for i := len(tileSteps) - 1; i >= 0; i-- {
		if tileSteps[i] < 2*frac {
			return math.Ldexp(tileSteps[i], exp-1)
		}
	}
	return math.Ldexp(tileSteps[len(tileSteps)-1], exp-2)
}

// load is how triangles share the cells of one size.
type load struct {
	tiles   int
	fullest float64
	typical float64 // of the tile that a triangle is in, on the average
}

// groundLoads are objects with triangles on the ground of the grid.
type groundLoads struct {
	list    []groundLoad
	lo, far geom.Vec3 // of the scene, along u, h, v
}

// groundLoad is an object from where to where it reaches: see indexEnds.
type groundLoad struct {
	x, z      [2]float64
	triangles int
}

// loadsOf returns the objects that count, the scene's box and all triangles.
func loadsOf(objects []Object) (out groundLoads, scene geom.Box, triangles int) {
	out.list, scene = make([]groundLoad, 0, len(objects)), geom.EmptyBox()
	for i := range objects {
		o := &objects[i]
		if o.Box.IsEmpty() || checkBox(o) != nil {
			continue
		}
		scene = scene.Union(o.Box)
		if triangles += o.Triangles; o.Triangles == 0 {
			continue
		}
		var l groundLoad
		lo, hi := toGrid(o.Box)
		l.x[0], l.x[1] = indexEnds(lo[0], hi[0])
		l.z[0], l.z[1] = indexEnds(lo[2], hi[2])
		l.triangles = o.Triangles
		out.list = append(out.list, l)
	}
	out.lo, out.far = toGrid(scene)
	return out, scene, triangles
}

// at counts with cells of one side. An object over more cells than spread is taken to be
// even over the whole of them and left out of the count.
func (g *groundLoads) at(side float64) load {
	const spread = 1 << 14
	cells := newCellLoads(g.lo, g.far, side, len(g.list))
	for i := range g.list {
		l := &g.list[i]
		x0, x1 := index(l.x[0], side, g.lo[0]), index(l.x[1], side, g.lo[0])
		z0, z1 := index(l.z[0], side, g.lo[2]), index(l.z[1], side, g.lo[2])
		if x0 == x1 && z0 == z1 { // as most
			cells.add(x0, z0, float64(l.triangles))
			continue
		}
		n := (float64(x1) - float64(x0) + 1) * (float64(z1) - float64(z0) + 1)
		if n > spread {
			continue
		}
		each := float64(l.triangles) / n
		for z := z0; z <= z1; z++ {
			for x := x0; x <= x1; x++ {
				cells.add(x, z, each)
			}
		}
	}
	var out load
	sum, squares := 0.0, 0.0
	// In order: sums depend on it in the last bit.
	for _, n := range cells.sorted() {
		out.tiles++
		out.fullest = max(out.fullest, n)
		sum += n
		squares += float64(n * n)
	}
	if sum > 0 {
		out.typical = squares / sum
	}
	return out
}

// cellLoads are the triangles of cells: of all that there are, where these are few beside the
// objects, else of those that have some.
type cellLoads struct {
	width  int
	dense  []float64
	sparse map[[2]int32]float64 // nil with dense
}

// newCellLoads makes room for what lies in a box on the grid.
func newCellLoads(lo, hi geom.Vec3, side float64, objects int) *cellLoads {
	x, z := index(hi[0], side, lo[0]), index(hi[2], side, lo[2])
	n := (float64(x) + 1) * (float64(z) + 1)
	if n > 1024+float64(4*float64(objects)) {
		return &cellLoads{sparse: map[[2]int32]float64{}}
	}
	return &cellLoads{width: int(x) + 1, dense: make([]float64, int(n))}
}

func (c *cellLoads) add(x, z int32, triangles float64) {
	if c.sparse != nil {
		c.sparse[[2]int32{x, z}] += triangles
	} else {
		c.dense[int(z)*c.width+int(x)] += triangles
	}
}

// sorted returns the loads of cells that have some, and ends the counting.
func (c *cellLoads) sorted() []float64 {
	if c.sparse != nil {
		return slices.Sorted(maps.Values(c.sparse))
	}
	used := slices.DeleteFunc(c.dense, func(n float64) bool { return n == 0 })
	slices.Sort(used)
	return used
}
