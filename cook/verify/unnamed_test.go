package verify

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/testfile"
)

// finding returns the finding of a code about a file, nil when there is none.
func (r *Report) finding(path string, code finding.Code) *finding.Finding {
	for i := range r.Files {
		for k := range r.Files[i].Findings {
			if f := &r.Files[i].Findings[k]; r.Files[i].Path == path && f.Code == code {
				return f
			}
		}
	}
	return nil
}

// Files below a folder that are part of no scene are found, and single models and
// foreign files are not.
func TestUnnamed(t *testing.T) {
	dir, _ := scene(t)
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	testfile.Write(t, in("tiles/tile_7_0_7.untold"), tile(t))
	testfile.Write(t, in("tiles/anything.untold"), tile(t))
	testfile.Write(t, in("tiles/Textures/lost.png"), []byte("x"))
	testfile.Write(t, in("tiles/Textures/readme.txt"), []byte("x"))
	testfile.Write(t, in("models/chair.untold"), tile(t))
	testfile.Write(t, in("tiles/yard_grade.cube"), []byte("x"))
	testfile.Write(t, in("tiles/mine.cube"), []byte("x"))
	testfile.Write(t, in("models/x_grade.cube"), []byte("x"))
	testfile.Write(t, in("elsewhere/tile_1_0_1_lod1.untold"), tile(t))
	r := judge(t, dir)
	want := map[string]finding.Code{
		"tiles/tile_7_0_7.untold": CodePayloadUnnamed, "tiles/anything.untold": CodePayloadUnnamed,
		"elsewhere/tile_1_0_1_lod1.untold": CodePayloadUnnamed, "tiles/Textures/lost.png": CodeTextureUnnamed,
		"tiles/yard_grade.cube": CodeTableUnnamed,
	}
	for name, code := range want {
		if f := r.finding(in(name), code); f == nil || f.Severity != finding.Warning || f.Message == "" || f.Hint == "" {
			t.Errorf("%s: %+v instead of %s", name, f, code)
		}
	}
	if n := len(r.codes()); n != len(want) || !r.OK || r.Warnings != len(want) {
		t.Errorf("%d findings: %v", n, r.codes())
	}
	// A file that was named by the user is judged by itself.
	if r := judge(t, in("tiles/tile_7_0_7.untold")); len(r.codes()) != 0 {
		t.Errorf("%v", r.codes())
	}
	// Nobody can tell what a damaged container names.
	testfile.Write(t, in("tiles/tile_1_0_0.untold"), []byte("damaged"))
	if r := judge(t, dir); r.finding(in("tiles/Textures/lost.png"), CodeTextureUnnamed) != nil {
		t.Error("a texture that a damaged container may name is said to be unnamed")
	}
}

// What is left beside a scene of which all containers are named is found, and not where a
// user asks about the manifest alone.
func TestLeftBesideAScene(t *testing.T) {
	dir, manifest := scene(t)
	table, texture := filepath.Join(dir, "tiles", "yard_grade.cube"), filepath.Join(dir, "tiles", "Textures", "lost.png")
	testfile.Write(t, table, []byte("x"))
	testfile.Write(t, texture, []byte("x"))
	r := judge(t, dir)
	if r.finding(table, CodeTableUnnamed) == nil || r.finding(texture, CodeTextureUnnamed) == nil || r.Warnings != 2 {
		t.Errorf("%v", r.codes())
	}
	if r := judge(t, manifest); r.Warnings != 0 {
		t.Errorf("of the manifest alone: %v", r.codes())
	}
}

// What stopped programs leave is found.
func TestLeftovers(t *testing.T) {
	dir, _ := scene(t)
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, name := range []string{".untold/cook-12/tiles/tile_0_0_0.untold", ".untold-cook-7/x", ".untold/mine/x", ".git/cook-1/x"} {
		testfile.Write(t, in(name), []byte("x"))
	}
	r := judge(t, dir)
	for _, name := range []string{".untold/cook-12", ".untold-cook-7"} {
		if f := r.finding(in(name), CodeLeftover); f == nil || f.Severity != finding.Info || f.Hint == "" {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if n := len(r.codes()); n != 2 || !r.OK || r.Warnings != 0 {
		t.Errorf("%v", r.codes())
	}
}

// stopAtRename is a folder in which the program ends after so many renames.
type stopAtRename struct {
	*journal.Dir
	left int
}

var errStopped = errors.New("stopped")

func (d *stopAtRename) Rename(from, to string) error {
	if d.left--; d.left < 0 {
		return errStopped
	}
	return d.Dir.Rename(from, to)
}

// A commit that was stopped is a warning, and the new scene is what is judged; a
// damaged journal is an error.
func TestUnfinishedCook(t *testing.T) {
	dir, path := scene(t)
	manifest := testfile.Read(t, path)
	stage := filepath.Join(dir, journal.Folder, "cook-1")
	files := []journal.Entry{{Path: "tiles/tile_0_0_0.untold"}, {Path: "tiles/tile_1_0_0.untold"}, {Path: "yard.json"}}
	testfile.Write(t, filepath.Join(stage, "tiles", "tile_0_0_0.untold"), tile(t))
	testfile.Write(t, filepath.Join(stage, "tiles", "tile_1_0_0.untold"), tile(t))
	testfile.Write(t, filepath.Join(stage, "yard.json"), manifest)
	testfile.Write(t, filepath.Join(dir, "tiles", "tile_0_0_0.untold"), []byte("old"))
	testfile.Write(t, filepath.Join(dir, "tiles", "tile_1_0_0.untold"), []byte("old"))
	testfile.Write(t, filepath.Join(dir, "tiles", "tile_9_0_9.untold"), []byte("old"))
	d, err := journal.OpenDir(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	committed, err := journal.Publish(&stopAtRename{d, 2}, journal.Change{Stage: "cook-1", Files: files, Removes: []string{"tiles/tile_9_0_9.untold"}, Jobs: 1})
	if !committed || !errors.Is(err, errStopped) {
		t.Fatal(committed, err)
	}
	at := filepath.Join(dir, filepath.FromSlash(journal.Name))
	r := judge(t, dir)
	if f := r.finding(at, CodeUnfinished); f == nil || f.Severity != finding.Warning || f.Hint == "" || !r.OK || len(r.codes()) != 1 || len(r.Files) != 4 {
		t.Errorf("%+v, %v of %d files", f, r.codes(), len(r.Files))
	}
	testfile.Write(t, at, []byte("{"))
	r, err = Paths(t.Context(), []string{dir}, Options{Jobs: 1})
	if err == nil {
		if f := r.finding(at, CodeUnfinished); f == nil || f.Severity != finding.Error || r.OK || !slices.Contains(r.codes(), CodeUnfinished) {
			t.Errorf("a damaged journal: %v", r.codes())
		}
	} else if !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), "cook") {
		t.Error(err)
	}
}
