package border

import (
	"cmp"

	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// sides is how many a cell has: two across each axis, the lower one first.
const sides = 6

// planeOf returns where a side of a cell lies, as positions are stored: in single
// precision.
func planeOf(cell *geom.Box, side int) float32 {
	if side%2 == 1 {
		return float32(cell.Max[side/2])
	}
	return float32(cell.Min[side/2])
}

// sidesOf returns on which sides of a cell positions lie: bit k for side k.
func sidesOf(positions []geom.Vec3, cell *geom.Box) []uint8 {
	on := make([]uint8, len(positions))
	for side := range sides {
		plane := planeOf(cell, side)
		for i := range positions {
			if float32(positions[i][side/2]) == plane {
				on[i] |= 1 << side
			}
		}
	}
	return on
}

// DropFlat removes triangles two of whose corners are at one place.
func DropFlat(m *simplify.Mesh) {
	Keep(m, func(t int) bool {
		i := m.Indices[3*t : 3*t+3]
		a, b, c := m.Positions[i[0]], m.Positions[i[1]], m.Positions[i[2]]
		return a != b && b != c && c != a
	})
}

// Keep leaves a mesh the triangles that stay.
func Keep(m *simplify.Mesh, stays func(t int) bool) {
	var indices []uint32
	var groups []int32
	for t := range m.Triangles() {
		if !stays(t) {
			continue
		}
		if indices = append(indices, m.Indices[3*t:3*t+3]...); m.Groups != nil {
			groups = append(groups, m.Groups[t])
		}
	}
	m.Indices, m.Groups = indices, groups
}

// fromSegment returns the distance of a point from the segment between two others.
func fromSegment(p, a, b geom.Vec3) float64 {
	d := b.Sub(a)
	t := 0.0
	if l := d.Dot(d); l > 0 {
		t = min(1, max(0, p.Sub(a).Dot(d)/l))
	}
	return p.Sub(a.Add(d.Scale(t))).Len()
}

func comparePlaces(a, b geom.Vec3) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
}
