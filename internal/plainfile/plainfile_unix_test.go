//go:build unix

package plainfile

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"golang.org/x/sys/unix"
)

// TestSpecialFiles: what is no regular file is refused and not waited for, by
// its own name and behind a link.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, link, socket := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "socket")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	for path, kind := range map[string]string{pipe: "a pipe", link: "a pipe", socket: "a socket", "/dev/zero": "a device", dir: "a folder"} {
		if f, _, err := Open(path); !errors.Is(err, ErrNotPlain) || !errors.Is(err, fs.ErrInvalid) || f != nil || !strings.Contains(err.Error(), kind) {
			t.Errorf("%s: %v", path, err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, _, err := OpenIn(root, "pipe"); !errors.Is(err, ErrNotPlain) {
		t.Error(err)
	}
}

// TestPipeInBetween: a pipe that takes a file's place between the look and the
// opening does not block.
func TestPipeInBetween(t *testing.T) {
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "file")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	testfile.Write(t, file, "")
	o := opener{func(string) (fs.FileInfo, error) { return os.Stat(file) }, os.OpenFile}
	if f, _, err := o.do(pipe); !errors.Is(err, ErrNotPlain) || f != nil {
		t.Error(err)
	}
}
