package tiles3d

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/untoldkit/untold/internal/holding"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestErrorsNameTheOutput: what goes wrong in the temporary folder is told of the output that
// was asked for.
func TestErrorsNameTheOutput(t *testing.T) {
	out := filepath.Join(t.TempDir(), "none", "x")
	var p *fs.PathError
	if _, _, err := makeTemp(out); !errors.As(err, &p) || p.Path != out || strings.Contains(err.Error(), tempPrefix(out)) {
		t.Errorf("the temporary folder cannot be made: %v", err)
	}
	temp := filepath.Join(filepath.Dir(out), tempPrefix(out)+"1")
	err := ofOutput(fmt.Errorf("tiles3d: %w", &fs.PathError{Op: "write", Path: filepath.Join(temp, stageName, "a.glb"), Err: syscall.ENOSPC}), temp, out)
	if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &p) || p.Path != out || strings.Contains(err.Error(), temp) {
		t.Errorf("a full disk: %v", err)
	}
	for _, other := range []error{nil, errors.New("a"), &fs.PathError{Op: "open", Path: temp + "2", Err: fs.ErrNotExist}} {
		if got := ofOutput(other, temp, out); got != other { //nolint:errorlint // the same value
			t.Errorf("%v became %v", other, got)
		}
	}
}

// TestSweep: what killed exports have left beside an output goes with the next one, whether
// that one has something to do or not; what is in use, or not ours, stays.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	release, state, err := holding.Folder(dir)
	if err != nil || state != holding.Held {
		t.Skipf("no locks on folders here: %v", err)
	}
	release()
	for _, name := range []string{"set", "set.3tz"} {
		out := filepath.Join(dir, name)
		for _, what := range []string{"new", "unchanged"} {
			stays := map[string]string{
				"." + name + "-7/tileset/a.glb":   "a running export's",
				"." + name + "-old/tileset/a.glb": "another name",
				"." + name + "-8/notes.txt":       "somebody's",
				"." + name + "-9/tileset":         "a file",
				"." + name + "-10":                "no folder",
				".other-1/tileset/a.glb":          "another output's",
			}
			testfile.WriteTree(t, dir, stays)
			testfile.WriteTree(t, dir, map[string]string{"." + name + "-12345/tileset/a.glb": "x", "." + name + "-0/tileset/b/c.glb": "x"})
			if err := os.MkdirAll(filepath.Join(dir, "."+name+"-11"), 0o777); err != nil {
				t.Fatal(err)
			}
			release, state, err := holding.Folder(filepath.Join(dir, "."+name+"-7"))
			if err != nil || state != holding.Held {
				t.Fatal(state, err)
			}
			res, err := Export(context.Background(), cookedTown(t), out, Options{Reuse: true})
			release()
			if err != nil || res.Unchanged != (what == "unchanged") {
				t.Fatalf("%v, %+v", err, res)
			}
			for at := range stays {
				if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(at))); err != nil {
					t.Errorf("%s, %s: %v", name, what, err)
				}
			}
			left, err := filepath.Glob(filepath.Join(dir, "."+name+"-*"))
			if err != nil {
				t.Fatal(err)
			}
			for i := range left {
				left[i] = filepath.Base(left[i])
			}
			want := []string{"." + name + "-10", "." + name + "-7", "." + name + "-8", "." + name + "-9", "." + name + "-old"}
			if !slices.Equal(left, want) {
				t.Errorf("%s, %s: %v are left, want %v", name, what, left, want)
			}
		}
	}
}

// TestHugeState: a state that is larger than any is not read, and is written anew.
func TestHugeState(t *testing.T) {
	out := filepath.Join(t.TempDir(), "set")
	state := filepath.Join(out, filepath.FromSlash(stateName))
	for k, unchanged := range []bool{false, true, false, true} {
		if k == 2 {
			if err := os.Truncate(state, maxState+1); err != nil {
				t.Skip(err) // no sparse files here
			}
		}
		res, err := Export(context.Background(), cookedTown(t), out, Options{Reuse: true})
		if err != nil || res.Unchanged != unchanged {
			t.Fatalf("export %d: %v, %+v", k, err, res)
		}
		if st, err := os.Stat(state); err != nil || st.Size() > 1<<20 {
			t.Fatalf("export %d: %v, %v", k, st, err)
		}
	}
}
