//go:build unix

package serve

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPipe: opening a pipe without a writer would block for good.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "a.untold"), 0o600); err != nil {
		t.Skip(err)
	}
	if r := ask(t, handler(t, dir, Options{}), "GET", "/a.untold"); r.StatusCode != 404 {
		t.Errorf("%d", r.StatusCode)
	}
}
