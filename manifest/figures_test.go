package manifest

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// sized is a scene of n tiles whose sizes grow by 1000 bytes and 10 triangles.
func sized(n int) *Manifest {
	m := &Manifest{StreamingDefaults: StreamingDefaults{StreamingRadius: 50, UnloadRadius: 80}}
	for i := 1; i <= n; i++ {
		m.Tiles = append(m.Tiles, Tile{FileSizeBytes: int64(1000 * i), TriangleCount: 10 * i, ObjectCount: new(i), EstimatedMemoryBytes: new(int64(2000 * i))})
	}
	return m
}

func TestFigures(t *testing.T) {
	m := sized(40)
	m.SharedBucket = &SharedBucket{Tile: Tile{FileSizeBytes: 500, TriangleCount: 5}}
	// Two pixels at 60 degrees and 1080 lines are a metre at 467.65 m.
	m.Tiles[0].LODLevels = []Level{
		{SwitchDistance: 467.65, VisualError: new(1.0), GeometricError: new(9.0), FileSizeBytes: 100},
		{SwitchDistance: 467.65, GeometricError: new(2.0), FileSizeBytes: 100},
	}
	m.Tiles[1].HLODLevels = []Level{
		{SwitchDistance: 0, VisualError: new(1.0), FileSizeBytes: 100},
		{SwitchDistance: 1, VisualError: new(1.0), FileSizeBytes: 300}, // is never shown
	}
	m.Tiles[2].UnloadRadius = new(120.0)
	box := Bounds{Max: [3]float64{300, 0, 400}} // a diagonal of 500 m, where a metre has 1.871 pixels
	m.Pyramid = &Pyramid{Nodes: []PyramidNode{{VisualError: 0, Bounds: box}, {VisualError: 10, Bounds: box}, {VisualError: 1}}}
	f := FiguresOf(m)
	for name, want := range map[string]float64{
		"tiles": 40, "tile_bytes_p50": 20000, "tile_bytes_p95": 38000, "tile_bytes_max": 40000, "tile_bytes_total": 820_500,
		"triangles_per_tile_p95": 380, "triangles_total": 8205, "objects_per_tile_max": 40, "tile_memory_max": 80000,
		"shared_bytes": 500, "level_files": 4, "level_bytes_max": 300, "level_bytes_total": 600, "geometry_bytes_total": 821_100,
		"visual_error_px_p50": 4, "visual_error_px_max": 1080,
		"pyramid_error_px_p50": 18.706, "pyramid_error_px_max": 1080, "pyramid_files": 3, "unload_radius_max": 120,
	} {
		if got, err := f.Value(name); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
	if two := FiguresOf(m, sized(1)); two.Tiles != 41 || *two.TileBytesTotal != 821_500 {
		t.Errorf("two scenes: %+v", two)
	}
	if none := FiguresOf(&Manifest{}); *none.TileBytesMax != 0 || *none.VisualErrorPXMax != 0 {
		t.Errorf("no tiles: %+v", none)
	}
}

// TestFiguresUnknown: what a manifest does not say is no 0.
func TestFiguresUnknown(t *testing.T) {
	plan := sized(2)
	plan.DryRun = true
	plan.Tiles[0].LODLevels = make([]Level, 1)
	foreign := sized(2)
	foreign.Tiles[0] = Tile{FileSizeBytes: 100, LODLevels: []Level{{SwitchDistance: 10}}}
	for _, c := range []struct {
		name    string
		m       *Manifest
		unknown []string
		known   []string
	}{
		{"plan", plan, []string{"tile_bytes_max", "level_bytes_total", "visual_error_px_p95"}, []string{"triangles_per_tile_max", "tile_memory_p95"}},
		{"foreign", foreign, []string{"triangles_per_tile_max", "objects_per_tile_p95", "tile_memory_max", "visual_error_px_p95", "level_bytes_max"}, []string{"tile_bytes_max"}},
	} {
		f := FiguresOf(c.m)
		for _, name := range c.unknown {
			if v, err := f.Value(name); err == nil {
				t.Errorf("%s: %s is %v", c.name, name, v)
			}
		}
		for _, name := range c.known {
			if _, err := f.Value(name); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// TestFiguresOfAnything: any numbers of a manifest give figures that JSON can express.
func TestFiguresOfAnything(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, -1, 1e308, math.SmallestNonzeroFloat64}))
	rapid.Check(t, func(t *rapid.T) {
		m := &Manifest{DryRun: rapid.Bool().Draw(t, "plan"), StreamingDefaults: StreamingDefaults{UnloadRadius: number.Draw(t, "unload")}}
		for range rapid.IntRange(0, 3).Draw(t, "tiles") {
			m.Tiles = append(m.Tiles, Tile{
				FileSizeBytes: rapid.Int64().Draw(t, "bytes"), TriangleCount: rapid.Int().Draw(t, "triangles"),
				LODLevels: []Level{{SwitchDistance: number.Draw(t, "switch"), FileSizeBytes: rapid.Int64().Draw(t, "level"), VisualError: new(number.Draw(t, "error"))}},
			})
		}
		if _, err := json.Marshal(FiguresOf(m, m)); err != nil {
			t.Fatal(err)
		}
	})
}
