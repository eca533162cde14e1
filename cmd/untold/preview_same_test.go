package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview"
)

// rehearsal is a cooked scene and how it is walked through.
type rehearsal struct {
	name   string
	scene  string // made by makeScene
	texels int
	cook   []string // flags
	path   []string
	want   string // an event that there must be
}

var rehearsals = []rehearsal{
	{"balls", "balls", 0, []string{"--merge=false", "--tile-size", "100"}, []string{"--fly-through"}, "mesh.load"},
	{"city", "city", 512, []string{"--lod", "--hlod", "--tile-size", "25"}, []string{"--fly-through"}, "tex.upgrade"},
	{"office", "office", 128, []string{"--partition", "quadtree"}, []string{"--walk", "3"}, "tex.load"},
	{"blocks", "city", 128, []string{"--textures", "bc", "--merge=false", "--tile-size", "50"}, []string{"--walk", "3"}, "mesh.load"},
	{"instances", "city", 128, []string{"--instances", "--merge=false", "--compress", "zstd", "--tile-size", "100"}, []string{"--fly-through"}, "mesh.load"},
}

// makeScene returns the path of a scene, with textures of so many texels along a side.
func makeScene(t *testing.T, kind string, texels int) string {
	t.Helper()
	if kind == "balls" {
		return testfile.Write(t, filepath.Join(t.TempDir(), "balls.gltf"), boxScene(160))
	}
	return generated(t, kind, "-blocks", "1", "-floors", "2", "-texture-size", fmt.Sprint(texels))
}

// cookScene cooks a scene and returns its manifest.
func cookScene(t *testing.T, scene string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	if r := execute(t, nil, append([]string{"cook", scene, "-o", dir, "-q", "--sync=false"}, flags...)...); r.code != 0 {
		t.Fatalf("cook: exit %d: %s", r.code, r.err)
	}
	name := strings.TrimSuffix(filepath.Base(scene), filepath.Ext(scene))
	return filepath.Join(dir, name+".json")
}

var plainPicture = []string{"--headless", "--size", "64x48", "--samples", "1", "--shadows", "-1"}

// TestPreviewIsSimulate: with a fixed frame time the preview has the events of
// simulate for tiles, meshes and textures, byte for byte, and its figures, with
// budgets that are reached and without.
func TestPreviewIsSimulate(t *testing.T) {
	if !preview.Available {
		t.Skip("built without OpenGL (cgo)")
	}
	for _, c := range rehearsals {
		if race.Enabled && c.name != "city" && c.name != "office" {
			continue // make test runs all without the detector
		}
		cooked := cookScene(t, makeScene(t, c.scene, c.texels), c.cook...)
		textures := func(budget int) string { // of textures of 512 texels
			return fmt.Sprint("textureBudget=", max(budget*c.texels*c.texels/(512*512), 1000))
		}
		for name, limits := range map[string][]string{
			"free":   nil,
			"short":  {"--set", "geometryBudget=300000", "--set", textures(100_000)},
			"strict": {"--mode", "strict", "--preset", "low", "--set", "outOfCoreNodeThreshold=5", "--set", textures(60_000)},
		} {
			if race.Enabled && name != "short" {
				continue // make test runs all without the detector
			}
			t.Run(c.name+"/"+name, func(t *testing.T) {
				events := rehearse(t, cooked, slices.Concat([]string{"--duration", "6s"}, c.path, limits)...)
				if name == "free" && !strings.Contains(events, `"`+c.want+`"`) {
					t.Errorf("no %s happens", c.want)
				}
			})
		}
	}
}

