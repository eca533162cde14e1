package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestGaze: a camera looks from its eye to what it looks at.
func TestGaze(t *testing.T) {
	v := (&gaze{[3]float64{10, 5, 0}, [3]float64{10, 1, 3}}).view()
	want := [3]float64{0, -0.8, 0.6}
	for k := range 3 {
		if math.Abs(v.forward[k]-want[k]) > 1e-12 {
			t.Errorf("forward %v, want %v", v.forward, want)
		}
	}
	if v.position != [3]float64{10, 5, 0} || v.fov != 60 {
		t.Errorf("%+v", v)
	}
}

// TestEveryViewerHasAPage: capture.mjs opens a page by a viewer's name.
func TestEveryViewerHasAPage(t *testing.T) {
	for _, name := range []string{"untold", "three", "cesium"} {
		if _, err := os.Stat(filepath.Join("..", "viewers3d", name+".html")); err != nil {
			t.Error(err)
		}
	}
}
