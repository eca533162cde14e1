package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/untoldkit/untold/examples/internal/exampletest"
)

func TestWalk(t *testing.T) {
	dir := filepath.Dir(exampletest.Scene(t))
	order, stats, err := walk(filepath.Join(dir, exampletest.Payload), 3)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"lamp 0", "lamp 1", "lamp 2"}; !slices.Equal(order, want) || stats.LoadsCompleted != 3 {
		t.Errorf("%q after %d loads, want %q", order, stats.LoadsCompleted, want)
	}
	if _, _, err := walk(filepath.Join(dir, "..", "..", "none"), 1); err != nil {
		t.Errorf("a file that is not there is a failed load, no error: %v", err)
	}
}
