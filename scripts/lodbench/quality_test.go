package main

import (
	"os"
	"path/filepath"
	"testing"
)

// tolerance is by how much a figure may get worse before TestQuality fails.
const tolerance = 1.05

// TestQuality simplifies FlightHelmet and compares the result with the
// committed figures: whoever changes the simplifier on purpose rewrites them
// with go run ./scripts/lodbench -update, and shows by how much.
func TestQuality(t *testing.T) {
	assets := filepath.Join("..", "..", "..", "shared", "assets", "models")
	if _, err := os.Stat(assets); err != nil {
		t.Skip("the shared assets are absent: ", err)
	}
	want, err := readResults("results.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := measureAll(gateOptions(assets), func(cell) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want.Gate) {
		t.Fatalf("%d cells, %d are committed", len(got), len(want.Gate))
	}
	for i, g := range got {
		w := want.Gate[i]
		if g.Model != w.Model || g.Ratio != w.Ratio || g.Source != w.Source {
			t.Fatalf("cell %d is %s at %g with %d triangles, %s at %g with %d are committed", i, g.Model, g.Ratio, g.Source, w.Model, w.Ratio, w.Source)
		}
		for _, f := range []struct {
			name      string
			got, want float64
		}{
			{"triangles", float64(g.Reached), float64(w.Reached)},
			{"RMS", g.RMS, w.RMS},
			{"normal deviation", g.Normal, w.Normal},
			{"what is seen", g.Seen, w.Seen},
			{"the distance where the level begins", 1 / g.Across, 1 / w.Across},
		} {
			if f.got > f.want*tolerance {
				t.Errorf("%s at %g: %s is %g, %g is committed: if this is meant, run go run ./scripts/lodbench -update", g.Model, g.Ratio, f.name, f.got, f.want)
			}
		}
		t.Logf("%s at %g: RMS %.5f (%.5f committed), normals %.2f (%.2f), seen %.4f (%.4f) at %.0f pixels (%.0f)", g.Model, g.Ratio, g.RMS, w.RMS, g.Normal, w.Normal, g.Seen, w.Seen, g.Across, w.Across)
	}
}
