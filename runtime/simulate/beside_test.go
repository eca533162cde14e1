package simulate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// besideScenario is one whose scene has one tile at the origin, wanted within
// 50 m; the camera stands there.
func besideScenario(t *testing.T, keys string) *Scenario {
	t.Helper()
	s, err := Parse([]byte(`{
		"scene": {
			"streaming_defaults": {"streaming_radius": 50, "unload_radius": 100},
			"tiles": [{"tile_id": "a", "bounds": {"min": [-5, -5, -5], "max": [5, 5, 5]}}]
		},
		"config": {"enableFrustumGate": false, "enableOcclusionSort": false, "velocityLookAheadTime": 0},
		"camera": [{"t": 0, "position": [0, 0, 0]}], "duration": 20, ` + keys + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lines runs a scenario twice, which has to give the same, and returns its events
// with what they are about.
func lines(t *testing.T, s *Scenario) (out []string, rep Report) {
	t.Helper()
	for n := range 2 {
		r, err := Run(context.Background(), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var again []string
		for i := range r.Records {
			x := &r.Records[i]
			line := fmt.Sprintf("%g %s", x.T.Seconds(), x.Event)
			for _, k := range x.Keys {
				if k.Name == "tile" || k.Name == "region" || k.Name == "rep" {
					line += fmt.Sprint(" ", k.Value)
				}
			}
			again = append(again, line)
		}
		if n > 0 && !slices.Equal(out, again) {
			t.Errorf("a second run gives %q, not %q", again, out)
		}
		out, rep = again, r.Report
	}
	return out, rep
}

func TestTransform(t *testing.T) {
	const away = `[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 500, 0, 0, 1]`
	if got, rep := lines(t, besideScenario(t, `"transform": `+away)); len(got) != 1 || rep.Loads != 0 {
		t.Errorf("a scene that is far away: %q, %+v", got, rep)
	}
	got, rep := lines(t, besideScenario(t, `"transform": `+away+`, "actions": [
		{"t": 2, "do": "setTransform", "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]},
		{"t": 14, "do": "setTransform", "transform": `+away+`}]`))
	for _, want := range []string{"2 tile.dispatch a", "2.3 drawn a full"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if last := got[len(got)-1]; !strings.HasSuffix(last, "drawn a none") && !strings.Contains(last, "unload") || rep.Undrawn != 0 {
		t.Errorf("the scene went away, the last of %q is %q; %d undrawn", got, last, rep.Undrawn)
	}
}

// TestTransformAfterReload: a scene that was reloaded, twice, is still where it was
// put, and can be moved.
func TestTransformAfterReload(t *testing.T) {
	got, rep := lines(t, besideScenario(t, `"transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 500, 0, 0, 1], "actions": [
		{"t": 1, "do": "reloadScene"}, {"t": 2, "do": "reloadScene"},
		{"t": 3, "do": "setTransform", "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}]`))
	if !slices.Contains(got, "3 tile.dispatch a") || rep.Loads != 1 || rep.Undrawn != 0 {
		t.Errorf("%q, %d loads, %d undrawn", got, rep.Loads, rep.Undrawn)
	}
}

func TestEntitiesBeside(t *testing.T) {
	s := besideScenario(t, `"entities": [
		{"entity_id": "near", "bounds": {"min": [20, 0, 0], "max": [21, 1, 1]}, "streaming_radius": 30, "gpu_bytes": 1000},
		{"entity_id": "far", "bounds": {"min": [90, 0, 0], "max": [91, 1, 1]}, "streaming_radius": 30}],
		"faults": [{"tile": "near", "kind": "fail", "times": 1}]`)
	got, rep := lines(t, s)
	text := strings.Join(got, "\n")
	for _, want := range []string{"tile.failed near", "tile.parsed near", "drawn near full", "drawn a full"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "far") || rep.PeakGeometryBytes != 1000 || rep.Failures != 1 {
		t.Errorf("%d bytes, %d failures:\n%s", rep.PeakGeometryBytes, rep.Failures, text)
	}
}

// Entities of one file are parsed together; with the cache off each by itself.
func TestEntitiesOfOneFile(t *testing.T) {
	for _, c := range []struct {
		budget int64
		slots  int
		want   string
	}{
		{1000, 3, "0.3 tile.parsed y"}, // with that of x
		{1000, 2, "0.4 tile.parsed y"}, // behind it, from what is there
		{0, 3, "1 tile.parsed y"},
	} {
		s := besideScenario(t, `"entities": [
			{"entity_id": "x", "path": "lamp.untold", "bounds": {"min": [0, 0, 0], "max": [1, 1, 1]}, "priority": 2, "nodes": 1, "gpu_bytes": 5},
			{"entity_id": "y", "path": "lamp.untold", "bounds": {"min": [0, 0, 0], "max": [1, 1, 1]}, "priority": 1, "nodes": 1, "gpu_bytes": 5}],
			"latency": {"default": 0.25, "tiles": {"y": 1}}`)
		s.Config.MeshCacheBudget, s.Config.MaxConcurrentTileLoads = c.budget, c.slots
		got, rep := lines(t, s)
		if !slices.Contains(got, "0.3 tile.parsed x") || !slices.Contains(got, c.want) || rep.MeshLoads != 2 {
			t.Errorf("with a budget of %d bytes and %d slots %q lacks %q", c.budget, c.slots, got, c.want)
		}
	}
}

func TestRegionsBeside(t *testing.T) {
	s := besideScenario(t, `"regions": [{"region_id": "north", "radius": 60, "bounds": {"min": [0, 0, -110], "max": [10, 5, -100]},
		"scene": {"tiles": [{"tile_id": "n", "bounds": {"min": [0, 0, -110], "max": [10, 5, -100]}, "gpu_bytes": 7}]}}]`)
	if got, _ := lines(t, s); strings.Contains(strings.Join(got, "\n"), "north") {
		t.Errorf("a region that is far away is opened: %q", got)
	}
	s.Path.Keys = append(s.Path.Keys, s.Path.Keys[0], s.Path.Keys[0])
	s.Path.Keys[1].T, s.Path.Keys[1].Position = 2*time.Second, [3]float64{0, 0, -60}
	s.Path.Keys[2].T, s.Path.Keys[2].Position = 14*time.Second, [3]float64{0, 0, 100}
	got, _ := lines(t, s)
	text := strings.Join(got, "\n")
	at := -1
	for _, want := range []string{"region.load north", "region.loaded north", "tile.dispatch n", "drawn n full", "region.unload north"} {
		next := strings.Index(text, want)
		if next <= at {
			t.Fatalf("no %q after the ones before it in\n%s", want, text)
		}
		at = next
	}
}

// The shared bucket of a region streams like its tiles, with its textures.
func TestRegionWithABucket(t *testing.T) {
	s := besideScenario(t, `"regions": [{"region_id": "north", "bounds": {"min": [0, 0, -20], "max": [10, 5, -10]},
		"scene": {"textures": {"brick": 256}, "tiles": [{"tile_id": "n", "bounds": {"min": [0, 0, -20], "max": [1, 1, -10]}}], "shared_bucket": {"bounds": {"min": [0, 0, -20], "max": [10, 5, -10]}, "textures": ["brick"]}}}]`)
	got, rep := lines(t, s)
	if !slices.Contains(got, "0.3 tile.parsed shared") || rep.TextureLoads != 1 {
		t.Errorf("%q, %d textures", got, rep.TextureLoads)
	}
	if s.Tiles["north/shared"].Textures == nil {
		t.Errorf("%v", s.Tiles)
	}
}

func TestBesideErrors(t *testing.T) {
	for keys, want := range map[string]string{
		`"transform": [1, 2]`:                         "a transform of 2 numbers",
		`"actions": [{"t": 0, "do": "setTransform"}]`: `"transform" belongs to "setTransform"`,
		`"entities": [{"entity_id": "a", "bounds": {"min": [0, 0, 0], "max": [1, 1, 1]}}]`:              `the id "a" is empty or stands twice`,
		`"entities": [{"entity_id": "b"}]`:                                                              "bounds",
		`"regions": [{"region_id": "r", "bounds": {"min": [0, 0, 0], "max": [1, 1, 1]}}]`:               "scene",
		`"world": "w.json", "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]`:              `"world" names a file`,
		`"entities": [{"entity_id": "b", "radius": 3, "bounds": {"min": [0, 0, 0], "max": [1, 1, 1]}}]`: "radius",
	} {
		_, err := Parse([]byte(`{"scene": {"tiles": [{"tile_id": "a", "bounds": {"min": [0, 0, 0], "max": [1, 1, 1]}}]}, ` + keys + `}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", keys, err, want)
		}
	}
}
