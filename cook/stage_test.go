package cook

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/holding"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/testfile"
)

// locks skips tests where folders cannot be held.
func locks(t *testing.T) {
	t.Helper()
	release, state, err := holding.Folder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	release()
	if state != holding.Held {
		t.Skip("no locks on folders here")
	}
}

func isThere(path string) bool { _, err := os.Lstat(path); return err == nil }

// A cook clears away what killed ones left, and nothing else.
func TestOutputSweepsDeadStages(t *testing.T) {
	locks(t)
	dir := t.TempDir()
	touch(t, dir, ".untold/cook-9/tiles/a.untold", ".untold/cook-x/b", ".untold/notes", oldStagePrefix+"123/tiles/a.untold", oldStagePrefix+"mine/b", oldStagePrefix+"/c", oldStagePrefix+"77")
	elsewhere := t.TempDir()
	touch(t, elsewhere, "d")
	link := filepath.Join(dir, oldStagePrefix+"5")
	linked := os.Symlink(elsewhere, link) == nil
	alive, err := newOutput(dir, outputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alive.write("tiles/a.untold", say("hello")); err != nil {
		t.Fatal(err)
	}
	if isThere(filepath.Join(dir, oldStagePrefix+"123")) || isThere(filepath.Join(dir, ".untold", "cook-9")) {
		t.Error("the dead stage was left behind")
	}
	for _, n := range []string{".untold/cook-x/b", ".untold/notes", oldStagePrefix + "mine/b", oldStagePrefix + "/c", oldStagePrefix + "77"} {
		if !isThere(filepath.Join(dir, filepath.FromSlash(n))) {
			t.Errorf("%s was removed", n)
		}
	}
	if linked && (!isThere(link) || !isThere(filepath.Join(elsewhere, "d"))) {
		t.Error("a link was followed or removed")
	}

	second, err := newOutput(dir, outputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !isThere(filepath.Join(alive.stage, "tiles", "a.untold")) {
		t.Error("the stage of a living cook was removed")
	}
	second.discard()
	// What is no longer held, as after a kill, goes with the next cook.
	alive.endHolds()
	third, err := newOutput(dir, outputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer third.discard()
	if isThere(alive.stage) {
		t.Error("the stage of a dead cook was left behind")
	}
}

func TestMakeStageInMissingFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f := must(journal.OpenDir(dir, true))
	defer f.Close()
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, _, err := makeStage(dir, f); err == nil {
		t.Error("no error")
	}
	sweep(dir, f, holding.Folder, journal.Idle(time.Now()), false)
	locks(t)
	if _, _, err := holding.Folder(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Two cooks in one folder would mix their tiles.
func TestOutputClaim(t *testing.T) {
	locks(t)
	dir := t.TempDir()
	first, err := newOutput(dir, outputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.claim(); err != nil {
		t.Fatal(err)
	}
	second, err := newOutput(dir, outputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.claim(); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	second.discard()
	first.discard()
	third, err := newOutput(dir, outputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := third.claim(); err != nil {
		t.Error(err)
	}
	third.discard()
	if left := must(os.ReadDir(dir)); len(left) != 0 {
		t.Error(left)
	}
}

// TestHeldFirst: a cook that has to wait says so before it reads its scene.
func TestHeldFirst(t *testing.T) {
	locks(t)
	dir := t.TempDir()
	first := must(newOutput(dir, outputOptions{}))
	if err := first.claim(); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), filepath.Join(dir, "none.glb"), dir, DefaultOptions()); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	first.discard()
	fresh := filepath.Join(dir, "a", "b")
	if _, err := Run(t.Context(), filepath.Join(dir, "none.glb"), fresh, DefaultOptions()); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if left := must(os.ReadDir(dir)); len(left) != 0 {
		t.Error(left)
	}
}

// commitsAt is a folder in which a cook that was thought dead commits its stage at
// the moment when that gets another name.
type commitsAt struct {
	journal.FS
	commit func()
}

func (d *commitsAt) Rename(from, to string) error {
	if c := d.commit; c != nil {
		d.commit = nil
		c()
	}
	return d.FS.Rename(from, to)
}

// Without locks a stage goes when nothing in it has changed for a day, unless a
// journal names it, also one of that very moment.
func TestSweepWithoutLocks(t *testing.T) {
	none := func(string) (func(), holding.State, error) { return func() {}, holding.Unsure, nil }
	dir := t.TempDir()
	touch(t, dir, ".untold/cook-7/tiles/a.untold", oldStagePrefix+"123/tiles/a.untold", ".untold/mine/x")
	f := must(journal.OpenDir(dir, true))
	defer f.Close()
	day := time.Now().Add(journal.DeadAfter)
	sweep(dir, f, none, journal.Idle(day.Add(-time.Hour)), false)
	// One file that is younger keeps all.
	if err := os.Chtimes(filepath.Join(dir, ".untold", "cook-7", "tiles", "a.untold"), time.Time{}, day); err != nil {
		t.Fatal(err)
	}
	sweep(dir, f, none, journal.Idle(day.Add(time.Hour)), false)
	if !isThere(filepath.Join(dir, ".untold", "cook-7", "tiles", "a.untold")) || isThere(filepath.Join(dir, oldStagePrefix+"123")) {
		t.Errorf("%q", fileNames(testfile.ReadTree(t, dir)))
	}
	sweep(dir, f, none, journal.Idle(day.Add(25*time.Hour)), false)
	if got := fileNames(testfile.ReadTree(t, dir)); len(got) != 1 || got[0] != ".untold/mine/x" {
		t.Errorf("%q", got)
	}
	touch(t, dir, ".untold/cook-8/tiles/a.untold", ".untold/cook-8/town.json")
	files := []journal.Entry{{Path: "tiles/a.untold"}, {Path: "town.json"}}
	late := &commitsAt{FS: f, commit: func() {
		_, err := journal.Publish(&stopsAtSecond{f, 0}, journal.Change{Stage: "cook-8", Files: files, Jobs: 1})
		if !errors.Is(err, journal.ErrUnfinished) {
			t.Errorf("%v", err)
		}
	}}
	sweep(dir, late, none, journal.Idle(time.Now().Add(48*time.Hour)), false)
	if got := seen(t, dir); got["tiles/a.untold"] != ".untold/cook-8/tiles/a.untold" || got["town.json"] == "" {
		t.Errorf("a committed scene was removed: %v", got)
	}
	sweep(dir, f, none, journal.Idle(time.Now().Add(48*time.Hour)), false)
	if got := seen(t, dir); got["town.json"] == "" {
		t.Errorf("a committed scene was removed: %v", got)
	}
}

// stopsAtSecond is a folder whose second rename fails.
type stopsAtSecond struct {
	journal.FS
	renames int
}

func (d *stopsAtSecond) Rename(from, to string) error {
	if d.renames++; d.renames == 2 {
		return errStop
	}
	return d.FS.Rename(from, to)
}
