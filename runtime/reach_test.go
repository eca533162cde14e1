package runtime

import (
	"testing"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
)

// A full tile with levels goes where its first level has begun for good, of
// manifests of untold's cook and under the covered hand-off.
func TestFullTilesHandOver(t *testing.T) {
	radius := func(v float64) *float64 { return &v }
	m := &manifest.Manifest{Generator: "untold 1", Tiles: []manifest.Tile{
		{ID: "levels", StreamingRadius: radius(90), UnloadRadius: radius(5000), LODLevels: []manifest.Level{{SwitchDistance: 90}, {SwitchDistance: 300}}},
		{ID: "hlod", StreamingRadius: radius(86), UnloadRadius: radius(5000), HLODLevels: []manifest.Level{{SwitchDistance: 90}}},
		{ID: "narrow", StreamingRadius: radius(110), UnloadRadius: radius(120), LODLevels: []manifest.Level{{SwitchDistance: 90}}},
		{ID: "none", StreamingRadius: radius(5000), UnloadRadius: radius(5004)},
	}}
	for _, c := range []struct {
		generator string
		handoff   config.Handoff
		want      []float64
	}{
		{"untold 1", config.HandoffCovered, []float64{100, 100, 111, 5004}},
		{"untold 1", config.HandoffStrict, []float64{5000, 5000, 120, 5004}},
		{"", config.HandoffCovered, []float64{5000, 5000, 120, 5004}},
	} {
		cfg := config.Default()
		m.Generator, cfg.Handoff = c.generator, c.handoff
		table, _, err := newTable(m, &cfg)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			if got := table.radius[i].unload; got != want {
				t.Errorf("%q %s: %s unloads at %v, want %v", c.generator, c.handoff, table.id[i], got, want)
			}
		}
	}
}
