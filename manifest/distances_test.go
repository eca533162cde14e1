package manifest

import (
	"math"
	"testing"
)

func TestReach(t *testing.T) {
	radius := func(v float64) *float64 { return &v }
	box := Bounds{Max: [3]float64{10, 4, 8}}
	pixel := 2 * math.Tan(math.Pi/6) / 1080
	level := []Level{{SwitchDistance: 60}}
	for _, c := range []struct {
		name string
		m    Manifest
		want float64
	}{
		{"nothing", Manifest{}, 0},
		{"defaults", Manifest{StreamingDefaults: StreamingDefaults{StreamingRadius: 50, UnloadRadius: 75}, Tiles: []Tile{{Bounds: box}}}, 75},
		{"own radii", Manifest{Tiles: []Tile{{Bounds: box, UnloadRadius: radius(900)}, {Bounds: box, UnloadRadius: radius(80)}}}, 900},
		{"a level has no end", Manifest{Tiles: []Tile{{Bounds: box, UnloadRadius: radius(75), HLODLevels: level}}}, 10 / (2 * pixel)},
		{"unless the tile has a farther one", Manifest{Tiles: []Tile{{Bounds: box, UnloadRadius: radius(1e6), LODLevels: level}}}, 1e6},
		{"the bucket", Manifest{SharedBucket: &SharedBucket{Tile: Tile{UnloadRadius: radius(1234)}}}, 1234},
		{"a bucket everywhere", Manifest{SharedBucket: &SharedBucket{}}, 0},
		{"beyond all measure", Manifest{Tiles: []Tile{{UnloadRadius: radius(math.Inf(1))}}}, math.MaxFloat32},
	} {
		if got := c.m.Reach(); math.Abs(got-c.want) > 1e-6*c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	for generator, want := range map[string]bool{"untold 0.1.0": true, "untold": true, "": false, "Blender": false} {
		if m := (&Manifest{Generator: generator}); m.ByUntold() != want {
			t.Errorf("%q: %v", generator, !want)
		}
	}
}
