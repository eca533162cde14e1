package plainfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := testfile.Write(t, filepath.Join(dir, "a.json"), "0123456789")
	for _, limit := range []int64{10, 11, 1 << 40} {
		if b, err := Read(file, limit); err != nil || string(b) != "0123456789" {
			t.Errorf("limit %d: %q, %v", limit, b, err)
		}
	}
	for _, limit := range []int64{0, 9} {
		if b, err := Read(file, limit); !errors.Is(err, ErrTooLarge) || b != nil || !strings.Contains(err.Error(), file) {
			t.Errorf("limit %d: %q, %v", limit, b, err)
		}
	}
	if _, err := Read(filepath.Join(dir, "none"), 9); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	var kind *KindError
	if _, err := Read(dir, 9); !errors.Is(err, ErrNotPlain) || !errors.As(err, &kind) || !kind.Mode.IsDir() {
		t.Error(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f, st, err := OpenIn(root, "a.json")
	if err != nil || st.Size() != 10 {
		t.Fatal(st, err)
	}
	f.Close()
}

// TestGrows: a file that is longer than its size says ends at the limit. The
// files of /proc say 0.
func TestGrows(t *testing.T) {
	const proc = "/proc/self/status"
	if st, err := os.Stat(proc); err != nil || st.Size() != 0 {
		t.Skip("no such file here")
	}
	if b, err := Read(proc, 1<<20); err != nil || len(b) < 100 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := Read(proc, 100); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}
