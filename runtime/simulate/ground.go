package simulate

import (
	"math"

	"github.com/untoldkit/untold/manifest"
)

// Ground is about how high the ground of a scene lies, as far as the boxes of its tiles
// tell: at a corner of the grid as high as the lowest point of the highest of the tiles
// there, and linear between corners. On a slope that is the ground; the top of a hill
// within one tile is not seen. Nil is flat.
type Ground struct {
	origin, step [2]float64 // of the corners along x and z, metres
	corners      [2]int
	heights      []float64 // above the lowest tile, metres, row by row along x
}

// mostCorners bounds what a manifest makes a Ground allocate.
const mostCorners = 1 << 20

// GroundOf looks at the tiles of a grid of which each has its cell; of other scenes the
// ground is flat. Where several tiles lie above each other the lowest one counts.
func GroundOf(m *manifest.Manifest) *Ground {
	if m.PartitioningMode != manifest.ModeUniformGrid || m.TileSize == nil || !(m.TileSize.X > 0 && m.TileSize.Z > 0) {
		return nil
	}
	g := &Ground{origin: [2]float64{math.Inf(1), math.Inf(1)}, step: [2]float64{m.TileSize.X, m.TileSize.Z}}
	end, bottom := [2]float64{math.Inf(-1), math.Inf(-1)}, math.Inf(1)
	for i := range m.Tiles {
		t := &m.Tiles[i]
		if t.CellBounds == nil {
			return nil
		}
		for k, axis := range [2]int{0, 2} {
			g.origin[k] = min(g.origin[k], t.CellBounds.Min[axis])
			end[k] = max(end[k], t.CellBounds.Min[axis])
		}
		bottom = min(bottom, t.Bounds.Min[1])
	}
	for k := range g.corners {
		n := math.Round((end[k] - g.origin[k]) / g.step[k])
		if !(n >= 0 && n < mostCorners) { // none, or not finite
			return nil
		}
		g.corners[k] = int(n) + 2
	}
	if g.corners[0] > mostCorners/g.corners[1] || math.IsInf(bottom, 0) || math.IsNaN(bottom) {
		return nil
	}
	low := make([]float64, g.corners[0]*g.corners[1]) // of the cell that begins at a corner
	for i := range low {
		low[i] = math.Inf(1)
	}
	for i := range m.Tiles {
		t := &m.Tiles[i]
		x := int(math.Round((t.CellBounds.Min[0] - g.origin[0]) / g.step[0]))
		z := int(math.Round((t.CellBounds.Min[2] - g.origin[1]) / g.step[1]))
		at := x + z*g.corners[0]
		low[at] = min(low[at], t.Bounds.Min[1]-bottom)
	}
	g.heights = make([]float64, len(low))
	for z := range g.corners[1] {
		for x := range g.corners[0] {
			h := &g.heights[x+z*g.corners[0]]
			for _, d := range [4][2]int{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
				if x >= d[0] && z >= d[1] {
					if v := low[x-d[0]+(z-d[1])*g.corners[0]]; !math.IsInf(v, 1) {
						*h = max(*h, v)
					}
				}
			}
		}
	}
	return g
}

// at is how high the ground lies above the lowest tile, metres.
func (g *Ground) at(x, z float64) float64 {
	if g == nil || g.heights == nil {
		return 0
	}
	var cell [2]int
	var part [2]float64
	for k, v := range [2]float64{x, z} {
		v = min(max((v-g.origin[k])/g.step[k], 0), float64(g.corners[k]-1))
		cell[k] = min(int(v), g.corners[k]-2)
		part[k] = v - float64(cell[k])
	}
	row := func(z int) float64 {
		a, b := g.heights[cell[0]+z*g.corners[0]], g.heights[cell[0]+1+z*g.corners[0]]
		return a + float64((b-a)*part[0])
	}
	a, b := row(cell[1]), row(cell[1]+1)
	return a + float64((b-a)*part[1])
}

// flat tells whether the ground is nowhere higher than elsewhere.
func (g *Ground) flat() bool {
	if g == nil {
		return true
	}
	for _, h := range g.heights {
		if h != 0 {
			return false
		}
	}
	return true
}
