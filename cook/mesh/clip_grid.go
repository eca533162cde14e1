package mesh

import (
	"sort"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/partition"
)

// ClipGrid is a box of cells that Split cuts a mesh into. The axes are those
// of the partition's grid: u is X, h is Y and v is -Z.
type ClipGrid struct {
	// Planes are the positions of the planes between cells along u, h and v,
	// in metres, ascending: n planes make n+1 cells, 0 to n. The first cell
	// has no plane below it and the last none above it.
	Planes [3][]float64
}

// NewClipGrid returns the planes between the cells of a range, in the numbers
// of Plan.Cell: tiles that are neighbours get the same plane, bit for bit.
// Cell (0, 0, 0) of the grid is the cell r.Min of the plan. The range's outer
// planes are left out because objects may stick out of them; see
// partition.Classification.
func NewClipGrid(p *partition.Plan, r partition.CellRange) ClipGrid {
	var g ClipGrid
	for axis := range 3 {
		first, last := int(r.Min[axis]), int(r.Max[axis])
		if last <= first {
			continue
		}
		g.Planes[axis] = make([]float64, 0, last-first)
		for k := first + 1; k <= last; k++ {
			var coord [3]int
			coord[axis] = k
			low := p.Cell(coord).Min[axis]
			if axis == 2 {
				// v runs against Z: the cell's low plane is at its largest Z.
				low = 0 - p.Cell(coord).Max[axis]
			}
			g.Planes[axis] = append(g.Planes[axis], low)
		}
	}
	return g
}

// along returns a coordinate in the axes of a ClipGrid.
func along(p *geom.Vec3, axis int) float64 {
	if axis == 2 {
		return -p[2]
	}
	return p[axis]
}

// span returns the first and the last cell along an axis that a triangle has
// a part in. hint is a cell that is likely.
func (g *ClipGrid) span(axis int, m *Mesh, t [3]uint32, hint int) (first, last int) {
	if len(g.Planes[axis]) == 0 {
		return 0, 0
	}
	lo := along(&m.Positions[t[0]], axis)
	hi := lo
	for _, v := range t[1:] {
		lo, hi = widen(lo, hi, along(&m.Positions[v], axis))
	}
	return cellSpan(g.Planes[axis], lo, hi, hint)
}

// cellSpan returns the first and the last cell that [lo, hi] has a part in. A
// cell is closed at its low plane and open at the other; an interval that ends
// in a plane has no part in the cell above it.
func cellSpan(planes []float64, lo, hi float64, hint int) (first, last int) {
	if (hint == 0 || planes[hint-1] <= lo) && (hint == len(planes) || hi < planes[hint]) {
		return hint, hint
	}
	first = sort.Search(len(planes), func(i int) bool { return planes[i] > lo })
	last = first + sort.Search(len(planes)-first, func(i int) bool { return planes[first+i] >= hi })
	return first, last
}

// cellOfAll returns the cell that holds all positions, if one does.
func (g *ClipGrid) cellOfAll(m *Mesh) (cell [3]int, ok bool) {
	if len(g.Planes[0])+len(g.Planes[1])+len(g.Planes[2]) == 0 {
		return cell, true
	}
	lo := m.Positions[0]
	hi := lo
	for i := range m.Positions {
		p := &m.Positions[i]
		lo[0], hi[0] = widen(lo[0], hi[0], p[0])
		lo[1], hi[1] = widen(lo[1], hi[1], p[1])
		lo[2], hi[2] = widen(lo[2], hi[2], p[2])
	}
	lo[2], hi[2] = -hi[2], -lo[2] // from Z to v
	for axis, planes := range g.Planes {
		first, last := cellSpan(planes, lo[axis], hi[axis], 0)
		if first != last {
			return cell, false
		}
		cell[axis] = first
	}
	return cell, true
}

// widen returns an interval that also holds x. Comparisons are several times
// as fast as min and max here.
func widen(lo, hi, x float64) (float64, float64) {
	if x < lo {
		lo = x
	}
	if x > hi {
		hi = x
	}
	return lo, hi
}