// rehearse compares the events and figures of preview with those of simulate,
// and returns the events.
func rehearse(t *testing.T, cooked string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	events, stats := filepath.Join(dir, "e"), filepath.Join(dir, "s")
	s := execute(t, nil, slices.Concat([]string{"simulate", cooked, "--dt", "0.1", "--events", "-", "--report", filepath.Join(dir, "r")}, flags)...)
	if s.code != 0 {
		t.Fatalf("simulate: exit %d: %s", s.code, s.err)
	}
	p := here(t, slices.Concat([]string{"preview", cooked, "--fixed-dt", "0.1", "--events", events, "--stats", stats}, plainPicture, flags)...)
	if p.code != 0 {
		t.Fatalf("preview: exit %d: %s", p.code, p.err)
	}
	if got := string(testfile.Read(t, events)); got != s.stdout {
		t.Errorf("the events differ:\n%s", firstDifference(got, s.stdout))
	}
	compareFigures(t, string(testfile.Read(t, filepath.Join(dir, "r"))), string(testfile.Read(t, stats)))
	return s.stdout
}

// TestPreviewIsSimulateOfAWorld: the same with a scene that has been moved, two
// entities of one file and a region with a manifest of its own beside it.
func TestPreviewIsSimulateOfAWorld(t *testing.T) {
	if !preview.Available {
		t.Skip("built without OpenGL (cgo)")
	}
	scene := makeScene(t, "city", 128)
	cooked := cookScene(t, scene, "--lod", "--hlod", "--tile-size", "25")
	other := cookScene(t, scene, "--merge=false", "--tile-size", "50")
	m, err := manifest.Load(cooked)
	if err != nil {
		t.Fatal(err)
	}
	tile := &m.Tiles[0]
	b := tile.Bounds
	box := fmt.Sprintf(`{"min": [%v, %v, %v], "max": [%v, %v, %v]}`, b.Min[0], b.Min[1], b.Min[2], b.Max[0], b.Max[1], b.Max[2])
	entity := `{"entity_id": %q, "path": %q, "bounds": %s, "streaming_radius": 15, "unload_radius": 25}`
	keys := fmt.Sprintf(`
		"transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1],
		"entities": [`+entity+`, `+entity+`], // one file
		"regions": [{"region_id": "north", "bounds": %s, "radius": 20, "unload_radius": 30, "manifest": %q}]`,
		"x", tile.Path, box, "y", tile.Path, box, box, filepath.Base(other))
	world := testfile.Write(t, filepath.Join(filepath.Dir(other), "world.json"), []byte("{"+keys+"}"))
	for name, limits := range map[string][]string{
		"free":   nil,
		"short":  {"--set", "geometryBudget=600000", "--set", "textureBudget=6000"},
		"strict": {"--mode", "strict", "--preset", "low", "--set", "outOfCoreNodeThreshold=5", "--set", "meshCacheBudget=0"},
	} {
		if race.Enabled && name != "short" {
			continue // make test runs all without the detector
		}
		t.Run(name, func(t *testing.T) {
			events := rehearse(t, cooked, slices.Concat([]string{"--fly-through", "--duration", "12s", "--world", world}, limits)...)
			for _, want := range []string{`"region.loaded"`, `"region":"north"`, `"tile":"x"`, `"tile":"y"`, `"mesh.load"`} {
				if name == "free" && !strings.Contains(events, want) {
					t.Errorf("no %s happens", want)
				}
			}
		})
	}
	for path, want := range map[string]string{world + ".none": "does not exist", cooked: "unknown key"} {
		for _, args := range [][]string{{"simulate", cooked}, {"preview", cooked, "--headless", "--frames", "1"}} {
			if r := here(t, append(args, "--world", path)...); r.code == 0 || !strings.Contains(r.err, want) {
				t.Errorf("%v --world %s: exit %d: %s", args, path, r.code, r.err)
			}
		}
	}
	// A scenario names the file, or says the same itself.
	for name, keys := range map[string]string{"file": `"world": "world.json"`, "inline": keys} {
		rel, err := filepath.Rel(filepath.Dir(world), cooked)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"manifest": %q, "camera": [{"t": 0, "position": [%v, 2, %v]}], "duration": 5, %s}`, filepath.ToSlash(rel), b.Min[0], b.Min[2], keys)
		scenario := testfile.Write(t, filepath.Join(filepath.Dir(world), name+".json"), []byte(text))
		if r := execute(t, nil, "simulate", scenario, "--events", "-"); r.code != 0 || !strings.Contains(r.stdout, `"region.loaded"`) {
			t.Errorf("%s: exit %d, no region is loaded: %s", name, r.code, r.err)
		}
		if r := execute(t, nil, "simulate", scenario, "--world", world); r.code == 0 || !strings.Contains(r.err, "says itself") {
			t.Errorf("%s with --world: exit %d: %s", name, r.code, r.err)
		}
	}
}

// compareFigures checks that the figures of the preview have all of the
// simulation's, with the same values but for the times of updates.
func compareFigures(t *testing.T, simulated, drawn string) {
	t.Helper()
	var want, got map[string]any
	for text, into := range map[string]*map[string]any{simulated: &want, drawn: &got} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	for key, w := range want {
		if g, ok := got[key]; !ok || g != w && !strings.HasPrefix(key, "update_ms_") {
			t.Errorf("%s is %v, %v without a picture", key, g, w)
		}
	}
}

// firstDifference shows the first lines of two texts that differ.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d: %s\nwant    %s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(x), len(y))
}

// TestPreviewInRealTime: the figures and events of a run on the clock of the
// wall are of the same kinds.
func TestPreviewInRealTime(t *testing.T) {
	if !preview.Available {
		t.Skip("built without OpenGL (cgo)")
	}
	manifest := cookScene(t, makeScene(t, "city", 64), "--tile-size", "50")
	events := filepath.Join(t.TempDir(), "e")
	// It ends when all is loaded, textures included.
	p := here(t, slices.Concat([]string{"preview", manifest, "--events", events, "--screenshot", filepath.Join(t.TempDir(), "a.png"), "--stats", "-"}, plainPicture)...)
	if p.code != 0 {
		t.Fatalf("exit %d: %s", p.code, p.err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(p.stdout), &got); err != nil {
		t.Fatal(err)
	}
	s := execute(t, nil, "simulate", manifest, "--duration", "1s", "--json")
	var want map[string]any
	if err := json.Unmarshal([]byte(s.stdout), &want); err != nil {
		t.Fatal(err)
	}
	for key := range want {
		if _, ok := got[key]; !ok {
			t.Errorf("there is no %s", key)
		}
	}
	text := string(testfile.Read(t, events))
	for _, kind := range []string{"tile.parsed", "drawn", "tex.load"} {
		if !strings.Contains(text, `"`+kind+`"`) {
			t.Errorf("no %s among the events", kind)
		}
	}
	if n, ok := got["texture_loads"].(float64); !ok || int(n) != strings.Count(text, `"tex.load"`) || n == 0 {
		t.Errorf("%v textures were loaded, %d events tell of it", got["texture_loads"], strings.Count(text, `"tex.load"`))
	}
}

// TestPreviewAddressVirtual: the network takes no virtual time, so that two runs
// of a scene at an address are the same, from a full cache and an empty one.
func TestPreviewAddressVirtual(t *testing.T) {
	if !preview.Available {
		t.Skip("built without OpenGL (cgo)")
	}
	manifest := cookScene(t, makeScene(t, "city", 64), "--merge=false", "--tile-size", "100")
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(manifest))))
	defer server.Close()
	cache := t.TempDir()
	var runs []string
	for range 2 {
		events := filepath.Join(t.TempDir(), "e")
		p := here(t, slices.Concat([]string{
			"preview", server.URL + "/city.json", "--fixed-dt", "0.05", "--fly-through", "--duration", "4s", "--events", events,
			"--cache-dir", cache, "--fail-if", "errors>0", "--fail-if", "textures_missing>0", "--fail-if", "mesh_loads==0",
		}, plainPicture)...)
		if p.code != 0 {
			t.Fatalf("exit %d: %s%s", p.code, p.stdout, p.err)
		}
		runs = append(runs, string(testfile.Read(t, events)))
	}
	if runs[0] != runs[1] || !strings.Contains(runs[0], `"tex.load"`) {
		t.Errorf("the runs differ:\n%s", firstDifference(runs[0], runs[1]))
	}
}
