package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/levelcheck"
	"github.com/untoldkit/untold/internal/testfile"
)

func TestInspectLevels(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	scene := testfile.Write(t, filepath.Join(t.TempDir(), "dunes.gltf"), dunes(60))
	if r := execute(t, nil, "cook", scene, "-o", out, "--whole-limit", "0", "--quiet"); r.code != 0 {
		t.Fatal(r.err)
	}
	r := execute(t, nil, "inspect", out, "--levels", "--look")
	if r.code != 0 {
		t.Fatal(r.err)
	}
	for _, want := range []string{"begins", "visual error", "half", "flip", "lod1", "within 2 pixels of error where they begin", "FLIP there", "the greatest error is that of tiles/"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("the table lacks %q:\n%s", want, r.stdout)
		}
	}
	r = execute(t, nil, "inspect", out, "--levels", "--json")
	var list []levelcheck.Level
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || len(list) == 0 {
		t.Fatalf("%v: %s%s", err, r.stdout, r.err)
	}
	for _, l := range list {
		if l.Triangles <= 0 || l.Triangles >= l.FullTriangles || l.Begins <= 0 || l.VisualError == nil || l.Pixels <= 0 || l.Look != nil {
			t.Errorf("%+v", l)
		}
	}
	r = execute(t, nil, "inspect", cooked(t), "--levels")
	if r.code != 0 || !strings.Contains(r.stdout, "no tile has levels") {
		t.Errorf("without levels: exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	r = execute(t, nil, "inspect", cooked(t), "--levels", "--json")
	if r.code != 0 || strings.TrimSpace(r.stdout) != "[]" {
		t.Errorf("without levels: exit %d\n%s%s", r.code, r.stdout, r.err)
	}
}

func TestInspectLevelsErrors(t *testing.T) {
	dir := cooked(t)
	tiles, err := filepath.Glob(filepath.Join(dir, "tiles", "*.untold"))
	if err != nil || len(tiles) == 0 {
		t.Fatal(tiles, err)
	}
	for _, c := range []struct {
		args []string
		text string
	}{
		{[]string{dir, "--look"}, "--look goes with --levels"},
		{[]string{tiles[0], "--levels"}, "is a container"},
		{[]string{dir, "--levels", "--map", "map.svg"}, "--levels and --map exclude each other"},
		{[]string{"https://example.com/city.json", "--levels"}, "--levels reads all files of a scene"},
	} {
		r := execute(t, nil, append([]string{"inspect"}, c.args...)...)
		if r.code != 2 || !strings.Contains(r.err, c.text) {
			t.Errorf("%v: exit %d, stderr %q lacks %q", c.args, r.code, r.err, c.text)
		}
	}
}
