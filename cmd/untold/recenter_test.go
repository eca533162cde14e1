package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/internal/testfile"
)

func TestRecenterFlag(t *testing.T) {
	var to cook.Recenter
	f := recenterFlag{&to}
	for text, want := range map[string]cook.Recenter{
		"auto": {Auto: true}, " none ": {}, "0,0,0": {}, "500000, 0,-4649776.5": {Offset: [3]float64{500_000, 0, -4_649_776.5}},
	} {
		if err := f.Set(text); err != nil || to != want {
			t.Errorf("%q: %+v, %v", text, to, err)
		}
		again := to
		if err := f.Set(f.String()); err != nil || to != again {
			t.Errorf("%q is written as %q: %v", text, f.String(), err)
		}
	}
	for _, text := range []string{"", "on", "1,2", "1,2,3,4", "1,2,x", "NaN,0,0", "Inf,0,0", "1e400,0,0"} {
		if err := f.Set(text); err == nil {
			t.Errorf("%q is an offset: %+v", text, to)
		}
	}
}

// TestRecenter: the offset of a scene far away stands in the manifest, in what
// inspect says, and nowhere with the preset.
func TestRecenter(t *testing.T) {
	scene := strings.Replace(string(boxScene(3)), `"translation":[`, `"translation":[500000`, -1)
	if scene == string(boxScene(3)) {
		t.Fatal("no box to move")
	}
	path := testfile.Write(t, filepath.Join(t.TempDir(), "far.gltf"), scene)
	dir := t.TempDir()
	r := execute(t, nil, "cook", path, "-o", dir)
	if r.code != 0 || !strings.Contains(r.err, "recentred") {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	if r := execute(t, nil, "inspect", dir); !strings.Contains(r.stdout, "coordinates are those of the source less (5000003, 0, 0) m") {
		t.Errorf("inspect: %s%s", r.stdout, r.err)
	}
	for _, args := range [][]string{{"--compat", "engine"}, {"--recenter", "none"}, {"--compat", "engine", "--recenter", "0,100,0"}} {
		dir := t.TempDir()
		r := execute(t, nil, append([]string{"cook", path, "-o", dir}, args...)...)
		if r.code != 0 {
			t.Fatalf("%v: exit %d: %s", args, r.code, r.err)
		}
		moved := strings.Contains(string(testfile.Read(t, filepath.Join(dir, "far.json"))), `"origin_offset": [0, 100, 0]`)
		if want := len(args) == 4; moved != want || strings.Contains(r.err, "coordinates-far") == want {
			t.Errorf("%v: offset %v: %s", args, moved, r.err)
		}
	}
}
