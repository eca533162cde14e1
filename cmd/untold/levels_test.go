package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

func TestLevelFlags(t *testing.T) {
	scene := yard(t)
	for _, c := range []struct {
		args      string
		lods      int
		hlods     int
		suggested string // of an error
	}{
		{"", 0, 0, ""}, // a small scene is wanted whole
		{"--whole-limit 0", 2, 1, ""},
		{"--compat engine", 0, 0, ""},
		{"--compat engine --lod", 2, 0, ""},
		{"--lod --hlod", 2, 1, ""},
		{"--lod-level 0.5:0.4", 1, 1, ""},
		{"--lod --lod-level 0.5:0.4 --hlod=false", 1, 0, ""},
		{"--hlod-level _far:1:0.05", 2, 1, ""},
		{"--lod=false --lod-level 0.5:0.4 --hlod", 0, 0, "--lod=false makes no LODs"},
		{"--lod-level 0.5", 0, 0, "DISTANCE:RATIO"},
		{"--hlod-level far", 0, 0, "SUFFIX:DISTANCE:RATIO"},
		{"--lod-level 0.5:2", 0, 0, "ratio"},
		{"--hlod-level far:1:0.1", 0, 0, "suffix"},
		{"--lod=false --hlod=false --lod-error-pixels 2", 0, 0, "--lod"},
		{"--lod --lod-fov 200", 0, 0, "field of view"},
	} {
		if c.suggested != "" {
			r := execute(t, nil, append([]string{"cook", scene, "-o", t.TempDir(), "--dry-run"}, strings.Fields(c.args)...)...)
			if r.code != 2 || !strings.Contains(r.err, c.suggested) {
				t.Errorf("%s: exit %d, %q lacks %q", c.args, r.code, r.err, c.suggested)
			}
			continue
		}
		m := planned(t, scene, nil, strings.Fields(c.args)...)
		if len(m.LODGeneration.Levels) != c.lods || len(m.HLODGeneration.Levels) != c.hlods || m.LODGeneration.Enabled != (c.lods > 0) || m.HLODGeneration.Enabled != (c.hlods > 0) {
			t.Errorf("%s: %+v, %+v", c.args, m.LODGeneration, m.HLODGeneration)
		}
	}
}

func TestDryRunPrintsThePlan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	r := execute(t, nil, "cook", yard(t), "-o", dir, "--dry-run", "--tile-size", "2", "--lod")
	for _, text := range []string{"planned ", "per tile", "objects", "triangles", "uniform_grid, tiles of 2 x 2 m", "###"} {
		if !strings.Contains(r.stdout, text) {
			t.Errorf("the plan lacks %q:\n%s", text, r.stdout)
		}
	}
	if head, _, _ := strings.Cut(r.stdout, "\n"); strings.Contains(head, " 0 B") {
		t.Errorf("the size of tiles that were not made: %s", head)
	}
	r = execute(t, nil, "cook", yard(t), "-o", dir, "--dry-run", "--json", "--partition", "kdtree")
	var out struct {
		Plan struct {
			Histogram []struct{ Tiles int } `json:"histogram"`
			Tiers     []struct{ Tier string }
			Floors    []struct{ Tiles int }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || len(out.Plan.Histogram) == 0 || len(out.Plan.Tiers) == 0 || len(out.Plan.Floors) == 0 {
		t.Errorf("%v: %s", err, r.stdout)
	}
}

// TestEstimatesAreCalledSo: what a dry run only estimates is not told as if it were known.
func TestEstimatesAreCalledSo(t *testing.T) {
	var out strings.Builder
	a := &app{stdout: &out, stderr: io.Discard}
	m := &manifest.Manifest{TileSize: &manifest.Vec3Size{X: 8, Y: 8, Z: 8}}
	r := &cook.Result{DryRun: true, Estimated: 2, Levels: 3, Manifest: m, Plan: cook.Summarize(m), Needs: &cook.Needs{Full: 30, Seen: 90}}
	r.Plan.Levels = []cook.LevelsCount{{Level: "lod1", Tiles: 3}}
	wants := func(list ...string) {
		t.Helper()
		out.Reset()
		err := printCooked(a, r)
		for _, want := range list {
			if err != nil || !strings.Contains(out.String(), want) {
				t.Errorf("%v: %q is not in\n%s", err, want, out.String())
			}
		}
	}
	wants("about 3 LOD or HLOD files; those of 2 tiles are estimated", "full within about 30 m, coarsest to about 90 m", "at most about 0 B", "level  tiles, about")
	// With a pyramid the distance of the coarsest level says nothing about the scene.
	r.PyramidNodes = 1
	wants("a pyramid of 1 merged HLOD", "full within about 30 m, the pyramid to the horizon; ")
	r.PyramidNodes = 0
	// Where none is worth making, that is an estimate as well.
	r.Levels, r.Plan.Levels = 0, nil
	wants("about 0 LOD or HLOD files; those of 2 tiles are estimated", "seen within about 30 m", "at most about 0 B")
	out.Reset()
	r.Estimated, r.Levels, r.Plan.Levels = 0, 3, []cook.LevelsCount{{Level: "lod1", Tiles: 3}}
	if err := printCooked(a, r); err != nil || strings.Contains(out.String(), "about") || strings.Contains(out.String(), "estimated") {
		t.Errorf("%v:\n%s", err, out.String())
	}
}

func TestCookReport(t *testing.T) {
	dir := t.TempDir()
	page, data := filepath.Join(dir, "r.html"), filepath.Join(dir, "r.json")
	for _, path := range []string{page, data} {
		if r := execute(t, nil, "cook", yard(t), "-o", filepath.Join(dir, "out"), "--report", path); r.code != 0 {
			t.Fatal(r.err)
		}
	}
	html, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(html), "<svg") || strings.Contains(string(html), "http://") && strings.Contains(string(html), "<script src") {
		t.Errorf("%v: %.300s", err, html)
	}
	var report struct {
		Tiles   []struct{ Triangles int }
		Objects []struct {
			Name  string
			Tiles []string
		}
		Compat *struct{} `json:"compat_engine"`
	}
	text := testfile.Read(t, data)
	if err := json.Unmarshal(text, &report); err != nil || len(report.Objects) != 12 || len(report.Tiles) == 0 || report.Compat == nil || len(report.Objects[0].Tiles) == 0 {
		t.Errorf("%v: %+v", err, report)
	}
	for _, path := range []string{"out/yard.json", "out/YARD.json", "out/tiles/r.json", "no/such/folder/r.html"} {
		r := execute(t, nil, "cook", yard(t), "-o", filepath.Join(dir, "out"), "--report", filepath.Join(dir, filepath.FromSlash(path)))
		if r.code != 2 || !strings.Contains(r.err, "--report") {
			t.Errorf("%s: exit %d: %s", path, r.code, r.err)
		}
	}
	if r := execute(t, nil, "cook", yard(t), "-o", filepath.Join(dir, "out"), "--report", "x.txt"); r.code != 2 || !strings.Contains(r.err, ".json or .html") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
