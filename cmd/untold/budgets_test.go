package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestVocabularyIsComplete: every figure of a command has its unit and meaning, and
// nothing is listed that no command has.
func TestVocabularyIsComplete(t *testing.T) {
	for _, s := range figureSources {
		for _, name := range s.names() {
			if _, ok := budget.Find(name); !ok {
				t.Errorf("%s has the figure %q, which is not in the vocabulary", s.command, name)
			}
		}
	}
	for _, f := range budget.Figures() {
		if len(commandsWith(f.Name)) == 0 {
			t.Errorf("no command has the figure %q", f.Name)
		}
	}
}

// TestBudgets cooks a small scene once, and judges it in all ways.
func TestBudgets(t *testing.T) {
	scene := yard(t)
	dir := filepath.Join(t.TempDir(), "yard")
	report := filepath.Join(t.TempDir(), "report.json")
	r := here(t, "cook", scene, "-o", dir, "--report", report, "--fail-if", "tile_bytes_max>1k", "--fail-if", "triangles_per_tile_p95>50k, warnings>0")
	if r.code != exitWanting || !strings.Contains(r.stdout, "(--fail-if tile_bytes_max>1k)\n") || strings.Count(r.stdout, "failed: ") != 1 ||
		!strings.Contains(r.stdout, "farthest over its budget: tile_bytes_max ") || !strings.Contains(r.stdout, "yard.json is finished all the same") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	if r := here(t, "validate", dir, "--strict", "-q"); r.code != 0 {
		t.Errorf("the scene is not finished: %s%s", r.stdout, r.err)
	}
	var said struct {
		Figures map[string]float64 `json:"figures"`
		Budgets []budget.Verdict   `json:"budgets"`
	}
	if err := json.Unmarshal(testfile.Read(t, report), &said); err != nil {
		t.Fatal(err)
	}
	if len(said.Figures) != len(cookFigureNames()) || said.Figures["triangles_total"] != 144 || len(said.Budgets) != 3 || !said.Budgets[0].Failed || said.Budgets[1].Failed {
		t.Errorf("%+v", said)
	}

	// Nothing has changed, and the budgets are judged.
	config := testfile.Write(t, filepath.Join(t.TempDir(), "ci.yaml"), "fail-if: [\"tile_bytes_max>1M\", \"undrawn>0\", \"flip_mean>0.05\"]\n")
	for _, c := range []struct {
		env, args []string
		code      int
		out, err  string
	}{
		{nil, []string{"cook", scene, "-o", dir, "--config", config}, 0, "closest budget: tile_bytes_max ", ""},
		{nil, []string{"cook", scene, "-o", dir, "--config", config, "--fail-if", "tiles>0", "--json"}, 1, `"figures": {`, "failed: tiles is 1 (--fail-if tiles>0)"},
		{nil, []string{"cook", scene, "-o", dir, "--config", config, "-q"}, 0, "", ""},
		{nil, []string{"validate", dir, "--config", config}, 0, "closest budget: tile_bytes_max ", ""},
		{nil, []string{"validate", dir, "--fail-if", "tile_bytes_max>1kB", "--format", "junit"}, 1, `<testcase name="budget tile_bytes_max&gt;1kB"`, "failed: tile_bytes_max"},
		{nil, []string{"validate", dir, "--fail-if", "tile_bytes_max>1kB", "--format", "github"}, 1, "/yard.json,line=1,title=budget::tile_bytes_max is ", ""},
		{nil, []string{"validate", dir, "--fail-if", "tile_bytes_max>1kB", "--format", "sarif"}, 1, `"helpUri": "https://github.com/untoldkit/untold/blob/main/docs/budgets.md"`, ""},
		{nil, []string{"validate", dir, "--fail-if", "tile_bytes_max>1kB", "--json"}, 1, `"ok": false`, ""},
		{nil, []string{"validate", filepath.Join(dir, "tiles"), "--fail-if", "tile_bytes_max>1kB"}, 2, "", "no manifest that can be read was judged"},
		{nil, []string{"simulate", dir, "--config", config, "--orbit", "--duration", "1s"}, 0, "closest budget: undrawn 0 of 0", ""},
		{[]string{"UNTOLD_FAIL_IF=undrawn>0,tiles>0"}, []string{"validate", dir}, 1, "failed: tiles is 1", ""},
		{[]string{"UNTOLD_FAIL_IF=undrown>0"}, []string{"validate", dir}, 2, "", "there is no figure"},
		{[]string{"UNTOLD_FAIL_IF=undrawn>many"}, []string{"validate", dir}, 2, "", `"many" is no number`},
		{nil, []string{"validate", dir, "--fail-if", "undrawn>0"}, 2, "", "simulate, preview and bench have it"},
		{nil, []string{"cook", scene, "-o", dir, "--fail-if", "tile_bytes>1"}, 2, "", `did you mean "tile_bytes_p50"`},
		{nil, []string{"cook", scene, "--dry-run", "--fail-if", "tile_bytes_max>1"}, 2, "", "a dry run makes no files"},
		{nil, []string{"cook", scene, "--dry-run", "--fail-if", "triangles_total>100"}, 1, "failed: triangles_total is 144", ""},
		{nil, []string{"cook", scene, "--dry-run", "--fail-if", "level_files>9"}, 0, "closest budget: level_files ", "note: all levels are made, since --fail-if level_files>9"},
		{nil, []string{"cook", scene, "--shard", "0/1", "--store", dir, "--fail-if", "tiles>1"}, 2, "", "they are for the last cook"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			for _, e := range c.env {
				name, value, _ := strings.Cut(e, "=")
				t.Setenv(name, value)
			}
			r := here(t, c.args...)
			if r.code != c.code || !strings.Contains(r.stdout, c.out) || !strings.Contains(r.err, c.err) {
				t.Errorf("%v: exit %d, want %d\n%s%s", c.env, r.code, c.code, r.stdout, r.err)
			}
		})
	}

	// The file beside the scene, and the one beside the manifest.
	testfile.Write(t, filepath.Join(filepath.Dir(scene), profileName), "fail-if: tiles>0\n")
	if r := here(t, "cook", scene, "-o", dir); r.code != 1 || !strings.Contains(r.stdout, "failed: tiles is 1") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	testfile.Write(t, filepath.Join(dir, profileName), "fail-if: [frames>1, tiles>0]\n")
	if r := here(t, "simulate", dir, "--orbit", "--duration", "1s"); r.code != 1 || !strings.Contains(r.stdout, "failed: frames is 60") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.err)
	}
}

