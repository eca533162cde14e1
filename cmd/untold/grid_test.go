package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// planned cooks the yard as a dry run and returns its manifest.
func planned(t *testing.T, scene string, env []string, args ...string) *manifest.Manifest {
	t.Helper()
	plan := filepath.Join(t.TempDir(), "plan.json")
	r := execute(t, env, append([]string{"cook", scene, "--dry-run", "--plan", plan}, args...)...)
	if r.code != 0 {
		t.Fatalf("%v: exit %d: %s", args, r.code, r.err)
	}
	m, err := manifest.LoadPlanned(plan)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTileSizeSources(t *testing.T) {
	scene := yard(t)
	profile := filepath.Join(filepath.Dir(scene), profileName)
	for _, c := range []struct {
		name, profile string
		env           []string
		args          string
		want          string // x z mode
	}{
		{"default", "", nil, "", "40 40 auto"},
		{"of the reference", "", nil, "--compat engine", "25 25 manual"},
		{"both", "", nil, "--tile-size 40", "40 40 manual"},
		{"one axis", "", nil, "--tile-size-x 20", "20 40 auto"},
		{"flag over profile", "tile-size: 10", nil, "--tile-size-x 40", "40 10 manual"},
		{"flag over env", "tile-size-x: 5", []string{"UNTOLD_TILE_SIZE_X=7"}, "--tile-size 40", "40 40 manual"},
		{"env over profile", "tile-size: 5", []string{"UNTOLD_TILE_SIZE=7"}, "", "7 7 manual"},
		{"size over auto", "auto-tile-size: true", nil, "--tile-size 40", "40 40 manual"},
	} {
		testfile.Write(t, profile, c.profile)
		m := planned(t, scene, c.env, strings.Fields(c.args)...)
		if got := fmt.Sprint(m.TileSize.X, m.TileSize.Z, " ", m.TileSizeMode); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	os.Remove(profile)
	if m := planned(t, scene, nil, "--auto-tile-size"); m.TileSizeMode != "auto" || m.TileSize.X != m.TileSize.Z || m.TileSize.X == 25 {
		t.Errorf("auto: %+v %s", m.TileSize, m.TileSizeMode)
	}
	for _, args := range []string{"--tile-size 5 --tile-size-z 6", "--tile-size 5 --auto-tile-size", "--sample-fraction 2", "--perimeter-depth -1", "--compat blender"} {
		r := execute(t, nil, append([]string{"cook", scene, "-o", t.TempDir(), "--dry-run"}, strings.Fields(args)...)...)
		if r.code != 2 || !strings.Contains(r.err, "error:") {
			t.Errorf("%s: exit %d: %s", args, r.code, r.err)
		}
	}
}

func TestSampleAndPerimeter(t *testing.T) {
	scene := yard(t)
	all := planned(t, scene, nil, "--tile-size", "2")
	sample := planned(t, scene, nil, "--tile-size", "2", "--sample-fraction", "0.25")
	if n, s := len(all.Tiles), len(sample.Tiles); s != (n+3)/4 {
		t.Errorf("a quarter of %d tiles is %d", n, s)
	}
	if n := len(planned(t, scene, nil, "--tile-size", "2", "--perimeter-depth", "1").Tiles); n == 0 || n > len(all.Tiles) {
		t.Errorf("perimeter: %d of %d tiles", n, len(all.Tiles))
	}
}

func TestCompatEngine(t *testing.T) {
	scene := yard(t)
	m := planned(t, scene, nil, "--compat", "engine", "--tile-size", "2")
	if m.PayloadDir != "tile_exports" {
		t.Errorf("payload folder %q", m.PayloadDir)
	}
	for i := range m.Tiles {
		if b := m.Tiles[i].Bounds; b != *m.Tiles[i].CellBounds || b.Max[1]-b.Min[1] != 10000 {
			t.Fatalf("tile %s: bounds %v are not its cell's", m.Tiles[i].ID, b)
		}
	}
	ours := planned(t, scene, nil, "--compat", "engine", "--tile-size", "2", "--clip=true", "--payload-dir", "parts")
	if ours.PayloadDir != "parts" {
		t.Errorf("a flag beside the preset lost: %q", ours.PayloadDir)
	}
	for _, mode := range []string{"quadtree", "kdtree"} {
		m := planned(t, scene, nil, "--compat", "engine", "--partition", mode)
		if len(m.Tiles) == 0 || *m.Tiles[0].FloorID != 1 {
			t.Errorf("%s: floors count from %d, the reference exporter's from 1", mode, *m.Tiles[0].FloorID)
		}
	}
}
