package report

import (
	"slices"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/partition"
)

// NewCompat compares two plans of the same objects: ours, and the one of
// --compat engine. m is what was cooked from ours, whose triangles are counted
// exactly; nil counts the objects' triangles. The engine's side always counts
// objects' triangles: without clipping a tile holds its objects whole.
func NewCompat(m *manifest.Manifest, ours, engine *partition.Plan, objects []partition.Object) *Compat {
	c := &Compat{Ours: sideOf(ours, objects), Engine: sideOf(engine, objects)}
	if m != nil {
		c.Ours.measure(m)
	}
	return c
}

func sideOf(p *partition.Plan, objects []partition.Object) Side {
	s := Side{Tiles: len(p.Tiles), SharedObjects: len(p.Shared)}
	perTile := make([]int, len(p.Tiles))
	tilesOf := make([]int, len(objects))
	floors := map[int]bool{}
	for i := range p.Tiles {
		t := &p.Tiles[i]
		for _, o := range t.Objects {
			perTile[i] += objects[o].Triangles
			tilesOf[o]++
		}
		s.Assigned += len(t.Objects)
		if t.NodeID != "" {
			floors[t.Floor] = true
		}
		if t.Interior {
			s.InteriorTiles++
		}
	}
	s.Floors = len(floors)
	for _, o := range p.Shared {
		s.SharedTriangles += objects[o].Triangles
		s.Objects++
	}
	for _, n := range tilesOf {
		if n > 0 {
			s.Objects++
		}
		if n > 1 {
			s.Duplicated++
		}
	}
	s.spread(perTile)
	return s
}

// spread sets the triangles per tile and in all.
func (s *Side) spread(perTile []int) {
	s.StoredTriangles = s.SharedTriangles
	for _, n := range perTile {
		s.StoredTriangles += n
	}
	slices.Sort(perTile)
	s.MedianTriangles, s.MaxTriangles = median(perTile), 0
	if n := len(perTile); n > 0 {
		s.MaxTriangles = perTile[n-1]
	}
}

// median returns the middle of sorted values, 0 of none.
func median[T int | int64](sorted []T) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return float64(float64(sorted[(n-1)/2])/2) + float64(float64(sorted[n/2])/2)
}

// measure replaces planned numbers by those of the written tiles: cells that
// only boxes reach into are gone, and cut objects share their triangles out.
func (s *Side) measure(m *manifest.Manifest) {
	several := 0
	s.Tiles, s.InteriorTiles, s.Assigned, s.SharedTriangles = len(m.Tiles), 0, 0, 0
	perTile := make([]int, len(m.Tiles))
	tilesOf := map[string]int{} // by name; only grids list names
	for i := range m.Tiles {
		t := &m.Tiles[i]
		for _, name := range t.Objects {
			if tilesOf[name]++; tilesOf[name] == 2 {
				several++
			}
		}
		n, _ := counts(t)
		s.Assigned += n
		perTile[i] = t.TriangleCount
		if t.Interior {
			s.InteriorTiles++
		}
	}
	if b := m.SharedBucket; b != nil {
		s.SharedTriangles = b.TriangleCount
	}
	if len(tilesOf) > 0 {
		s.Duplicated = several
	}
	s.spread(perTile)
}
