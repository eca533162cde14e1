package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/tiles3d"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestExportTileset: a manifest becomes a folder, an archive, and what --also writes, with
// the same bytes.
func TestExportTileset(t *testing.T) {
	dir := cooked(t, "--tile-size", "25", "--also", "3dtiles")
	if r := execute(t, nil, "validate", dir, "--strict"); r.code != 0 {
		t.Errorf("validate: exit %d: %s%s", r.code, r.stdout, r.err)
	}
	out := filepath.Join(t.TempDir(), "set")
	r := execute(t, nil, "export", dir, "--format", "3dtiles", "-o", out, "--json")
	var res tiles3d.Result
	if err := json.Unmarshal([]byte(r.stdout), &res); r.code != 0 || err != nil || res.Triangles != 144 || res.Path != filepath.Join(out, "tileset.json") {
		t.Fatalf("exit %d, %v: %s%s", r.code, err, r.stdout, r.err)
	}
	for _, name := range []string{"tileset.json", "tiles/tile_0_0_0.glb"} {
		a, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "3dtiles", name)); err != nil || string(a) != string(b) {
			t.Errorf("%s of --also: %v, or other bytes", name, err)
		}
	}
	// A second export touches nothing, --verify reads what is there, --full makes it anew.
	set := filepath.Join(out, "tileset.json")
	was, err := os.Stat(set)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flag, want string
		same       bool
	}{{"--jobs=2", set + ": nothing has changed\n", true}, {"--verify", set + ": nothing has changed\n", true}, {"--full", "144 triangles", false}} {
		r := execute(t, nil, "export", dir, "--format", "3dtiles", "-o", out, c.flag)
		now, err := os.Stat(set)
		if r.code != 0 || err != nil || !strings.Contains(r.stdout, c.want) || os.SameFile(was, now) != c.same {
			t.Errorf("%s: exit %d, %v: %s%s", c.flag, r.code, err, r.stdout, r.err)
		}
	}
	// The folder is replaced, and what it shows is what was asked for last.
	r = execute(t, nil, "export", dir, "--format", "3dtiles", "-o", out, "--ecef", "13.3777, 52.5163, 34, 90", "--compress=false")
	text, err := os.ReadFile(filepath.Join(out, "tileset.json"))
	if r.code != 0 || err != nil || !strings.Contains(string(text), `"transform":[`) || !strings.Contains(r.stdout, "144 triangles") {
		t.Errorf("--ecef: exit %d, %v: %s%s", r.code, err, r.stdout, r.err)
	}
	archive := filepath.Join(t.TempDir(), "yard.3tz")
	if r = execute(t, nil, "export", dir, "-o", archive); r.code != 0 || !strings.HasPrefix(r.stdout, archive+": ") {
		t.Errorf("archive: exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if r = execute(t, nil, "export", dir, "-o", archive); r.code != 0 || r.stdout != archive+": nothing has changed\n" {
		t.Errorf("archive, again: exit %d: %s%s", r.code, r.stdout, r.err)
	}
	glb := filepath.Join(t.TempDir(), "yard.glb")
	if r = execute(t, nil, "export", dir, "-o", glb, "--compress"); r.code != 0 {
		t.Errorf("--compress: exit %d: %s", r.code, r.err)
	}
	if r = execute(t, nil, "convert", glb, "-o", filepath.Join(t.TempDir(), "yard.untold")); r.code != 0 {
		t.Errorf("what --compress wrote is not read: %s", r.err)
	}
}

func TestExportTilesetRefuses(t *testing.T) {
	dir := cooked(t, "--tile-size", "25")
	taken := t.TempDir()
	testfile.Write(t, filepath.Join(taken, "mine.txt"), []byte("x"))
	container := filepath.Join(dir, "tiles", "tile_0_0_0.untold")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"export", dir, "-o", "a", "--format", "i3s"}, `--format is "i3s"; use gltf, 3dtiles or web`},
		{[]string{"export", dir, "-o", "a.glb", "--format", "3dtiles"}, "writes a folder, or a file that ends in .3tz"},
		{[]string{"export", dir, "-o", "a.3tz", "--format", "gltf"}, "--format gltf writes a .glb or a .gltf"},
		{[]string{"export", container, "-o", "a.3tz"}, "is a container; 3D Tiles are made of a manifest"},
		{[]string{"export", dir, "-o", "a.3tz", "--levels", "hlod"}, "3D Tiles and pages for the web have all levels"},
		{[]string{"export", dir, "-o", "a.glb", "--ecef", "1,2,3"}, "add --format 3dtiles"},
		{[]string{"export", dir, "-o", "a.3tz", "--ecef", "1,2"}, "use LON,LAT,HEIGHT"},
		{[]string{"export", dir, "-o", "a.3tz", "--ecef", "1,north,3"}, `"north" is no number`},
		{[]string{"export", dir, "-o", "a.3tz", "--ecef", "1,91,3"}, "the latitude is 91 degrees, not within -90 to 90"},
		{[]string{"export", dir, "-o", "a.glb", "--full"}, "--full"},
		{[]string{"export", dir, "-o", "a.3tz", "-j", "-2"}, "--jobs is -2"},
		{[]string{"export", dir, "-o", taken, "--format", "3dtiles"}, "holds mine.txt; name another folder or empty it"},
		{[]string{"cook", yard(t), "-o", filepath.Join(t.TempDir(), "x"), "--also", "i3s"}, `--also is "i3s"; use 3dtiles`},
		{[]string{"cook", yard(t), "--dry-run", "--also", "3dtiles"}, "--dry-run cooks none"},
	} {
		if r := execute(t, nil, c.args...); r.code == 0 || !strings.Contains(r.err, c.want) || strings.Contains(r.err, "tiles3d:") {
			t.Errorf("%v: exit %d: %s", c.args, r.code, r.err)
		}
	}
}
