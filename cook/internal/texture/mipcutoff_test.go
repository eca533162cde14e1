package texture

import (
	"image"
	"testing"

	"github.com/untoldkit/untold/internal/stable"
)

// cutOut draws discs of alpha 255 on a clear square.
func cutOut(size, discs, radius int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	r := stable.NewRNG(1)
	for range discs {
		cx, cy := r.Intn(size), r.Intn(size)
		for y := max(cy-radius, 0); y < min(cy+radius, size); y++ {
			for x := max(cx-radius, 0); x < min(cx+radius, size); x++ {
				if (x-cx)*(x-cx)+(y-cy)*(y-cy) < radius*radius {
					img.Pix[y*img.Stride+4*x+3] = 255
				}
			}
		}
	}
	return img
}

// TestMipCutoff: with the fitted cutoff no level of averages draws less than half of the
// original's share, where with the given one the smallest draw nothing.
func TestMipCutoff(t *testing.T) {
	img := cutOut(256, 40, 12)
	fitted := MipCutoff(img, 0.5)
	if !(fitted < 0.5 && fitted >= 0.125) {
		t.Fatalf("fitted %v", fitted)
	}
	whole, least := drawnOf(img, 0.5)[cutoffParts], 1.
	for level := halfOf(img); level.w >= 2; level = level.half() {
		if s := level.drawn(fitted)[cutoffParts]; s < whole/2 || s > 4*whole {
			t.Errorf("%d x %d: %.3f of the texels, %.3f at full size", level.w, level.h, s, whole)
		}
		least = min(least, level.drawn(0.5)[cutoffParts])
	}
	if least > whole/4 {
		t.Errorf("at least %.3f of the texels with the given cutoff: this picture shows nothing", least)
	}
	for name, c := range map[string]struct {
		img    *image.NRGBA
		cutoff float32
	}{
		"clear":    {image.NewNRGBA(image.Rect(0, 0, 8, 8)), 0.5},
		"opaque":   {cutOut(8, 1, 100), 0.5},
		"1 x 1":    {image.NewNRGBA(image.Rect(0, 0, 1, 1)), 0.5},
		"cutoff 0": {img, 0},
		"cutoff 2": {img, 2},
		"dense":    {cutOut(256, 4000, 12), 0.5},
	} {
		if got := MipCutoff(c.img, c.cutoff); got != c.cutoff {
			t.Errorf("%s: %v, want %v", name, got, c.cutoff)
		}
	}
}
