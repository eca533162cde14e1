package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/examples/internal/exampletest"
	"github.com/untoldkit/untold/internal/testfile"
)

func TestFly(t *testing.T) {
	stats, drawn, err := fly(exampletest.Scene(t))
	if err != nil {
		t.Fatal(err)
	}
	if stats.LoadsCompleted != 1 || len(drawn) != 1 || stats.Undrawn != 0 {
		t.Errorf("%d loads, %d tiles drawn, %d undrawn; want 1, 1, 0", stats.LoadsCompleted, len(drawn), stats.Undrawn)
	}
	if _, _, err := fly(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("a missing manifest was opened")
	}
}

// TestLines keeps the promise that embedding takes at most 40 lines, imports
// included.
func TestLines(t *testing.T) {
	data := testfile.Read(t, "main.go")
	code := 0
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			code++
		}
	}
	if code > 40 {
		t.Errorf("%d lines of code", code)
	}
}
