package main

import (
	"slices"
	"testing"

	"github.com/untoldkit/untold/examples/internal/exampletest"
)

func TestTravel(t *testing.T) {
	told, err := travel([]string{exampletest.Scene(t), exampletest.Scene(t)})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"region.load quarter 0", "region.loaded quarter 0", "region.unload quarter 0",
		"region.load quarter 1", "region.loaded quarter 1", "region.unload quarter 1",
	}
	if !slices.Equal(told, want) {
		t.Errorf("%q, want %q", told, want)
	}
}
