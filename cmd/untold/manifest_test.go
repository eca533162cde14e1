package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

func TestManifestSchema(t *testing.T) {
	r := execute(t, nil, "manifest", "schema")
	var schema map[string]any
	if err := json.Unmarshal([]byte(r.stdout), &schema); r.code != 0 || err != nil || schema["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("exit %d: %v", r.code, err)
	}
	if r := execute(t, nil, "manifest"); r.code != 0 || !strings.Contains(r.stdout, "normalize") {
		t.Errorf("exit %d: %s", r.code, r.stdout)
	}
	if r := execute(t, nil, "manifest", "bild"); r.code != 2 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func TestManifestBuild(t *testing.T) {
	dir := cooked(t)
	path := filepath.Join(dir, "yard.json")
	text := func() string {
		data := testfile.Read(t, path)
		return string(data)
	}
	want := text()
	// Not without saying so.
	for _, args := range [][]string{{dir}, {dir, "-o", path}, {dir, "-o", path, "--from", filepath.Join(cooked(t), "yard.json")}} {
		r := execute(t, nil, append([]string{"manifest", "build"}, args...)...)
		if r.code != 2 || text() != want || !strings.Contains(r.err, "--force") {
			t.Errorf("%v: exit %d: %s", args[1:], r.code, r.err)
		}
	}
	// From itself: the same.
	r := execute(t, nil, "manifest", "build", dir, "--from", path)
	if r.code != 0 || text() != want || !strings.HasPrefix(r.stdout, "built "+path+": uniform_grid") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	// From nothing: told what is lost, and fit to be used.
	r = execute(t, nil, "manifest", "build", dir, "--force")
	if r.code != 0 || text() == want || !strings.Contains(r.err, "scene_lights") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if r := execute(t, nil, "validate", dir, "--strict"); r.code != 0 {
		t.Errorf("validate: %s", r.stdout)
	}
	var res builtResult
	r = execute(t, nil, "manifest", "build", filepath.Join(dir, "tiles"), "-o", filepath.Join(dir, "b.json"), "--json", "--tile-size", "25")
	if err := json.Unmarshal([]byte(r.stdout), &res); r.code != 0 || err != nil || res.Tiles == 0 || res.Notes == nil || len(res.Lost) == 0 {
		t.Errorf("exit %d: %v %s%s", r.code, err, r.stdout, r.err)
	}
	m, err := manifest.Load(filepath.Join(dir, "b.json"))
	if err != nil || m.TileSize.X != 25 {
		t.Errorf("%v %+v", err, m)
	}
	// The judged and the impossible.
	tile := filepath.Join(dir, filepath.FromSlash(m.Tiles[0].Path))
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{1, "is not in the manifest's folder", []string{tile, "-o", filepath.Join(t.TempDir(), "x.json")}},
		{1, "no tiles", []string{t.TempDir(), "-o", filepath.Join(t.TempDir(), "x.json")}},
		{1, "not valid JSON", []string{dir, "--from", tile}},
		{2, "ends in .json", []string{dir, "-o", filepath.Join(dir, "x.txt")}},
		{2, "indoor or outdoor", []string{dir, "-o", filepath.Join(dir, "x.json"), "--scene-profile", "auto"}},
		{2, "does not exist", []string{filepath.Join(dir, "none")}},
	} {
		if r := execute(t, nil, append([]string{"manifest", "build"}, c.args...)...); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, r.code, r.err)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "x*")); len(found) > 0 {
		t.Errorf("a failure left %v", found)
	}
}

// muddled writes a manifest with distances that the engine changes.
func muddled(t *testing.T) string {
	t.Helper()
	return testfile.Write(t, filepath.Join(t.TempDir(), "muddled.json"), []byte(`{
  "version": 4, "partitioning_mode": "quadtree_floor", "mine": {"a": [1,2]},
  "streaming_defaults": {"streaming_radius": 6, "unload_radius": 30, "priority": 10},
  "tiles": [
    {"tile_id": "F01_Q_SI", "floor_id": 0, "quadtree_node_id": "F01_Q", "semantic_tier": "StructuralInterior",
      "path_relative_to_manifest": "tiles\\a.untold", "file_size_bytes": 4, "bounds": {"min": [0, 0, 0], "max": [2, 2, 2]}, "center": [1, 1, 1],
      "hlod_levels": [{"path": "tiles/h.untold", "switch_distance": 300, "geometric_error": 0.5}],
      "lod_levels": [{"path": "tiles/l.untold", "switch_distance": 5}, {"path": "tiles/m.untold", "switch_distance": 12, "geometric_error": 0.1}]},
    {"tile_id": "F01_Q_FP", "floor_id": 0, "quadtree_node_id": "F01_Q", "semantic_tier": "FineProps", "unload_radius": 9,
      "path_relative_to_manifest": "tiles/b.untold", "file_size_bytes": 4, "bounds": {"min": [0, 0, 0], "max": [2, 2, 2]}, "center": [1, 1, 1],
      "lod_levels": [{"path": "tiles/n.untold", "switch_distance": 7}, {"path": "tiles/o.untold", "switch_distance": 9}]}
  ]
}
`))
}

