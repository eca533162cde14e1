package manifest

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest/band"
)

// The picture in which Figures measures errors: the default one of cooks, runs and
// previews.
const (
	figureFovY   = 60   // degrees
	figureHeight = 1080 // pixels
)

// Figures sums up the sizes of a scene, for budgets. The keys of its JSON are names of
// the vocabulary (untold figures). What a manifest does not know is nil: sizes of files
// and errors of a plan, triangles and memory that it does not list.
type Figures struct {
	Tiles       int `json:"tiles"`
	FailedTiles int `json:"failed_tiles"`

	// File sizes of full tiles, in bytes; the total has the shared bucket.
	TileBytesP50   *int64 `json:"tile_bytes_p50"`
	TileBytesP95   *int64 `json:"tile_bytes_p95"`
	TileBytesMax   *int64 `json:"tile_bytes_max"`
	TileBytesTotal *int64 `json:"tile_bytes_total"`

	TrianglesP50   *int64 `json:"triangles_per_tile_p50"`
	TrianglesP95   *int64 `json:"triangles_per_tile_p95"`
	TrianglesMax   *int64 `json:"triangles_per_tile_max"`
	TrianglesTotal *int64 `json:"triangles_total"` // with the shared bucket

	ObjectsP95 *int64 `json:"objects_per_tile_p95"`
	ObjectsMax *int64 `json:"objects_per_tile_max"`
	MemoryP95  *int64 `json:"tile_memory_p95"` // bytes on the GPU, estimated
	MemoryMax  *int64 `json:"tile_memory_max"`

	SharedBytes     *int64 `json:"shared_bytes"`     // 0 without a shared bucket
	SharedTriangles *int64 `json:"shared_triangles"` // the same

	LevelFiles      int    `json:"level_files"` // LODs and HLODs of tiles
	LevelBytesMax   *int64 `json:"level_bytes_max"`
	LevelBytesTotal *int64 `json:"level_bytes_total"`

	PyramidFiles       int    `json:"pyramid_files"`
	PyramidBytesTotal  *int64 `json:"pyramid_bytes_total"` // without textures
	GeometryBytesTotal *int64 `json:"geometry_bytes_total"`

	// VisualErrorPX is how high a level's error is where the level begins: the visual
	// error, else the geometric one, over its switch distance, at 60 degrees and 1080
	// lines, at most as high as the picture. Levels without errors do not count; nil
	// where none of the levels has any, 0 without levels.
	VisualErrorPXP50 *float64 `json:"visual_error_px_p50"`
	VisualErrorPXP95 *float64 `json:"visual_error_px_p95"`
	VisualErrorPXMax *float64 `json:"visual_error_px_max"`

	// PyramidErrorPX is the same of nodes of the pyramid, which have no switch distance: as
	// high as their error is from as far away as their box's diagonal is long; 0 without
	// nodes.
	PyramidErrorPXP50 *float64 `json:"pyramid_error_px_p50"`
	PyramidErrorPXP95 *float64 `json:"pyramid_error_px_p95"`
	PyramidErrorPXMax *float64 `json:"pyramid_error_px_max"`

	UnloadRadiusMax float64 `json:"unload_radius_max"` // metres, of tiles
}

// Value returns a figure by the key of its JSON.
func (f *Figures) Value(name string) (float64, error) { return budget.Value(f, name) }

// FiguresOf sums up manifests as one scene.
func FiguresOf(list ...*Manifest) Figures {
	var s sizes
	for _, m := range list {
		s.add(m)
	}
	return s.figures()
}

// sizes gathers what Figures is made of.
type sizes struct {
	f                                  Figures
	planned                            bool
	bytes, triangles, objects, memory  []int64
	shared, sharedTriangles, levels    []int64
	nodeBytes                          int64
	unknownTriangles, unknownLevelSize bool
	pixels, nodePixels                 []float64
}

