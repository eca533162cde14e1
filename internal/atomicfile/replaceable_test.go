package atomicfile

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

func TestReplaceable(t *testing.T) {
	dir := t.TempDir()
	file := testfile.Write(t, filepath.Join(dir, "file"), "")
	for _, path := range []string{file, filepath.Join(dir, "none"), filepath.Join(dir, "none", "x")} {
		if err := Replaceable(path); err != nil {
			t.Error(err)
		}
	}
	if err := Replaceable(dir); !errors.Is(err, ErrInTheWay) {
		t.Errorf("a folder: %v", err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("no devices and few links on Windows")
	}
	link := func(name, to string) string {
		path := filepath.Join(dir, name)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, path := range []string{link("l1", file), link("l2", "missing")} {
		if err := Replaceable(path); err != nil {
			t.Error(err)
		}
	}
	refused := []string{link("l3", os.DevNull), link("l4", dir), link("l5", "/proc/self/fd/1")}
	socket := filepath.Join(dir, "s") // long temporary folders are too long for one
	if l, err := net.Listen("unix", socket); err == nil {
		defer l.Close()
		refused = append(refused, socket)
		// Create must not touch it either.
		if _, err := Create(socket, Options{}); !errors.Is(err, ErrInTheWay) {
			t.Errorf("Create: %v", err)
		}
	}
	for _, path := range refused {
		if err := Replaceable(path); !errors.Is(err, ErrInTheWay) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
