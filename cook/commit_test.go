package cook

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
)

var (
	errStop  = errors.New("stopped")
	errFault = errors.New("injected failure")
)

// faultDir is a folder that fails from a call on, as for a program that is
// killed there, or at one call.
type faultDir struct {
	journal.FS
	calls, at int
	once      bool
}

func (d *faultDir) call() error {
	d.calls++
	switch {
	case d.once && d.calls == d.at:
		return errFault
	case !d.once && d.calls >= d.at:
		return errStop
	}
	return nil
}

func (d *faultDir) Lstat(name string) (fs.FileInfo, error) {
	if err := d.call(); err != nil {
		return nil, err
	}
	return d.FS.Lstat(name)
}

func (d *faultDir) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := d.call(); err != nil {
		return nil, err
	}
	return d.FS.ReadDir(name)
}

func (d *faultDir) Open(name string) (journal.File, error) {
	if err := d.call(); err != nil {
		return nil, err
	}
	return d.FS.Open(name)
}

func (d *faultDir) Create(name string) (journal.File, error) {
	if err := d.call(); err != nil {
		return nil, err
	}
	f, err := d.FS.Create(name)
	if err != nil {
		return nil, err
	}
	return &faultFile{f, d}, nil
}

func (d *faultDir) Mkdir(name string) error {
	return errors.Join(d.call(), d.skip(func() error { return d.FS.Mkdir(name) }))
}

func (d *faultDir) Rename(a, b string) error {
	return errors.Join(d.call(), d.skip(func() error { return d.FS.Rename(a, b) }))
}

func (d *faultDir) Remove(name string) error {
	return errors.Join(d.call(), d.skip(func() error { return d.FS.Remove(name) }))
}

func (d *faultDir) SyncFile(name string) error {
	return errors.Join(d.call(), d.skip(func() error { return d.FS.SyncFile(name) }))
}

func (d *faultDir) SyncDir(name string) error {
	return errors.Join(d.call(), d.skip(func() error { return d.FS.SyncDir(name) }))
}

// skip leaves out the work of a call that has failed.
func (d *faultDir) skip(work func() error) error {
	if d.once && d.calls == d.at || !d.once && d.calls >= d.at {
		return nil
	}
	return work()
}

type faultFile struct {
	journal.File
	d *faultDir
}

func (f *faultFile) Write(b []byte) (int, error) {
	if err := f.d.call(); err != nil {
		n, _ := f.File.Write(b[:len(b)/2])
		return n, err
	}
	return f.File.Write(b)
}

// seen reads a folder as our readers do.
func seen(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, p := range must(journal.Files(dir)) {
		f, err := journal.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, must(f.Stat()).Size())
		_, err = f.ReadAt(b, 0)
		if err = errors.Join(err, f.Close()); err != nil && len(b) > 0 {
			t.Fatal(err)
		}
		out[filepath.ToSlash(must(filepath.Rel(dir, p)))] = string(b)
	}
	return out
}

// TestRunStops stops a cook over an older scene at every call to its folder, and
// lets every call fail: the folder is the old scene or the new one, and the next
// cook leaves nothing else.
func TestRunStops(t *testing.T) {
	boxes := townBoxes()[:2]
	moved := []boxscene.Box{boxes[0], {Name: "Far", At: [3]float64{80, 1, -80}}}
	oldScene, newScene := runScene(t, "town.gltf", boxes), runScene(t, "town.gltf", moved)
	base := t.TempDir()
	opts := ClassicOptions()
	opts.Jobs, opts.NoSync = 1, true
	want := map[string]map[string]string{}
	for name, s := range map[string]string{"old": oldScene, "new": newScene} {
		mustRun(t, s, filepath.Join(base, name), opts)
		want[name] = testfile.ReadTree(t, filepath.Join(base, name))
	}
	step := 1
	if race.Enabled {
		step = 5 // make test stops at every call without the detector
	}
	for _, once := range []bool{false, true} {
		states := map[string]int{}
		for at := 1; ; at += step {
			dir := t.TempDir()
			for n, text := range want["old"] {
				p := filepath.Join(dir, filepath.FromSlash(n))
				if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			d := &faultDir{at: at, once: once}
			failing := opts
			failing.faults = func(f journal.FS) journal.FS { d.FS = f; return d }
			_, err := Run(context.Background(), newScene, dir, failing)
			got, is := seen(t, dir), ""
			for name := range want {
				if maps.Equal(got, want[name]) {
					is = name
				}
			}
			states[is]++
			if is == "" || err == nil && is != "new" || once && err != nil && (is == "new") != errors.Is(err, ErrUnfinished) {
				t.Fatalf("once %v, call %d, %v: %q\n%s", once, at, err, is, cmp.Diff(want["old"], got))
			}
			mustRun(t, oldScene, dir, opts)
			if diff := cmp.Diff(want["old"], testfile.ReadTree(t, dir)); diff != "" {
				t.Fatalf("once %v, call %d: after the next cook:\n%s", once, at, diff)
			}
			if d.calls < at {
				break
			}
		}
		if states["old"] == 0 || states["new"] == 0 {
			t.Errorf("states %v", states)
		}
	}
}

// TestRunOverLinks: a cook over an older scene neither writes nor removes
// anything through a link.
func TestRunOverLinks(t *testing.T) {
	many, one := runScene(t, "town.gltf", townBoxes()), runScene(t, "town.gltf", townBoxes()[:1])
	for _, link := range []string{"tiles", "tiles/Textures"} {
		dir, outside := t.TempDir(), t.TempDir()
		mustRun(t, many, dir, ClassicOptions())
		if err := os.RemoveAll(filepath.Join(outside, "x")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "tiles"), filepath.Join(outside, "x")); err != nil {
			t.Fatal(err)
		}
		if link != "tiles" {
			if err := os.Mkdir(filepath.Join(dir, "tiles"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
		before := testfile.ReadTree(t, outside)
		if _, err := Run(context.Background(), one, dir, ClassicOptions()); err == nil {
			t.Errorf("%s: no error", link)
		}
		if diff := cmp.Diff(before, testfile.ReadTree(t, outside)); diff != "" {
			t.Errorf("%s:\n%s", link, diff)
		}
	}
}
