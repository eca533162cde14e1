package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// What cook writes by default, and what it writes as the reference exporter does,
// passes validate --strict: oddities that were asked for are notes.
func TestValidateOwnOutputs(t *testing.T) {
	for _, scene := range []string{yard(t), paintedScene(t), testfile.Write(t, filepath.Join(t.TempDir(), "far.gltf"), []byte(strings.ReplaceAll(string(boxScene(12)), `"translation":[`, `"scale":[1,1,1],"translation":[90`)))} {
		for _, args := range []string{
			"", "--lod --hlod", "--tile-size 2 --clip=false", "--partition quadtree", "--partition kdtree --lod --hlod", "--instances --textures bc --hlod",
			"--compat engine", "--compat engine --tile-size 2 --lod --hlod", "--compat engine --partition quadtree --lod --hlod", "--compat engine --partition kdtree --lod --hlod",
			"--compat engine --partition quadtree --tier-radius RoomContents=30,31 --tier-radius ExteriorShell=6,10 --lod --hlod",
		} {
			dir := filepath.Join(t.TempDir(), "out")
			if r := execute(t, nil, append([]string{"cook", scene, "-o", dir}, strings.Fields(args)...)...); r.code != 0 {
				t.Fatalf("%s: %s", args, r.err)
			}
			r := execute(t, nil, "validate", dir, "--strict")
			if strings.Contains(args, "--clip=false") && !strings.Contains(args, "compat") {
				continue // bounds that uncut objects overhang are worth a warning there
			}
			if r.code != 0 {
				t.Errorf("cook %s %s: exit %d: %s", filepath.Base(scene), args, r.code, r.stdout)
			}
		}
	}
}

// A server's textures are looked for on the server.
func TestValidateRemoteTextures(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	if r := execute(t, nil, "cook", paintedScene(t), "-o", dir); r.code != 0 {
		t.Fatal(r.err)
	}
	s := startServe(t, dir)
	tiles, err := filepath.Glob(filepath.Join(dir, "tiles", "*.untold"))
	if err != nil || len(tiles) == 0 {
		t.Fatal(tiles, err)
	}
	one := s.url + "tiles/" + filepath.Base(tiles[0])
	for _, address := range []string{s.scenes[0], one} {
		if r := execute(t, nil, "validate", address, "--strict"); r.code != 0 || strings.Contains(r.stdout, "texture-missing") {
			t.Errorf("%s: exit %d: %s%s", address, r.code, r.stdout, r.err)
		}
	}
	textures, err := filepath.Glob(filepath.Join(dir, "tiles", "Textures", "*"))
	if err != nil || len(textures) != 1 {
		t.Fatal(textures, err)
	}
	if err := os.Remove(textures[0]); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{s.scenes[0], one} {
		if r := execute(t, nil, "validate", address, "--strict"); r.code != 1 || !strings.Contains(r.stdout, "texture-missing") {
			t.Errorf("%s: exit %d: %s%s", address, r.code, r.stdout, r.err)
		}
	}
}

// TestValidateInfos: what is no fault is told three times, then counted.
func TestValidateInfos(t *testing.T) {
	scene, _ := smallCity(t)
	out := filepath.Join(t.TempDir(), "out")
	if r := execute(t, nil, "cook", scene, "-o", out, "-q", "--compress", "delta", "--whole-limit", "0"); r.code != 0 {
		t.Fatal(r.err)
	}
	count := func(args ...string) (n int, more bool) {
		t.Helper()
		r := execute(t, nil, append([]string{"validate", out}, args...)...)
		if r.code != 0 {
			t.Fatalf("exit %d: %s%s", r.code, r.stdout, r.err)
		}
		return strings.Count(r.stdout, "info delta-not-portable: "), strings.Contains(r.stdout, " more (--verbose lists all)")
	}
	if n, more := count(); n != shownInfos+1 || !more {
		t.Errorf("%d lines, the rest counted: %v", n, more)
	}
	if n, more := count("--verbose"); n <= shownInfos+1 || more {
		t.Errorf("%d lines with --verbose, the rest counted: %v", n, more)
	}
	if n, _ := count("--quiet"); n != 0 {
		t.Errorf("%d lines with --quiet", n)
	}
}
