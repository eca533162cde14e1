//go:build unix

package verify

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Pipes in a folder would block the walk; they are no containers.
func TestFolderWithPipes(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"a.untold", "b.json"} {
		if err := unix.Mkfifo(filepath.Join(dir, n), 0o600); err != nil {
			t.Skip(err)
		}
	}
	if _, err := Paths(context.Background(), []string{dir}, Options{Jobs: 1}); !errors.Is(err, ErrNoFiles) {
		t.Error(err)
	}
}