func (s *sizes) add(m *Manifest) {
	s.planned = s.planned || m.DryRun
	s.f.Tiles += len(m.Tiles)
	s.f.FailedTiles += len(m.FailedTiles)
	for i := range m.Tiles {
		t := &m.Tiles[i]
		s.bytes = append(s.bytes, t.FileSizeBytes)
		s.triangles = append(s.triangles, int64(t.TriangleCount))
		s.unknownTriangles = s.unknownTriangles || t.TriangleCount == 0
		if t.ObjectCount != nil {
			s.objects = append(s.objects, int64(*t.ObjectCount))
		} else if t.Objects != nil {
			s.objects = append(s.objects, int64(len(t.Objects)))
		}
		if t.EstimatedMemoryBytes != nil {
			s.memory = append(s.memory, *t.EstimatedMemoryBytes)
		}
		if u := m.BandsOf(t).Unload; u > s.f.UnloadRadiusMax && !math.IsInf(u, 0) {
			s.f.UnloadRadiusMax = u
		}
		for k := range t.LODLevels {
			s.level(&t.LODLevels[k], true)
		}
		for k := range t.HLODLevels {
			s.level(&t.HLODLevels[k], k == 0) // the others are never shown
		}
	}
	if b := m.SharedBucket; b != nil {
		s.shared = append(s.shared, b.FileSizeBytes)
		s.sharedTriangles = append(s.sharedTriangles, int64(b.TriangleCount))
	}
	if m.Pyramid != nil {
		for i := range m.Pyramid.Nodes {
			s.f.PyramidFiles++
			n := &m.Pyramid.Nodes[i]
			s.nodeBytes = plus(s.nodeBytes, n.FileSizeBytes)
			box := geom.Box{Min: n.Bounds.Min, Max: n.Bounds.Max}
			s.nodePixels = append(s.nodePixels, pixelsOf(n.VisualError, box.Size().Len()))
		}
	}
}

func (s *sizes) level(l *Level, shown bool) {
	s.f.LevelFiles++
	s.levels = append(s.levels, l.FileSizeBytes)
	s.unknownLevelSize = s.unknownLevelSize || l.FileSizeBytes == 0
	e := band.LevelError(l.VisualError, l.GeometricError, -1)
	if !shown || !(e >= 0) {
		return
	}
	s.pixels = append(s.pixels, pixelsOf(e, l.SwitchDistance))
}

// pixelsOf returns how high an error is from a distance, both in metres.
func pixelsOf(e, distance float64) float64 {
	if !(e > 0) {
		return 0
	}
	px := geom.Round(band.ScreenError(e, distance, figureFovY, figureHeight), 3)
	if !(px >= 0 && px <= figureHeight) { // it fills the picture, or nobody can tell
		return figureHeight
	}
	return px
}

func (s *sizes) figures() Figures {
	f := &s.f
	if !s.planned {
		f.TileBytesP50, f.TileBytesP95, f.TileBytesMax = quantiles(s.bytes)
		f.TileBytesTotal = total(s.bytes, s.shared)
		f.SharedBytes = total(s.shared)
		f.PyramidBytesTotal = &s.nodeBytes
		if !s.unknownLevelSize {
			_, _, f.LevelBytesMax = quantiles(s.levels)
			f.LevelBytesTotal = total(s.levels)
			f.GeometryBytesTotal = total(s.bytes, s.shared, s.levels, []int64{s.nodeBytes})
		}
	}
	if !s.unknownTriangles {
		f.TrianglesP50, f.TrianglesP95, f.TrianglesMax = quantiles(s.triangles)
		f.TrianglesTotal = total(s.triangles, s.sharedTriangles)
		f.SharedTriangles = total(s.sharedTriangles)
	}
	if len(s.objects) == f.Tiles {
		_, f.ObjectsP95, f.ObjectsMax = quantiles(s.objects)
	}
	if len(s.memory) == f.Tiles {
		_, f.MemoryP95, f.MemoryMax = quantiles(s.memory)
	}
	if len(s.pixels) > 0 || f.LevelFiles == 0 {
		f.VisualErrorPXP50, f.VisualErrorPXP95, f.VisualErrorPXMax = quantiles(s.pixels)
	}
	if !s.planned {
		f.PyramidErrorPXP50, f.PyramidErrorPXP95, f.PyramidErrorPXMax = quantiles(s.nodePixels)
	}
	return *f
}

// quantiles returns the smallest numbers that half and 95 % of a list do not exceed,
// and the largest; 0 of an empty list, which it sorts.
func quantiles[N int64 | float64](list []N) (p50, p95, most *N) {
	slices.Sort(list)
	at := func(percent int) *N {
		if len(list) == 0 {
			return new(N)
		}
		v := list[(percent*len(list)+99)/100-1]
		return &v
	}
	return at(50), at(95), at(100)
}

func total(lists ...[]int64) *int64 {
	sum := int64(0)
	for _, list := range lists {
		for _, v := range list {
			sum = plus(sum, v)
		}
	}
	return &sum
}

// plus adds sizes of a manifest, which may be any: not below 0, and at most the
// largest number.
func plus(a, b int64) int64 {
	if b = max(b, 0); a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
