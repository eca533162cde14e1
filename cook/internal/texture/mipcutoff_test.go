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
	share := func(p *alphaPlane, alpha func(x, y int) float32, c float32) float64 {
		return p.drawn(alpha, c)[cutoffParts]
	}
	level := alphaPlane{w: 256, h: 256}
	alpha := func(x, y int) float32 { return part[img.Pix[y*img.Stride+4*x+3]] }
	whole := share(&level, alpha, 0.5)
	least := 1.
	for level.w >= 2 {
		if s := share(&level, alpha, fitted); s < whole/2 || s > 4*whole {
			t.Errorf("%d x %d: %.3f of the texels, %.3f at full size", level.w, level.h, s, whole)
		}
		least = min(least, share(&level, alpha, 0.5))
		level = level.half(alpha)
		alpha = level.at
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
