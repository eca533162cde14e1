package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/preview"
)

// rehearsal is a cooked scene and how it is walked through.
type rehearsal struct {
	name  string
	scene string   // made by makeScene
	cook  []string // flags
	path  []string
	want  string // an event that there must be
}

var rehearsals = []rehearsal{
	{"balls", "balls", []string{"--merge=false", "--tile-size", "100"}, []string{"--fly-through"}, "mesh.load"},
	{"city", "city", []string{"--lod", "--hlod", "--tile-size", "25"}, []string{"--fly-through"}, "tex.upgrade"},
	{"office", "office", []string{"--partition", "quadtree"}, []string{"--walk", "3"}, "tex.load"},
	{"blocks", "city", []string{"--textures", "bc", "--merge=false", "--tile-size", "50"}, []string{"--walk", "3"}, "mesh.load"},
	{"instances", "city", []string{"--instances", "--merge=false", "--compress", "zstd", "--tile-size", "100"}, []string{"--fly-through"}, "mesh.load"},
}

// makeScene writes a scene and returns its path.
func makeScene(t *testing.T, kind string) string {
	t.Helper()
	if kind == "balls" {
		return testfile.Write(t, filepath.Join(t.TempDir(), "balls.gltf"), boxScene(160))
	}
	path := filepath.Join(t.TempDir(), kind+".glb")
	gen := exec.Command("go", "run", "./scripts/gen", "-kind", kind, "-blocks", "1", "-floors", "2", "-texture-size", "512", "-o", path)
	gen.Dir = "../.."
	if out, err := gen.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// cookScene cooks a scene and returns its manifest.
func cookScene(t *testing.T, scene string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	if r := execute(t, nil, append([]string{"cook", scene, "-o", dir, "-q"}, flags...)...); r.code != 0 {
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
	scenes := map[string]string{}
	for _, c := range rehearsals {
		if scenes[c.scene] == "" {
			scenes[c.scene] = makeScene(t, c.scene)
		}
		manifest := cookScene(t, scenes[c.scene], c.cook...)
		for name, limits := range map[string][]string{
			"free":   nil,
			"short":  {"--set", "geometryBudget=300000", "--set", "textureBudget=100000"},
			"strict": {"--mode", "strict", "--preset", "low", "--set", "outOfCoreNodeThreshold=5", "--set", "textureBudget=60000"},
		} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				dir := t.TempDir()
				events, stats := filepath.Join(dir, "e"), filepath.Join(dir, "s")
				flags := slices.Concat([]string{"--duration", "6s"}, c.path, limits)
				s := execute(t, nil, slices.Concat([]string{"simulate", manifest, "--dt", "0.1", "--events", "-", "--report", filepath.Join(dir, "r")}, flags)...)
				if s.code != 0 {
					t.Fatalf("simulate: exit %d: %s", s.code, s.err)
				}
				p := here(t, slices.Concat([]string{"preview", manifest, "--fixed-dt", "0.1", "--events", events, "--stats", stats}, plainPicture, flags)...)
				if p.code != 0 {
					t.Fatalf("preview: exit %d: %s", p.code, p.err)
				}
				if got := string(testfile.Read(t, events)); got != s.stdout {
					t.Errorf("the events differ:\n%s", firstDifference(got, s.stdout))
				}
				if name == "free" && !strings.Contains(s.stdout, `"`+c.want+`"`) {
					t.Errorf("no %s happens", c.want)
				}
				compareFigures(t, string(testfile.Read(t, filepath.Join(dir, "r"))), string(testfile.Read(t, stats)))
			})
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
	manifest := cookScene(t, makeScene(t, "city"), "--tile-size", "50")
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
	manifest := cookScene(t, makeScene(t, "city"), "--merge=false", "--tile-size", "100")
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
