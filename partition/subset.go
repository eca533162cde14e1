package partition

import (
	"cmp"
	"math"
	"slices"
)

// column is a cell seen from above.
type column struct{ x, z int32 }

// subset drops the tiles that the sample and the perimeter leave out, and
// lists the objects that lose all their tiles as skipped.
func (g *grid) subset(pairs []pair) []pair {
	f, depth := g.opts.SampleFraction, g.opts.PerimeterDepth
	if (f == 0 || f == 1) && depth == 0 {
		return pairs
	}
	cells := slices.CompactFunc(slices.Clone(pairs), pair.sameCell)
	if depth > 0 {
		cells = perimeter(cells, depth)
	}
	if f > 0 && f < 1 {
		cells = g.sample(cells, f)
	}
	kept := make([]pair, 0, len(pairs))
	placed := make([]bool, len(g.order)) // by rank
	for i := range pairs {
		for len(cells) > 0 && comparePairs(cells[0], pairs[i]) < 0 && !cells[0].sameCell(pairs[i]) {
			cells = cells[1:]
		}
		if len(cells) > 0 && cells[0].sameCell(pairs[i]) {
			kept = append(kept, pairs[i])
			placed[pairs[i].rank] = true
		}
	}
	for rank, i := range g.order {
		if c := &g.plan.Objects[i]; c.InTiles && !placed[rank] {
			c.InTiles = false
			g.plan.Skipped = append(g.plan.Skipped, int(i))
		}
	}
	return kept
}

// sample keeps a part of the cells, rounded up: those in a square around the
// cell of the world's origin, which grows until there are enough. The result
// is sorted like the input.
func (g *grid) sample(cells []pair, fraction float64) []pair {
	p := g.plan
	x0 := index(0, p.TileSize[0], p.Origin[0])
	z0 := index(0, p.TileSize[2], p.Origin[2])
	ring := func(c pair) int64 {
		dx, dz := int64(c.x)-int64(x0), int64(c.z)-int64(z0)
		return max(dx, -dx, dz, -dz)
	}
	byRing := slices.Clone(cells)
	slices.SortStableFunc(byRing, func(a, b pair) int { return cmp.Compare(ring(a), ring(b)) })
	n := int(math.Ceil(fraction * float64(len(cells))))
	byRing = byRing[:min(max(n, 1), len(byRing))]
	slices.SortFunc(byRing, comparePairs)
	return byRing
}

// perimeter keeps the cells within depth rings of the outside, seen from
// above: ring 1 are those that lack one of their four neighbours.
func perimeter(cells []pair, depth int) []pair {
	const unreached = math.MaxInt
	ring := make(map[column]int, len(cells))
	for _, c := range cells {
		ring[column{c.x, c.z}] = unreached
	}
	var front []column
	for _, c := range cells {
		col := column{c.x, c.z}
		for _, n := range neighbours(col) {
			if _, ok := ring[n]; !ok && ring[col] == unreached {
				ring[col] = 1
				front = append(front, col)
			}
		}
	}
	for r := 2; r <= depth && len(front) > 0; r++ {
		var next []column
		for _, col := range front {
			for _, n := range neighbours(col) {
				if ring[n] == unreached {
					ring[n] = r
					next = append(next, n)
				}
			}
		}
		front = next
	}
	return slices.DeleteFunc(cells, func(c pair) bool { return ring[column{c.x, c.z}] == unreached })
}

func neighbours(c column) [4]column {
	return [4]column{{c.x - 1, c.z}, {c.x + 1, c.z}, {c.x, c.z - 1}, {c.x, c.z + 1}}
}
