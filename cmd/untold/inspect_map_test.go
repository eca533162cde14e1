package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

func TestInspectMap(t *testing.T) {
	dir := cooked(t)
	m, err := manifest.Load(filepath.Join(dir, "yard.json"))
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	svg, picture := filepath.Join(out, "map.svg"), filepath.Join(out, "map.PNG")
	r := execute(t, nil, "inspect", dir, "--map", svg, "--map-color", "triangles", "--map-tile", m.Tiles[0].ID)
	if r.code != 0 || r.stdout != "" || !strings.Contains(r.err, "drew ") {
		t.Errorf("svg: exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	data, err := os.ReadFile(svg)
	if err != nil || !strings.HasPrefix(string(data), "<svg ") {
		t.Fatalf("%.20q, %v", data, err)
	}
	for _, want := range []string{"Triangles per tile", "Distances of the tile", ">" + m.Tiles[0].ID + "<", "yard.gltf"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the map lacks %q", want)
		}
	}
	r = execute(t, nil, "inspect", dir, "--map", picture, "--map-size", "500", "--quiet", "--json")
	if r.code != 0 || r.err != "" || !strings.Contains(r.stdout, `"tile_list"`) {
		t.Errorf("png: exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	data = testfile.Read(t, picture)
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil || max(img.Bounds().Dx(), img.Bounds().Dy()) != 500 {
		t.Errorf("%v", err)
	}
}

func TestInspectMapErrors(t *testing.T) {
	dir := cooked(t)
	tiles, err := filepath.Glob(filepath.Join(dir, "tiles", "*.untold"))
	if err != nil || len(tiles) == 0 {
		t.Fatal(tiles, err)
	}
	out := filepath.Join(t.TempDir(), "map.svg")
	for _, c := range []struct {
		args []string
		text string
	}{
		{[]string{dir, "--map", "map.jpg"}, ".svg or .png"},
		{[]string{dir, "--map-color", "tier"}, "--map-color goes with --map"},
		{[]string{dir, "--map-size", "700"}, "--map-size goes with --map"},
		{[]string{dir, "--map-whole"}, "--map-whole goes with --map"},
		{[]string{dir, "--map", out, "--map-color", "blue"}, "--map-color"},
		{[]string{dir, "--map", out, "--map-size", "7"}, "--map-size"},
		{[]string{dir, "--map", out, "--map-tile", "tile_x"}, "--map-tile: no such tile: \"tile_x\""},
		{[]string{tiles[0], "--map", out}, "is a container"},
		{[]string{dir, "--map", filepath.Join(out, "below", "map.svg")}, "map.svg"},
	} {
		r := execute(t, nil, append([]string{"inspect"}, c.args...)...)
		if r.code != 2 || !strings.Contains(r.err, c.text) {
			t.Errorf("%v: exit %d, stderr %q lacks %q", c.args, r.code, r.err, c.text)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a failed map left a file")
	}
}
