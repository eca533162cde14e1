package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/preview/surface"
)

// itself runs a command line in a process of its own that has OpenGL where the
// binary under test has not: this one, as the program.
func itself(t *testing.T, args ...string) result {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = append(os.Environ(), asProgram+"=1")
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	if strings.Contains(errs.String(), surface.ErrContext.Error()) {
		t.Skip("no OpenGL without a display here (scripts/install-deps.sh installs Mesa)")
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// TestCompareWhole: a scene that is whole looks as it does whole; one with
// levels does not quite; both runs give the same figures every time.
func TestCompareWhole(t *testing.T) {
	if !preview.Available {
		t.Skip("built without OpenGL (cgo)")
	}
	scene, out := testfile.Write(t, filepath.Join(t.TempDir(), "dunes.gltf"), dunes(40)), t.TempDir()
	small := []string{"--size", "96x64", "--samples", "1", "--shadows", "-1", "--quiet"}
	compare := func(args ...string) result {
		return itself(t, append(append([]string{"preview"}, args...), small...)...)
	}

	if r := compare(cookScene(t, scene), "--compare-whole", "roof, orbit", "--fail-if", "flip_mean>0", "--fail-if", "ssim_min<0.999999"); r.code != 0 {
		t.Errorf("a scene that is whole: exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	levels := cookScene(t, scene, "--whole-limit", "0")
	views := filepath.Join(out, "views.json")
	testfile.Write(t, views, `{"views": [
	  {"name": "near", "position": [5, 3, 12], "forward": [0, -0.3, -1]},
	  {"name": "far", "position": [5, 60, 140], "forward": [0, -60, -135], "fov_y_degrees": 4}]}`)
	figures, again, sheet, page := filepath.Join(out, "a.json"), filepath.Join(out, "b.json"), filepath.Join(out, "a.png"), filepath.Join(out, "a.html")
	r := compare(levels, "--compare-whole", views, "--report", figures, "--report", sheet, "--report", page, "--stats", "-", "--fail-if", "flip_mean>0")
	if r.code != exitWanting || !strings.Contains(r.err, "failed: flip_mean is ") {
		t.Errorf("levels: exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	compare(levels, "--compare-whole", views, "--report", again)
	if string(testfile.Read(t, figures)) != string(testfile.Read(t, again)) {
		t.Errorf("a second run gives other figures:\n%s\n%s", string(testfile.Read(t, figures)), string(testfile.Read(t, again)))
	}
	asSchema(t, "preview-compare", string(testfile.Read(t, figures)))
	var c preview.Comparison
	if err := json.Unmarshal([]byte(string(testfile.Read(t, figures))), &c); err != nil || len(c.Views) != 2 || c.Views[0].Name != "near" || c.Views[1].Name != "far" {
		t.Fatalf("%v: %+v", err, c)
	}
	var rep stats.Report
	if err := json.Unmarshal([]byte(r.stdout), &rep); err != nil || rep.CompareFigures != c.CompareFigures {
		t.Errorf("%v: the figures of --stats are %+v, of --report %+v", err, rep.CompareFigures, c.CompareFigures)
	}
	near, far := &c.Views[0], &c.Views[1]
	if near.Full != 1 || near.FLIPMean != 0 || near.SSIM < 0.999999 {
		t.Errorf("near: %+v", near)
	}
	if far.LOD+far.HLOD != 1 || far.Triangles >= far.WholeTriangles || far.FLIPMean == 0 || far.FLIPP99 <= far.FLIPMean || far.SSIM >= 1 {
		t.Errorf("far: %+v", far)
	}
	if !near.AtRest || !far.AtRest || c.FLIPMean != far.FLIPMean || c.SSIMMin != far.SSIM {
		t.Errorf("%+v", c)
	}
	if img, err := png.Decode(strings.NewReader(string(testfile.Read(t, sheet)))); err != nil || img.Bounds().Dx() < 3*96 || img.Bounds().Dy() < 2*64 {
		t.Errorf("the contact sheet: %v", err)
	}
	html := string(testfile.Read(t, page))
	if strings.Count(html, "data:image/jpeg;base64,") != 3*2 || strings.Count(html, "data:image/png;base64,") != 2 || strings.Contains(html, "http") || strings.Contains(html, "ZgotmplZ") {
		t.Error("the page lacks a picture, or needs another file")
	}
}

// TestPopReport: a walk towards a scene with levels sees them come.
func TestPopReport(t *testing.T) {
	if !preview.Available {
		t.Skip("built without OpenGL (cgo)")
	}
	scene, out := cookScene(t, testfile.Write(t, filepath.Join(t.TempDir(), "dunes.gltf"), dunes(40)), "--whole-limit", "0"), t.TempDir()
	path, report := filepath.Join(out, "path.json"), filepath.Join(out, "pops.json")
	testfile.Write(t, path, `{"fov_y_degrees": 5, "camera": [{"t": 0, "position": [5, 20, 140], "forward": [0, -0.15, -1]},
	  {"t": 4, "position": [5, 2, 12], "forward": [0, -0.3, -1], "mode": "linear"}]}`)
	r := itself(t, "preview", scene, "--camera-path", path, "--fixed-dt", "0.1", "--pop-report", report, "--size", "96x64", "--samples", "1", "--shadows", "-1",
		"--fail-if", "pop_max>=0")
	var p preview.Pops
	if err := json.Unmarshal([]byte(string(testfile.Read(t, report))), &p); err != nil || r.code != exitWanting || len(p.Switches) == 0 || !strings.Contains(r.stdout, " of 41 frames in 4.0 s have switches") {
		t.Fatalf("exit %d, %v: %+v\n%s%s", r.code, err, p, r.stdout, r.err)
	}
	asSchema(t, "preview-pops", string(testfile.Read(t, report)))
	last := p.Switches[len(p.Switches)-1]
	if to := last.Tiles[len(last.Tiles)-1].To; to != "full" {
		t.Errorf("the last switch is to %s", to)
	}
}

func TestCompareUsage(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"x", "--report", "a.html"}, "--report needs --compare-whole"},
		{[]string{"x", "--fail-if", "flip_mean>0.05"}, "--fail-if flip_mean>0.05 needs --compare-whole"},
		{[]string{"x", "--compare-whole="}, "wants cameras"},
		{[]string{"x", "y", "--compare-whole", "auto"}, "compares one scene"},
		{[]string{"x", "--compare-whole", "auto", "--whole"}, "--whole has no effect with --compare-whole"},
		{[]string{"x", "--compare-whole", "auto", "--orbit"}, "--orbit has no effect"},
		{[]string{"x", "--compare-whole", "auto", "--report", filepath.Join(dir, "a.pdf")}, "must end in .html, .json or .png"},
		{[]string{"x", "--compare-whole", "auto", "--report", filepath.Join(dir, "none", "a.png")}, "a.png: the folder " + filepath.Join(dir, "none") + " does not exist"},
		{[]string{"x", "--compare-whole", "auto", "--report", filepath.Join(dir, "a.png"), "--report", filepath.Join(dir, "a.png")}, "named twice"},
		{[]string{"x", "--pop-report", "a.html"}, "needs a camera path"},
		{[]string{"x", "y", "--pop-report", "a.html", "--orbit"}, "looks at one scene"},
		{[]string{"x", "--pop-report", "a.html", "--orbit", "--compare-whole", "auto"}, "--compare-whole has no effect with --pop-report"},
		{[]string{"x", "--pop-report", "a.txt", "--orbit"}, "must end in .html, .json or .png"},
		{[]string{"x", "--orbit", "--headless", "--fail-if", "pop_p99>0.002"}, "needs --pop-report"},
	} {
		var out, errs strings.Builder
		if !preview.Available {
			t.Skip("built without OpenGL (cgo)")
		}
		if code := run(t.Context(), append([]string{"preview"}, tc.args...), &out, &errs); code != exitFailure || !strings.Contains(errs.String(), tc.want) {
			t.Errorf("%v: exit %d, %q, want %q", tc.args, code, errs.String(), tc.want)
		}
	}
}
