package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestDryRunWritesNothing: a plan over a cooked scene leaves the folder as it
// is; --plan writes it elsewhere, for all that read plans.
func TestDryRunWritesNothing(t *testing.T) {
	dir := cooked(t)
	before := testfile.ReadTree(t, dir)
	scene, elsewhere := yard(t), t.TempDir()
	plan, report := filepath.Join(elsewhere, "plan.json"), filepath.Join(elsewhere, "report.html")
	r := execute(t, nil, "cook", scene, "-o", dir, "--dry-run", "--tile-size", "2", "--plan", plan, "--report", report, "--json")
	var out struct {
		DryRun   bool   `json:"dry_run"`
		PlanFile string `json:"plan_file"`
		Tiles    int
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); r.code != 0 || err != nil || !out.DryRun || out.PlanFile != plan || out.Tiles < 10 {
		t.Errorf("exit %d: %v: %+v %s", r.code, err, out, r.err)
	}
	if !strings.Contains(string(testfile.Read(t, report)), "nothing was written") {
		t.Error("the report does not tell")
	}
	after := testfile.ReadTree(t, dir)
	if len(after) != len(before) {
		t.Errorf("%d files, were %d", len(after), len(before))
	}
	for path, text := range before {
		if after[path] != text {
			t.Errorf("%s has changed", path)
		}
	}
	if r := execute(t, nil, "validate", dir, "--strict"); r.code != 0 {
		t.Errorf("%s", r.stdout)
	}
	var file struct {
		Kind     string
		Version  int
		Manifest struct {
			DryRun bool `json:"dry_run"`
		}
	}
	if err := json.Unmarshal([]byte(string(testfile.Read(t, plan))), &file); err != nil || file.Kind != "untold-plan" || file.Version != 1 || !file.Manifest.DryRun {
		t.Errorf("%v: %+v", err, file)
	}
	svg, rebuilt := filepath.Join(elsewhere, "map.svg"), filepath.Join(elsewhere, "yard.json")
	if err := os.CopyFS(filepath.Join(elsewhere, "tiles"), os.DirFS(filepath.Join(dir, "tiles"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"inspect PLAN", 0, "dry run"},
		{"inspect PLAN --json", 0, `"dry_run": true`},
		{"inspect PLAN --map " + svg, 0, "drew "},
		{"validate PLAN", 0, "manifest-dry-run"},
		{"manifest bands PLAN", 0, "tile_0_0_0"},
		{"manifest build " + elsewhere + "/tiles --from PLAN -o " + rebuilt, 0, "built "},
		{"simulate PLAN --duration 1", 0, "frames"},
		{"export PLAN -o " + elsewhere + "/x.glb", 1, "plan of a dry run"},
		{"manifest normalize PLAN", 1, "plan of a dry run"},
		// Such a plan is not cooked from, and none is written to a wrong place.
		{"cook " + scene + " -o " + elsewhere + "/y --plan PLAN", 2, "cooked from .plan files"},
		{"cook " + scene + " --store " + elsewhere + "/s --shard 0/1 --plan PLAN", 2, "follows a .plan file"},
		{"cook " + scene + " -o " + elsewhere + "/y --plan " + elsewhere + "/none.plan", 2, "does not exist"},
		{"cook " + scene + " -o " + dir + " --tile-size 2 --plan " + elsewhere + "/none.plan", 2, "does not exist"}, // also where nothing has changed
		{"cook " + scene + " -o " + elsewhere + "/y --watch --plan " + elsewhere + "/none.plan", 2, "--watch"},
		{"cook " + scene + " --dry-run --report " + elsewhere + "/r.json --plan " + elsewhere + "/a.plan", 2, "no tile is made"},
		{"cook " + scene + " --dry-run --plan " + rebuilt, 2, "another file already"},
		{"cook " + scene + " --dry-run --plan " + elsewhere + "/plan.txt", 2, "must end in .json"},
		{"cook " + scene + " --dry-run --plan " + elsewhere + "/none/plan.json", 2, "does not exist"},
		{"cook " + scene + " --dry-run -o " + elsewhere + "/new --report " + elsewhere + "/new/r.json", 2, "does not exist"},
		{"cook " + scene + " --dry-run --plan PLAN", 0, "planned "},
		{"cook " + scene, 2, "--output (-o)"},
	} {
		r := execute(t, nil, strings.Fields(strings.ReplaceAll(c.line, "PLAN", plan))...)
		if r.code != c.code || !strings.Contains(r.stdout+r.err, c.want) {
			t.Errorf("%s: exit %d, want %d with %q: %s%s", c.line, r.code, c.code, c.want, r.stdout, r.err)
		}
	}
}
