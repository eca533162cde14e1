package main

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/preview"
)

// errRename ends a commit as a kill would.
var errRename = errors.New("stopped")

// stoppingDir is a folder in which the program ends after so many renames.
type stoppingDir struct {
	*journal.Dir
	left int
}

func (d *stoppingDir) Rename(from, to string) error {
	if d.left--; d.left < 0 {
		return errRename
	}
	return d.Dir.Rename(from, to)
}

// halfway makes a folder of an older scene, nil for none, in which the commit of a
// newer one was stopped after so many of its files had moved.
func halfway(t *testing.T, older, newer map[string]string, manifest string, moved int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "scenes")
	put := func(base string, files map[string]string) {
		for name, text := range files {
			p := filepath.Join(base, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	const stage = journal.StagePrefix + "1"
	put(dir, older)
	put(filepath.Join(dir, journal.Folder, stage), newer)
	change := journal.Change{Stage: stage, Jobs: 1}
	for _, name := range slices.Sorted(maps.Keys(newer)) {
		if name != manifest {
			change.Files = append(change.Files, journal.Entry{Path: name})
		}
	}
	change.Files = append(change.Files, journal.Entry{Path: manifest})
	for name := range older {
		if _, ok := newer[name]; !ok {
			change.Removes = append(change.Removes, name)
		}
	}
	d, err := journal.OpenDir(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	committed, err := journal.Publish(&stoppingDir{d, moved + 1}, change)
	if !committed || !errors.Is(err, errRename) {
		t.Fatalf("%v, %v", committed, err)
	}
	return dir
}

// lock takes the right to write to a folder away until the test ends, where that
// binds the one who runs it.
func lock(t *testing.T, dir string) {
	t.Helper()
	mode := func(bits os.FileMode) {
		err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = os.Chmod(p, bits)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	mode(0o555)
	t.Cleanup(func() { mode(0o755) })
}

// Where a commit was stopped on its way, validate, inspect, export, simulate,
// preview and serve see the new scene, and write nothing.
func TestCommandsFollowAJournal(t *testing.T) {
	args := []string{"--tile-size", "25"}
	_, files, all := townScenes(t, args...)
	picture := append([]string{"--frames", "8", "--fixed-dt", "0.1", "--whole", "--stats", "-"}, plainPicture...) // no real time, in which more or less is loaded
	simulate := []string{"--fly-through", "--duration", "3s", "--events", "-"}
	whole := filepath.Join(files["new"], "town.json")
	want := execute(t, nil, append([]string{"simulate", whole}, simulate...)...)
	for _, moved := range []int{0, 7, len(all["new"]) - 1} {
		for _, older := range []map[string]string{all["old"], nil} {
			dir := halfway(t, older, all["new"], "town.json", moved)
			lock(t, dir)
			before := onDisk(t, dir)
			manifest := filepath.Join(dir, "town.json")
			r := execute(t, nil, "validate", dir)
			if r.code != 0 || !strings.Contains(r.stdout, "0 errors, 1 warning") || !strings.Contains(r.stdout, "cook-unfinished") {
				t.Errorf("%d moved: validate: exit %d\n%s%s", moved, r.code, r.stdout, r.err)
			}
			if r := execute(t, nil, append([]string{"simulate", manifest}, simulate...)...); r.code != 0 || r.stdout != want.stdout || !strings.Contains(r.stdout, "tile.") {
				t.Errorf("%d moved: simulate: exit %d, %d bytes of events instead of %d: %s", moved, r.code, len(r.stdout), len(want.stdout), r.err)
			}
			if r := execute(t, nil, "inspect", manifest); r.code != 0 {
				t.Errorf("%d moved: inspect: exit %d: %s", moved, r.code, r.err)
			}
			if r := execute(t, nil, "export", dir, "-o", filepath.Join(t.TempDir(), "town.glb")); r.code != 0 {
				t.Errorf("%d moved: export: exit %d: %s", moved, r.code, r.err)
			}
			if preview.Available {
				t.Run("preview", func(t *testing.T) { drawsTheSame(t, whole, manifest, picture) })
			}
			s := startServe(t, dir)
			if !slices.Equal(s.scenes, []string{"/town.json"}) && !slices.Equal(s.scenes, []string{s.url + "town.json"}) {
				t.Errorf("%d moved: serve lists %q", moved, s.scenes)
			}
			for name, text := range all["new"] {
				if status, got := get(t, s.url+name); status != 200 || got != text {
					t.Errorf("%d moved: %s: status %d, %d bytes instead of %d", moved, name, status, len(got), len(text))
				}
			}
			if _, list := get(t, s.url+"untold-scenes.json"); !strings.Contains(list, "town.json") {
				t.Errorf("%d moved: the list of scenes is %.200q", moved, list)
			}
			for name := range all["old"] {
				if _, there := all["new"][name]; there {
					continue
				}
				if status, _ := get(t, s.url+name); status != 404 {
					t.Errorf("%d moved: %s, which the new scene does not have: status %d", moved, name, status)
				}
			}
			s.stop(t)
			if !maps.Equal(onDisk(t, dir), before) {
				t.Errorf("%d moved: a reader has written", moved)
			}
		}
	}
}

// drawsTheSame compares what the preview counts in two scenes.
func drawsTheSame(t *testing.T, a, b string, flags []string) {
	t.Helper()
	figures := func(path string) map[string]any {
		r := here(t, append([]string{"preview", path}, flags...)...)
		var m map[string]any
		if err := json.Unmarshal([]byte(r.stdout), &m); err != nil || r.code != 0 {
			t.Fatalf("exit %d, %v\n%s%s", r.code, err, r.stdout, r.err)
		}
		return m
	}
	x, y := figures(a), figures(b)
	for _, key := range []string{"triangles_max", "errors", "bytes_loaded", "frames"} {
		if x[key] != y[key] || x[key] == nil {
			t.Errorf("%s: %v instead of %v", key, y[key], x[key])
		}
	}
}
