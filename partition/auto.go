package partition

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// What AutoTileSize aims at.
const (
	autoMaxTiles   = 2000
	autoMaxObjects = 32 // per tile
	autoMinSide    = 5.0
	autoMaxSide    = 100_000.0
	autoRounds     = 8
	autoSafety     = 1.05
)

// AutoTileSize returns a tile side in metres that gives at most 2000 tiles of
// at most 32 objects, or comes near, between 5 m and 100 km. Objects count for
// the tile of their box's middle. Empty and broken boxes do not count.
func AutoTileSize(objects []Object) float64 {
	scene := geom.EmptyBox()
	middles := make([][2]float64, 0, len(objects)) // along u, v
	for i := range objects {
		b := objects[i].Box
		if b.IsEmpty() || checkBox(&objects[i]) != nil {
			continue
		}
		scene = scene.Union(b)
		c := b.Center()
		middles = append(middles, [2]float64{c[0], -c[2]})
	}
	size := scene.Size()
	wanted := min(autoMaxTiles, math.Ceil(float64(len(middles))/autoMaxObjects))
	side := clampSide(math.Sqrt(float64(size[0]*size[2]) / max(wanted, 1)))
	cells := make([][2]int64, len(middles))
	for range autoRounds {
		tiles, fullest := occupancy(scene, middles, cells, side)
		tilesOver := float64(tiles) / autoMaxTiles
		objectsOver := float64(fullest) / autoMaxObjects
		if tilesOver <= 1 && objectsOver <= 1 {
			break
		}
		next := side
		if objectsOver > 1 && (tilesOver <= 1 || objectsOver > tilesOver) {
			next /= math.Sqrt(max(objectsOver, 1.0001)) * autoSafety
		} else {
			next *= math.Sqrt(max(tilesOver, 1.0001)) * autoSafety
		}
		next = clampSide(next)
		if math.Abs(next-side) <= 1e-6 {
			break
		}
		side = next
	}
	return side
}

func clampSide(v float64) float64 { return max(autoMinSide, min(autoMaxSide, v)) }

// occupancy counts the tiles with objects and the objects of the fullest one.
// cells is scratch memory, as long as middles.
func occupancy(scene geom.Box, middles [][2]float64, cells [][2]int64, side float64) (tiles, fullest int) {
	lo, _ := toGrid(scene)
	origin := [2]float64{snapDown(lo[0], side), snapDown(lo[2], side)}
	for i, m := range middles {
		for a := range 2 {
			// Scenes may be far larger than 2^63 tiles.
			cells[i][a] = int64(min(max(math.Floor((m[a]-origin[a])/side), -1<<62), 1<<62))
		}
	}
	slices.SortFunc(cells, func(a, b [2]int64) int {
		switch {
		case a[0] != b[0] && a[0] < b[0], a[0] == b[0] && a[1] < b[1]:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	for from := 0; from < len(cells); {
		to := from
		for to < len(cells) && cells[to] == cells[from] {
			to++
		}
		tiles++
		fullest = max(fullest, to-from)
		from = to
	}
	return tiles, fullest
}
