package cook

import (
	"math"

	"github.com/untoldkit/untold/cook/internal/border"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/partition"
)

// cutCells returns what the tiles of a grid are cut to; nil where nothing is cut.
func (c *scenePlan) cutCells() []*border.Cell {
	if !c.opts.Clip || c.opts.hasFloors() {
		return nil
	}
	beside, alone := c.besides()
	out := make([]*border.Cell, len(beside))
	for i := range out {
		out[i] = &border.Cell{
			Box: c.planned.Tiles[i].Cell, Width: min(c.planned.TileSize[0], c.planned.TileSize[2]), Beside: beside[i], Alone: alone[i],
		}
	}
	return out
}

// besides returns for each tile of a grid, and each side of its cell, about how many
// triangles the smaller of the two cells has that meet there. It follows from where the
// scene's objects are, so that each of both tiles finds the same, also when only some
// tiles are cooked. Alone are sides beyond which there is no other cell.
func (c *scenePlan) besides() (beside [][6]float64, alone [][6]bool) {
	shared := make(map[int]bool, len(c.planned.Shared))
	for _, o := range c.planned.Shared {
		shared[o] = true
	}
	has := map[[3]int]float64{}
	for i := range c.planned.Objects {
		o := &c.planned.Objects[i]
		if o.Export == partition.ExportSkipped || shared[i] {
			continue
		}
		lo, hi := o.Cells.Min, o.Cells.Max
		cells := 1.0
		for k := range lo {
			cells *= float64(hi[k]-lo[k]) + 1
		}
		each := float64(c.objects[i].triangles) / cells
		for x := lo[0]; x <= hi[0]; x++ {
			for y := lo[1]; y <= hi[1]; y++ {
				for z := lo[2]; z <= hi[2]; z++ {
					has[[3]int{int(x), int(y), int(z)}] += each
				}
			}
		}
	}
	tiles := c.planned.Tiles
	beside, alone = make([][6]float64, len(tiles)), make([][6]bool, len(tiles))
	for i := range tiles {
		own := about(has[tiles[i].Coord])
		for side := range beside[i] {
			at := tiles[i].Coord
			step := side%2*2 - 1
			if side/2 == 2 { // these count along -Z
				step = -step
			}
			at[side/2] += step
			n, ok := has[at]
			if beside[i][side] = own; ok {
				beside[i][side] = min(own, about(n))
			}
			alone[i][side] = !ok
		}
	}
	return beside, alone
}

// about rounds to a power of two: a tile is to stay as it is when something small comes
// or goes beside it.
func about(n float64) float64 {
	part, exp := math.Frexp(n) // part is from 0.5 to 1
	if part < math.Sqrt2/2 {
		exp--
	}
	if part == 0 {
		return 0
	}
	return math.Ldexp(1, exp)
}

// labels tells the materials of a tile's groups apart, as in all tiles.
func (b *tileBuilder) labels(src *levelSource) []int32 {
	out := make([]int32, len(src.names))
	for g := range src.names {
		k := src.names[g].material
		if b.classes != nil {
			k = b.classes[k]
		}
		out[g] = int32(k)
	}
	return out
}

// locked marks the vertices that stay because a neighbour has them, too.
func (x *levelChain) locked(m *simplify.Mesh) []bool {
	if x.edge != nil {
		return x.edge.Locked(m)
	}
	return lockedIn(m, x.places, x.cell)
}

// gapPixels is how large gaps at the border may be where a level begins.
const gapPixels = 1.0 / 8

// leastGap is how deep the gaps beside a level are that are closed, metres. What is seen
// of its error decides where it begins, unless that is given.
func (x *levelChain) leastGap(l *level, seen float64) float64 {
	if x.opts.FitDistances {
		return seen / x.opts.LODErrorPixels * gapPixels
	}
	return float64(l.distance*x.opts.pixelAngle()) * gapPixels
}

// gapsOf is how many triangles close the gaps beside a level.
func (x *levelChain) gapsOf(l *level, r *reduced) (int, error) {
	if x.opts.FitDistances {
		if err := x.judge(r); err != nil {
			return 0, err
		}
	}
	return x.edge.Skirts(r.mesh, x.leastGap(l, max(x.seen, r.seen))), nil
}

// close returns the mesh of a level as it is written.
func (x *levelChain) close(l *level, r *reduced) *simplify.Mesh {
	if x.edge == nil {
		return r.mesh
	}
	return x.edge.Close(r.mesh, x.leastGap(l, l.seen))
}