func TestManifestBands(t *testing.T) {
	path := muddled(t)
	r := execute(t, nil, "manifest", "bands", path)
	if r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	for _, want := range []string{
		"F01_Q_SI  StructuralInterior          6        18      30  300*  5! 12", // as written
		"F01_Q_FP  FineProps                   6      7.5*      9*     -  7* 9x",
		"changes 2 of 2 tiles and drops 1 level", "begin inside the streaming radius",
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s", want, r.stdout)
		}
	}
	r = execute(t, nil, "manifest", "bands", path, "--engine", "--check", "--fov", "90", "--height", "1000")
	// 0.1 m at 12 m and 0.5 m at 29 m, 500 pixels a metre at 1 m.
	if r.code != 1 || !strings.Contains(r.stdout, "29*  5! 12 ") || !strings.Contains(r.stdout, "? 4.17 8.62\n") {
		t.Errorf("exit %d:\n%s%s", r.code, r.stdout, r.err)
	}
	var report bandsReport
	r = execute(t, nil, "manifest", "bands", path, "--json")
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || report.Changed != 2 || report.Dropped != 1 || len(report.Tiers) != 2 ||
		*report.Tiles[0].Written.HLOD != 300 || *report.Tiles[0].Engine.HLOD != 29 || report.Tiles[1].Engine.HLOD != nil {
		t.Errorf("%v %+v", err, report)
	}
	if r := execute(t, nil, "manifest", "bands", cooked(t), "--check"); r.code != 0 || !strings.Contains(r.stdout, "as they are") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	for _, args := range [][]string{{path, "--fov", "180"}, {path, "--height", "0"}, {t.TempDir()}, {}} {
		if r := execute(t, nil, append([]string{"manifest", "bands"}, args...)...); r.code != 2 || r.err == "" {
			t.Errorf("%v: exit %d", args, r.code)
		}
	}
	if r := execute(t, nil, "manifest", "bands", testfile.Write(t, filepath.Join(t.TempDir(), "x.json"), []byte(`{}`))); r.code != 1 {
		t.Errorf("exit %d", r.code)
	}
}

func TestManifestNormalize(t *testing.T) {
	path := muddled(t)
	before := testfile.Read(t, path)
	r := execute(t, nil, "manifest", "normalize", path, "--check")
	if r.code != 1 || !strings.Contains(r.stdout, "/tiles/0/hlod_levels/0/switch_distance: 300 -> 29") || !strings.Contains(r.stdout, "changes") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	r = execute(t, nil, "manifest", "normalize", path)
	if r.code != 0 || !strings.Contains(r.stdout, `"mine": {"a": [1,2]},`) || !strings.Contains(r.stdout, `"tiles/a.untold"`) || !strings.Contains(r.err, "300 -> 29") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	tidy := r.stdout
	if now, _ := os.ReadFile(path); string(now) != string(before) {
		t.Error("the manifest was changed")
	}
	out := filepath.Join(filepath.Dir(path), "out.json")
	if r := execute(t, nil, "manifest", "normalize", path, "-o", out, "-q"); r.code != 0 || r.stdout != "" || r.err != "" {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if r := execute(t, nil, "manifest", "normalize", path, "--in-place"); r.code != 0 || r.stdout != "" {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	for _, p := range []string{path, out} {
		if now, _ := os.ReadFile(p); string(now) != tidy {
			t.Errorf("%s has\n%s", p, now)
		}
		if r := execute(t, nil, "manifest", "normalize", p, "--check"); r.code != 0 || r.stdout != "0 changes\n" {
			t.Errorf("exit %d: %s", r.code, r.stdout)
		}
	}
	escapes := testfile.Write(t, filepath.Join(t.TempDir(), "e.json"), []byte(strings.Replace(tidy, "tiles/a.untold", "../a.untold", 1)))
	if r := execute(t, nil, "manifest", "normalize", escapes, "--check"); r.code != 1 || !strings.Contains(r.err, "stays as it is") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	for _, c := range []struct {
		code int
		args []string
	}{
		{2, []string{path, "--check", "--in-place"}},
		{2, []string{path, "-o", out, "--in-place"}},
		{2, []string{"none.json"}},
		{1, []string{testfile.Write(t, filepath.Join(t.TempDir(), "x.json"), []byte(`{"version": 1`))}},
	} {
		if r := execute(t, nil, append([]string{"manifest", "normalize"}, c.args...)...); r.code != c.code || r.err == "" {
			t.Errorf("%v: exit %d: %s", c.args, r.code, r.err)
		}
	}
}
