package main

import "testing"

// TestPictureOf: a camera's aspect asks for no picture that is larger than the usual ones.
func TestPictureOf(t *testing.T) {
	for _, c := range []struct {
		aspect        float64
		width, height int
	}{{16. / 9, 1280, 720}, {1, 720, 720}, {0.01, 7, 720}, {5.5, 3960, 720}, {8, 4096, 512}, {100, 4096, 41}} {
		if w, h := pictureOf(c.aspect); w != c.width || h != c.height {
			t.Errorf("aspect %v: %d x %d, want %d x %d", c.aspect, w, h, c.width, c.height)
		}
	}
}
