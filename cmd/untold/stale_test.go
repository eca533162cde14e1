package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	if r := execute(t, nil, "convert", city, "-o", filepath.Join(dir, "tiles", "model.untold")); r.code != 0 {
		t.Fatalf("convert: exit %d: %s", r.code, r.err)
	}
	before := onDisk(t, dir)
	cookInto(t, plain, dir)
	got := onDisk(t, dir)
	for name, text := range before {
		if (strings.HasPrefix(name, "tiles/Textures/") || name == "tiles/model.untold") && got[name] != text {
			t.Errorf("%s is gone or another", name)
		}
	}
}
