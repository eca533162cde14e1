package cook

import "github.com/untoldkit/untold/cook/simplify"

// besides returns for each tile of a grid, and each side of its cell, about how many
// triangles the smaller of the two tiles has that meet there. It follows from the plan,
// so that each of them finds the same.
func (c *scenePlan) besides() [][6]float64 {
	tiles := c.planned.Tiles
	in := make([]float64, len(c.objects)) // tiles that have the object
	for i := range tiles {
		for _, o := range tiles[i].Objects {
			in[o]++
		}
	}
	has := make(map[[3]int]float64, len(tiles))
	for i := range tiles {
		for _, o := range tiles[i].Objects {
			has[tiles[i].Coord] += float64(c.objects[o].triangles) / in[o]
		}
	}
	out := make([][6]float64, len(tiles))
	for i := range tiles {
		own := has[tiles[i].Coord]
		for side := range out[i] {
			at := tiles[i].Coord
			step := side%2*2 - 1
			if side/2 == 2 { // these count along -Z
				step = -step
			}
			at[side/2] += step
			out[i][side] = own
			if n, ok := has[at]; ok {
				out[i][side] = min(own, n)
			}
		}
	}
	return out
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
