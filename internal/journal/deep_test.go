package journal

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestDeepestName: a file as deep as a journal may name it is read as the
// journal says, by all readers.
func TestDeepestName(t *testing.T) {
	dir := t.TempDir()
	name := strings.Repeat("d/", maxDepth-1) + "tile"
	if err := CheckPath(name); err != nil {
		t.Fatal(err)
	}
	j := &Journal{Stage: "cook-1", Files: []Entry{{Path: name}}}
	staged := filepath.Join(dir, filepath.FromSlash(j.stageOf(name)))
	for file, text := range map[string]string{staged: "new", filepath.Join(dir, filepath.FromSlash(name)): "old"} {
		testfile.Write(t, file, text)
	}
	d, err := OpenDir(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := seal(d, j, 1); err != nil {
		t.Fatal(err)
	}
	if err := j.write(d); err != nil {
		t.Fatal(err)
	}
	if err := d.Rename(j.stageOf(tempName), Name); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, filepath.FromSlash(name))
	for _, within := range []string{"", dir} {
		f, err := Follow(within, at, func() (*os.File, error) { return os.Open(at) })
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(f)
		if f.Close(); err != nil || string(text) != "new" {
			t.Errorf("within %q: %q, %v", within, text, err)
		}
	}
	// Also where no folder of it is there yet.
	if err := os.RemoveAll(filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	if f, err := Open(at); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	if names, err := Names(filepath.Join(dir, filepath.FromSlash(path.Dir(name)))); err != nil || len(names) != 1 {
		t.Errorf("%q, %v", names, err)
	}
}
