package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/manifest"
)

// TestFields: settings are told by their keys, named things by their names.
func TestFields(t *testing.T) {
	light := func(name string, intensity float64) manifest.Light {
		l := manifest.DefaultLight(manifest.LightPoint)
		l.Name, l.Intensity = name, intensity
		return l
	}
	base := func() *manifest.Manifest {
		return &manifest.Manifest{
			Version: 3, StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 100},
			SceneLights:          []manifest.Light{light("Sun", 1), light("Lamp", 2), light("Lamp", 3)},
			SceneBounds:          &manifest.Bounds{Max: [3]float64{1, 2, 3}},
			ObjectClassification: manifest.Classifications{{Name: "Box.1"}, {Name: "Box.2"}},
			FailedTiles:          []manifest.FailedTile{{ID: "tile_0", Error: "full"}},
		}
	}
	for _, c := range []struct {
		name      string
		edit      func(m *manifest.Manifest)
		tolerance float64
		want      []string
	}{
		{"nothing", func(m *manifest.Manifest) {}, 0, nil},
		{"nothing, but in another way", func(m *manifest.Manifest) { m.Tiles = []manifest.Tile{} }, 0, nil},
		{"a number", func(m *manifest.Manifest) { m.StreamingDefaults.StreamingRadius = 120 }, 0, []string{"streaming_defaults.streaming_radius: 100 -> 120 m"}},
		{"a close number", func(m *manifest.Manifest) { m.StreamingDefaults.StreamingRadius = 100.00000001 }, 0.1, []string{"streaming_defaults.streaming_radius: 100 -> 100.00000001 m"}},
		{"a position", func(m *manifest.Manifest) { m.SceneBounds.Max[0] = 1.01 }, 0, []string{"scene_bounds.max: (1, 2, 3) -> (1.01, 2, 3)"}},
		{"a position within the tolerance", func(m *manifest.Manifest) { m.SceneBounds.Max[0] = 1.01 }, 0.02, nil},
		{"a light", func(m *manifest.Manifest) { m.SceneLights[2].Intensity = 4 }, 0, []string{"scene_lights.Lamp#2.intensity: 3 -> 4"}},
		{"lights in another order", func(m *manifest.Manifest) {
			m.SceneLights[0], m.SceneLights[1] = m.SceneLights[1], m.SceneLights[0]
		}, 0, nil},
		{"no light", func(m *manifest.Manifest) { m.SceneLights = nil }, 0, []string{"scene_lights: - Lamp, - Lamp#2, - Sun"}},
		{"another light", func(m *manifest.Manifest) { m.SceneLights[0].Name = "Moon" }, 0, []string{"scene_lights: + Moon, - Sun"}},
		{"an object", func(m *manifest.Manifest) { m.ObjectClassification[0].Name = "Box.3" }, 0, []string{"object_classification: + Box.3, - Box.1"}},
		{"no objects", func(m *manifest.Manifest) { m.ObjectClassification = nil }, 0, []string{"object_classification: - Box.1, - Box.2"}},
		{"an object's size", func(m *manifest.Manifest) { m.ObjectClassification[0].DimRatio = 1 }, 0, []string{"object_classification.Box.1.dim_ratio: 0 -> 1"}},
		{"an optional object", func(m *manifest.Manifest) { m.TileSize = &manifest.Vec3Size{X: 1} }, 0, []string{"tile_size: added"}},
		{"a failed tile", func(m *manifest.Manifest) { m.FailedTiles = nil }, 0, []string{"failed_tiles: - tile_0"}},
	} {
		a, b := base(), base()
		c.edit(b)
		list, err := compareJSON(a, b, c.tolerance)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range list {
			got = append(got, fieldText(&list[i]))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}