func TestFigures(t *testing.T) {
	r := here(t, "figures", "--for", "cook")
	if r.code != 0 || !strings.Contains(r.stdout, "visual_error_px_p95") || strings.Contains(r.stdout, "undrawn") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	var list []listedFigure
	r = here(t, "figures", "--json")
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || len(list) != len(budget.Figures()) {
		t.Errorf("%v\n%s", err, r.stdout)
	}
	if i := slices.IndexFunc(list, func(f listedFigure) bool { return f.Name == "warnings" }); i < 0 || !slices.Equal(list[i].Commands, []string{"cook", "validate"}) {
		t.Errorf("%+v", list)
	}
	if r := here(t, "figures", "--for", "export"); r.code != exitFailure {
		t.Errorf("exit %d", r.code)
	}
}

func TestBudgetFormats(t *testing.T) {
	r := sampleReport()
	r.Budgets = []budget.Verdict{{Figure: "tiles", FailIf: "tiles>0"}}
	for name, write := range reportFormats {
		var b strings.Builder
		if err := write(&b, r, false); err != nil || name != "json" && name != "junit" && strings.Contains(b.String(), "tiles") {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
	if _, err := (&verify.Figures{}).Value("tiles"); err == nil {
		t.Error("tiles of nothing")
	}
}
