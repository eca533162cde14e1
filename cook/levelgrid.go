package cook

import (
	"math"

	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
)

// What is coarse needs no places to a fraction of a millimetre: those of a level lie on a grid
// as fine as a small part of what is seen of its error. Numbers that end in zeros take fewer
// bytes: of levels, and of nodes, an eighth in differences, and some percent in LZ4. A coarser
// grid saves little more, and layers that lie apart by less than a step come to lie in one
// plane. Nodes get a finer part: their errors are those of whole blocks.
const (
	levelGridParts = 512
	nodeGridParts  = 1024

	// nodeDirectionBits are how many of the 10 bits of each part of a normal or tangent of a node
	// go: as many as leave it of unit length, which readers check, and off by half a degree.
	nodeDirectionBits = 2
)

// gridStep is the distance between two places of a grid: a power of two, at most one of so
// many parts of an error; 0 without an error.
func gridStep(err float64, parts int) float64 {
	if !(err > 0) || math.IsInf(err, 1) {
		return 0
	}
	_, e := math.Frexp(err / float64(parts))
	return math.Ldexp(1, e-1)
}

// gridError is how far a grid moves a place at most.
func gridError(step float64) float64 { return float64(math.Sqrt(3) / 2 * step) }

// toGrid moves the positions of a mesh to a grid. What lies in a side of one of the boxes
// stays: neighbours have the same places there, whatever their errors. So nothing else comes
// to lie in one.
func toGrid(m *mesh.Mesh, step float64, boxes ...geom.Box) {
	if step == 0 {
		return
	}
	var planes [3]map[float32]bool
	for axis := range planes {
		planes[axis] = map[float32]bool{}
		for i := range boxes {
			planes[axis][float32(boxes[i].Min[axis])] = true
			planes[axis][float32(boxes[i].Max[axis])] = true
		}
	}
	inSide := func(p *geom.Vec3) bool {
		return planes[0][float32(p[0])] || planes[1][float32(p[1])] || planes[2][float32(p[2])]
	}
	for i := range m.Positions {
		p := &m.Positions[i]
		if inSide(p) {
			continue
		}
		at := geom.Vec3{}
		for axis, c := range p {
			at[axis] = math.RoundToEven(c/step) * step
		}
		if !inSide(&at) {
			*p = at
		}
	}
}
