package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/testfile"
)

// The textures of an older scene go with it, with or without flushes; those that a
// model beside it names stay, and so do files that no container names.
func TestStaleTextures(t *testing.T) {
	city := makeScene(t, "city", 64)
	plain := testfile.Write(t, filepath.Join(t.TempDir(), "city.gltf"), boxScene(12))
	fresh := t.TempDir()
	cookInto(t, plain, fresh)
	want := onDisk(t, fresh)
	for _, sync := range []string{"--sync", "--sync=false"} {
		dir := t.TempDir()
		cookInto(t, city, dir, "--tile-size", "50", sync)
		textures, err := filepath.Glob(filepath.Join(dir, "tiles", "Textures", "*"))
		if err != nil || len(textures) < 3 {
			t.Fatalf("%d textures, %v", len(textures), err)
		}
		cookInto(t, plain, dir, sync)
		if got := onDisk(t, dir); !maps.Equal(got, want) {
			t.Errorf("%s: %d files, a fresh cook has %d", sync, len(got), len(want))
		}
		if _, err := os.Stat(filepath.Join(dir, "tiles", "Textures")); err == nil {
			t.Errorf("%s: the empty folder of textures stays", sync)
		}
	}
	dir := t.TempDir()
	cookInto(t, city, dir, "--tile-size", "50")
	testfile.Write(t, filepath.Join(dir, "tiles", "Textures", "mine.png"), "mine")
	// A tile of the old scene under another name is a model that names textures of it.
	tiles, err := filepath.Glob(filepath.Join(dir, "tiles", "tile_*.untold"))
	if err != nil || len(tiles) == 0 {
		t.Fatal(tiles, err)
	}
	stay := map[string]bool{"tiles/Textures/mine.png": true}
	model := string(testfile.Read(t, tiles[0]))
	testfile.Write(t, filepath.Join(dir, "tiles", "copy.untold"), model)
	r, err := format.NewBytesReader([]byte(model))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Textures() {
		stay["tiles/"+r.String(x.URIOffset)] = true
	}
	earlier := onDisk(t, dir)
	if r := execute(t, nil, "convert", city, "-o", filepath.Join(dir, "tiles", "model.untold")); r.code != 0 {
		t.Fatalf("convert: exit %d: %s", r.code, r.err)
	}
	before := onDisk(t, dir)
	for name := range before {
		if _, ok := earlier[name]; !ok {
			stay[name] = true // of the conversion
		}
	}
	cookInto(t, plain, dir)
	got := onDisk(t, dir)
	for name := range stay {
		if got[name] != before[name] || before[name] == "" {
			t.Errorf("%s is gone or another", name)
		}
	}
	for name := range got {
		if strings.HasPrefix(name, "tiles/Textures/") && !stay[name] {
			t.Errorf("%s is left", name)
		}
	}
}
