package simulate

import (
	"cmp"
	"slices"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// trianglesOf returns the triangles of a tile's representations: full, the HLOD's, then
// those of the LODs, the finest first.
func trianglesOf(t *manifest.Tile) []float64 {
	out := append(make([]float64, 0, 2+len(t.LODLevels)), float64(t.TriangleCount), 0)
	if len(t.HLODLevels) > 0 {
		out[1] = float64(t.HLODLevels[0].TriangleCount)
	}
	lods := slices.Clone(t.LODLevels)
	slices.SortStableFunc(lods, func(a, b manifest.Level) int { return cmp.Compare(a.SwitchDistance, b.SwitchDistance) })
	for i := range lods {
		out = append(out, float64(lods[i].TriangleCount))
	}
	return out
}

// tileTriangles returns how many triangles in view the entries of one tile have.
func (m *Meter) tileTriangles(list []runtime.Drawn) (sum float64) {
	if int(list[0].Tile) >= len(m.tiles) || !m.measures(&list[0]) {
		return 0
	}
	t := &m.tiles[list[0].Tile]
	if !m.sight.sees(t.box) {
		return 0
	}
	last := payload.RepNone
	for i := range list {
		if rep := list[i].Rep; rep != last && int(rep) <= len(t.triangles) {
			sum += t.triangles[rep-1]
		}
		last = list[i].Rep
	}
	return sum
}

// nodeTriangles returns how many triangles in view an entry of a node has.
func (m *Meter) nodeTriangles(n *measuredNode, d *runtime.Drawn) float64 {
	seen := 0
	for bit, child := range n.children {
		if d.Parts>>bit&1 != 0 && m.sight.sees(m.boxOf(child)) {
			seen++
		}
	}
	if seen == 0 {
		return 0
	}
	return float64(n.triangles*float64(seen)) / float64(len(n.children))
}
