//go:build unix

package format

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// To open a pipe blocks until somebody writes to it.
func TestPipesAreRefused(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.untold")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := Open(pipe); err == nil {
		t.Error("Open: no error")
	}
	if _, err := ValidateFile(pipe, ValidateOptions{}); err == nil {
		t.Error("ValidateFile: no error")
	}
}
