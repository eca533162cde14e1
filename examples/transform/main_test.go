package main

import (
	"testing"

	"github.com/untoldkit/untold/examples/internal/exampletest"
)

func TestSlide(t *testing.T) {
	first, last, err := slide(exampletest.Scene(t))
	if err != nil {
		t.Fatal(err)
	}
	// It is prefetched between the streaming and the unload radius.
	if first < exampletest.Radius || first > exampletest.UnloadRadius || last != 0 {
		t.Errorf("drawn from %v to %v m, want %v to %v, and 0", first, last, exampletest.Radius, exampletest.UnloadRadius)
	}
}
