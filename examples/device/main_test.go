package main

import (
	"testing"

	"github.com/untoldkit/untold/examples/internal/exampletest"
)

func TestFly(t *testing.T) {
	manifest := exampletest.Scene(t)
	k := &keeper{limit: 1 << 20}
	most, err := fly(manifest, k)
	if err != nil || most != 1 || k.uploads == 0 || k.uploads != k.releases || k.bytes != 0 || k.peak == 0 || k.refused != 0 {
		t.Errorf("%v: %d triangles, %+v", err, most, k)
	}
	full := &keeper{limit: 1}
	if most, err := fly(manifest, full); err != nil || most != 0 || full.uploads != 0 || full.refused == 0 {
		t.Errorf("%v: %d triangles, %+v", err, most, full)
	}
}
