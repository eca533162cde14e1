package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/internal/tune"
)

// TestTune: settings that need fewer bytes are written beside the scene, where cook takes
// them; a file that is there stays as it is.
func TestTune(t *testing.T) {
	temporary := t.TempDir() // apart from what other programs do
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, temporary)
	}
	scene := testfile.Write(t, filepath.Join(t.TempDir(), "dunes.gltf"), dunes(40))
	plot := filepath.Join(t.TempDir(), "tried.svg")
	args := []string{"tune", scene, "--duration", "2s", "--trials", "4", "--plot", plot}
	r := here(t, args...)
	settings := filepath.Join(filepath.Dir(scene), profileName)
	if r.code != 0 || !strings.Contains(r.stdout, "fewer bytes") || !strings.Contains(r.err, "compress delta") {
		t.Fatalf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	text := string(testfile.Read(t, settings))
	if !strings.Contains(text, "\ncompress: delta\n") || !strings.Contains(text, "# Found by untold tune at 10MBps and 50ms along 4 camera paths:") {
		t.Error(text)
	}
	if svg := string(testfile.Read(t, plot)); !strings.Contains(svg, "dunes.gltf, 10MBps and 50ms") {
		t.Error(svg)
	}
	out := t.TempDir()
	if r := here(t, "cook", scene, "-o", out, "-q"); r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	if list, _ := filepath.Glob(filepath.Join(os.TempDir(), "untold-tune-*")); len(list) > 0 {
		t.Errorf("%v stay", list)
	}

	// What is set already is not turned, and stays.
	if r := here(t, args...); r.code != exitFailure || !strings.Contains(r.err, "--force") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	r = here(t, append(args, "--force", "--memory", "100M")...)
	if r.code != 0 || strings.Contains(r.err, "compress") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if got := string(testfile.Read(t, settings)); !strings.HasPrefix(got, text) {
		t.Error(got)
	}
	// Twice into a file of another name; the folder of cook is none for settings.
	other, bare := filepath.Join(t.TempDir(), "other.yaml"), testfile.Write(t, filepath.Join(t.TempDir(), "dunes.gltf"), dunes(40))
	for _, more := range [][]string{nil, {"--force"}} {
		if r := here(t, append([]string{"tune", bare, "--duration", "1s", "--trials", "2", "--memory", "100M", "-o", other}, more...)...); r.code != 0 {
			t.Errorf("exit %d: %s", r.code, r.err)
		}
	}
	if r := here(t, "cook", bare, "-o", t.TempDir(), "-q", "--config", other); r.code != 0 {
		t.Errorf("exit %d: %s\n%s", r.code, r.err, testfile.Read(t, other))
	}
	folder := filepath.Join(t.TempDir(), "folder")
	named := testfile.Write(t, filepath.Join(t.TempDir(), "c.yaml"), "output: "+folder+"\n")
	for _, command := range []string{"tune", "init"} {
		if r := here(t, command, scene, "--config", named); r.code != exitFailure || !strings.Contains(r.err, "is there already") {
			t.Errorf("%s: exit %d: %s", command, r.code, r.err)
		}
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("settings took the place of the folder of cook")
	}
	for _, bad := range [][]string{
		{"tune", "-"},
		{"tune", scene, "--trials", "0"},
		{"tune", scene, "-o", "-", "--json"},
		{"tune", filepath.Join(out, "none.glb")},
		{"tune", scene, "--force", "--camera-path", scene},
	} {
		if r := here(t, bad...); r.code == 0 || strings.Count(r.err, "error:") != 1 {
			t.Errorf("%v: exit %d: %s", bad, r.code, r.err)
		}
	}
}

// TestNotBetter: of what was tried and not taken it is said why.
func TestNotBetter(t *testing.T) {
	trial := func(bytes int64, paths ...int64) *tune.Trial {
		return &tune.Trial{Outcome: tune.Outcome{Bytes: bytes, ByPath: paths}}
	}
	best := trial(400, 300, 100)
	for want, tried := range map[string]*tune.Trial{
		"not fewer bytes": trial(400, 290, 110), "5 % more along path 2": trial(385, 280, 105), "hardly fewer bytes": trial(399, 299, 100),
	} {
		if got := notBetter(tried, best); got != want {
			t.Errorf("%+v: %q, want %q", tried.Outcome, got, want)
		}
	}
}
