package cook

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/holding"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/testfile"
)

// Finish brings a commit that was stopped to its end, and leaves other folders as
// they are.
func TestFinish(t *testing.T) {
	boxes := townBoxes()[:2]
	oldScene := runScene(t, "town.gltf", boxes)
	newScene := runScene(t, "town.gltf", []boxscene.Box{boxes[0], {Name: "Far", At: [3]float64{80, 1, -80}}})
	opts := DefaultOptions()
	opts.Jobs, opts.NoSync = 1, true
	fresh := t.TempDir()
	mustRun(t, newScene, fresh, opts)
	want := testfile.ReadTree(t, fresh)
	unfinished := 0
	for at := 1; ; at++ {
		dir := t.TempDir()
		mustRun(t, oldScene, dir, opts)
		d := &faultDir{at: at}
		failing := opts
		failing.faults = func(f journal.FS) journal.FS { d.FS = f; return d }
		_, err := Run(context.Background(), newScene, dir, failing)
		if errors.Is(err, ErrUnfinished) {
			unfinished++
			if pending, e := journal.Pending(dir); e == nil && pending && unfinished == 1 {
				release, state, e := holding.Folder(dir)
				if e == nil && state == holding.Held {
					if e := Finish(dir); !errors.Is(e, ErrBusy) {
						t.Errorf("while a cook is at work: %v", e)
					}
				}
				if e == nil {
					release()
				}
			}
			pending, _ := journal.Pending(dir)
			for range 2 { // the second has nothing to do
				if err := Finish(dir); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, testfile.ReadTree(t, dir)); diff != "" && pending {
				t.Fatalf("call %d:\n%s", at, diff)
			}
		}
		if d.calls < at {
			break
		}
	}
	if unfinished == 0 {
		t.Error("no cook was stopped after its commit")
	}
	// A stage alone is left to the next cook, a folder without anything to nobody.
	dir := t.TempDir()
	touch(t, dir, ".untold/cook-1/x", "mine.txt")
	before := testfile.ReadTree(t, dir)
	for _, d := range []string{dir, t.TempDir()} {
		if err := Finish(d); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(before, testfile.ReadTree(t, dir)); diff != "" {
		t.Error(diff)
	}
	if err := Finish(filepath.Join(dir, "nothing")); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Names within one cook that differ by case alone are an error that names both.
func TestOutputCases(t *testing.T) {
	for _, names := range [][2]string{
		{"tiles/Textures/Wood.png", "tiles/Textures/wood.png"}, {"tiles/a.untold", "tiles/a.untold"}, {"Tiles/a.untold", "tiles/A.untold"}, {"tiles/É.png", "tiles/é.png"},
	} {
		o, err := newOutput(t.TempDir(), outputOptions{noSync: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.write(names[0], say("x")); err != nil {
			t.Fatal(err)
		}
		_, err = o.write(names[1], say("y"))
		var c *journal.CaseError
		if !errors.As(err, &c) || c.A != names[0] || c.B != names[1] {
			t.Errorf("%q: %v", names, err)
		}
		o.discard()
		if got := testfile.ReadTree(t, o.dir); len(got) != 0 {
			t.Errorf("%q: %q is left", names, fileNames(got))
		}
	}
}

// NoSync leaves out the flushes, and nothing else does.
func TestNoSync(t *testing.T) {
	for _, noSync := range []bool{false, true} {
		opts := DefaultOptions()
		opts.NoSync = noSync
		o, err := newOutput(t.TempDir(), opts.output())
		if err != nil {
			t.Fatal(err)
		}
		// A flush of what is not there fails, if it is asked for at all.
		if err := o.files.SyncFile("nothing"); (err == nil) != noSync {
			t.Errorf("NoSync %v: %v", noSync, err)
		}
		o.discard()
	}
}
