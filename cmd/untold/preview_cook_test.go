package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/holding"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/preview/surface"
)

// TestPreviewCooks: a glTF, and a folder with one, are cooked to be shown, with
// the settings beside the scene, and nothing is left.
func TestPreviewCooks(t *testing.T) {
	if !preview.Available {
		t.Skip("built without OpenGL (cgo)")
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	scene := yard(t)
	beside(t, scene, "tile-size: 4\nmaxConcurrentTileLoads: 1\n")
	// One folder deeper, as models often come.
	above := t.TempDir()
	if err := os.Rename(filepath.Dir(scene), filepath.Join(above, "glTF")); err != nil {
		t.Fatal(err)
	}
	scene = filepath.Join(above, "glTF", filepath.Base(scene))
	for _, path := range []string{scene, filepath.Dir(scene), above} {
		r := here(t, append([]string{"preview", path, "--frames", "30", "--fixed-dt", "0.1", "--stats", "-"}, plainPicture...)...)
		var stats struct {
			Scene  string
			Loads  int
			Errors int
		}
		if err := json.Unmarshal([]byte(r.stdout), &stats); r.code != 0 || err != nil || stats.Scene != "yard.gltf" || stats.Loads == 0 || stats.Errors > 0 {
			t.Errorf("%s: exit %d, %v: %+v\n%s", path, r.code, err, stats, r.err)
		}
		if !strings.Contains(r.err, "tiles of 4 m") {
			t.Errorf("%s: without the settings beside the scene: %s", path, r.err)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v stays", path, err, left)
		}
	}
}

// TestPreviewRefusesFolders: a folder with several scenes is answered by a list,
// one with none says so.
func TestPreviewRefusesFolders(t *testing.T) {
	dir := t.TempDir()
	w := newWorkshop(t.Context(), &app{stderr: &strings.Builder{}}, false)
	defer w.close()
	if _, err := w.open(dir); !errors.Is(err, preview.ErrNoScene) || !strings.Contains(err.Error(), "nor is there a glTF scene") {
		t.Error(err)
	}
	for _, name := range []string{"b.gltf", "a.GLB", "c.bin"} {
		testfile.Write(t, filepath.Join(dir, name), "")
	}
	want := "holds 2 glTF scenes; name those to show: " + filepath.Join(dir, "a.GLB") + ", " + filepath.Join(dir, "b.gltf")
	if _, err := w.open(dir); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	if _, err := w.open(filepath.Join(dir, "none.glb")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// stopper ends a run when a text is printed.
type stopper struct {
	strings.Builder
	at   string
	stop context.CancelFunc
}

// Write keeps what is printed.
func (s *stopper) Write(b []byte) (int, error) {
	n, err := s.Builder.Write(b)
	if strings.Contains(s.String(), s.at) {
		s.stop()
	}
	return n, err
}

// TestPreviewInterrupted: nothing stays of a scene that was interrupted while it
// was cooked, or shown.
func TestPreviewInterrupted(t *testing.T) {
	if !preview.Available {
		t.Skip("built without OpenGL (cgo)")
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	scene := yard(t)
	for _, tc := range []struct {
		at   string
		code int
	}{{"to look at it", exitFailure}, {"of geometry on the GPU", 0}} {
		ctx, cancel := context.WithCancel(t.Context())
		errs := &stopper{at: tc.at, stop: cancel}
		code := run(ctx, append([]string{"preview", scene}, plainPicture...), &strings.Builder{}, errs)
		if strings.Contains(errs.String(), surface.ErrContext.Error()) {
			t.Skip("no OpenGL without a display here")
		}
		if code != tc.code || !strings.Contains(errs.String(), tc.at) {
			t.Errorf("%q: exit %d: %s", tc.at, code, errs)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%q: %v, %v stays", tc.at, err, left)
		}
	}
}

// TestWorkshop: a scene that has changed is cooked again in its place; what a
// killed run has left goes, what a living one uses stays.
func TestWorkshop(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	for _, name := range []string{"untold-preview-dead", "untold-preview-alive", "other"} {
		if err := os.Mkdir(filepath.Join(temp, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	release, state, err := holding.Folder(filepath.Join(temp, "untold-preview-alive"))
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var errs strings.Builder
	w := newWorkshop(t.Context(), &app{stderr: &errs}, false)
	path := testfile.Write(t, filepath.Join(t.TempDir(), "row.gltf"), boxScene(3))
	scenes, err := w.open(path)
	if err != nil || len(scenes) != 1 || scenes[0].Name != "row.gltf" {
		t.Fatal(scenes, err)
	}
	if got := w.source(scenes[0].Path); got != path {
		t.Errorf("%s is cooked from %s", scenes[0].Path, got)
	}
	if state == holding.Held {
		list, err := os.ReadDir(temp)
		if err != nil || len(list) != 3 || list[0].Name() != "other" || list[1].Name() != filepath.Base(w.dir) && list[2].Name() != filepath.Base(w.dir) {
			t.Errorf("%v, %v", list, err)
		}
	}
	before, err := manifest.Load(scenes[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, path, boxScene(40))
	w.again(path, filepath.Dir(scenes[0].Path))
	after, err := manifest.Load(scenes[0].Path)
	if err != nil || after.SceneBounds == nil || after.SceneBounds.Box().Size().Len() < 2*before.SceneBounds.Box().Size().Len() {
		t.Errorf("%v\n%s", err, errs.String())
	}
	// A scene that is broken leaves the last one.
	testfile.Write(t, path, "{")
	w.again(path, filepath.Dir(scenes[0].Path))
	if m, err := manifest.Load(scenes[0].Path); err != nil || *m.SceneBounds != *after.SceneBounds || !strings.Contains(errs.String(), "row.gltf has changed, but: ") {
		t.Errorf("%v\n%s", err, errs.String())
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(w.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s stays: %v", w.dir, err)
	}
	if _, err := w.open(path); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// TestUncooked: commands that work on cooked scenes say what to type for a glTF,
// and simulate takes a folder.
func TestUncooked(t *testing.T) {
	scene := testfile.Write(t, filepath.Join(t.TempDir(), "my house.glb"), "glTF")
	cook := "untold cook '" + scene + "' -o 'out/my house' && untold "
	for _, tc := range []struct{ command, want string }{
		{"inspect", cook + "inspect 'out/my house'"},
		{"validate", cook + "validate 'out/my house'"},
		{"simulate", cook + "simulate 'out/my house'"},
		{"export -o x.glb", cook + "export 'out/my house' -o x.glb"},
		{"manifest bands", cook + "manifest bands 'out/my house'"},
	} {
		for _, path := range []string{scene, filepath.Dir(scene)} {
			if path != scene && tc.command == "validate" {
				continue // judges what is in a folder
			}
			if r := execute(t, nil, append(strings.Fields(tc.command), path)...); r.code != exitFailure || !strings.Contains(r.err, tc.want) {
				t.Errorf("%s %s: exit %d: %s", tc.command, path, r.code, r.err)
			}
		}
	}
	if r := execute(t, nil, "inspect", "https://example.com/a/tower.glb?x=y"); r.code != exitFailure || !strings.Contains(r.err, "download it, then untold cook tower.glb -o out/tower && untold inspect out/tower") {
		t.Errorf("an address: exit %d: %s", r.code, r.err)
	}
	// Beside a manifest lies a report.
	dir := cooked(t)
	testfile.Write(t, filepath.Join(dir, "report.json"), "{}")
	if r := execute(t, nil, "simulate", dir, "--fail-if", "undrawn>0", "--duration", "1s"); r.code != 0 || !strings.Contains(r.stdout, "undrawn") {
		t.Errorf("simulate DIR: exit %d: %s", r.code, r.err)
	}
	if r := execute(t, nil, "cook", yard(t), "-o", filepath.Join(dir), "--quiet"); r.code != 0 {
		t.Fatal(r.err)
	}
	testfile.Write(t, filepath.Join(dir, "second.json"), string(testfile.Read(t, filepath.Join(dir, "yard.json"))))
	if r := execute(t, nil, "simulate", dir); r.code != exitFailure || !strings.Contains(r.err, "holds 2 manifests; name one of them: "+filepath.Join(dir, "second.json")) {
		t.Errorf("two manifests: exit %d: %s", r.code, r.err)
	}
}
