package runtime

import (
	"testing"

	"github.com/untoldkit/untold/manifest"
)

// The query radius follows manifests of untold's cook alone, and not where it
// was set.
func TestQueryRadiusFollowsTheManifest(t *testing.T) {
	far := 3000.0
	own := &manifest.Manifest{Generator: "untold 1", Tiles: []manifest.Tile{{UnloadRadius: &far}}}
	foreign := &manifest.Manifest{Tiles: own.Tiles}
	c := DefaultConfig()
	if got := c.For(own).MaxQueryRadius; got != far {
		t.Errorf("own: %v", got)
	}
	if got := c.For(foreign).MaxQueryRadius; got != 500 {
		t.Errorf("foreign: %v", got)
	}
	again := c.For(own)
	if got := again.For(foreign).MaxQueryRadius; got != far {
		t.Errorf("a radius that was found is found again: %v", got)
	}
	if err := c.Set("maxQueryRadius", 700); err != nil || c.For(own).MaxQueryRadius != 700 {
		t.Errorf("set: %v %v", err, c.For(own).MaxQueryRadius)
	}
	c = DefaultConfig()
	c.FitQueryRadius = false
	if got := c.For(own).MaxQueryRadius; got != 500 {
		t.Errorf("off: %v", got)
	}
}

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
		handoff   Handoff
		want      []float64
	}{
		{"untold 1", HandoffCovered, []float64{100, 100, 111, 5004}},
		{"untold 1", HandoffStrict, []float64{5000, 5000, 120, 5004}},
		{"", HandoffCovered, []float64{5000, 5000, 120, 5004}},
	} {
		cfg := DefaultConfig()
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
