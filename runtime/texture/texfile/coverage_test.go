package texfile

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// leaves is a picture with many small cut-outs that have soft borders.
func leaves(n int) Level {
	l := Level{n, n, make([]byte, 4*n*n)}
	seed := uint32(7)
	for range n * n / 40 {
		seed = seed*1664525 + 1013904223
		cx, cy := int(seed>>8)%n, int(seed>>20)%n
		for y := -2; y <= 2; y++ {
			for x := -2; x <= 2; x++ {
				p := l.Pix[4*(((cy+y+n)%n)*n+(cx+x+n)%n):][:4]
				p[1], p[3] = 180, max(p[3], byte(255-50*(max(x, -x)+max(y, -y))))
			}
		}
	}
	return l
}

// drawn returns the share of texels at or above a cutoff.
func drawn(l Level, cutoff float32) float64 {
	n := 0
	for i := 3; i < len(l.Pix); i += 4 {
		if float32(l.Pix[i])/255 >= cutoff {
			n++
		}
	}
	return float64(n) / float64(len(l.Pix)/4)
}

// TestCoverage: as many texels of a cut-out are drawn at every level; without care they
// become fewer.
func TestCoverage(t *testing.T) {
	img := leaves(256)
	for _, cutoff := range []float32{0.25, 0.42, 0.5, 0.8} {
		want := drawn(img, cutoff)
		for _, maxSize := range []int{0, 64} {
			for k, l := range chain(img, Color, false, cutoff, maxSize) {
				if l.Width < 16 {
					break // too few texels to share
				}
				if got := drawn(l, cutoff); math.Abs(got-want) > 0.04 { // level 1 has few values
					t.Errorf("cutoff %v from %d, level %d: %.3f are drawn, want %.3f", cutoff, maxSize, k, got, want)
				}
			}
		}
	}
	if got, want := drawn(chain(img, Color, false, 0, 0)[4], 0.8), drawn(img, 0.8); got > want/2 {
		t.Errorf("the test shows nothing: %.3f without care, %.3f with", got, want)
	}
	// The first level, and what has no cut-outs, stay as they are.
	if l := chain(img, Color, false, 0.5, 0)[0]; !bytes.Equal(l.Pix, img.Pix) {
		t.Error("the picture itself has changed")
	}
	for _, cutoff := range []float32{0, -1, 1.5, float32(math.NaN())} {
		if coverageOf(img, cutoff) != nil {
			t.Errorf("cutoff %v", cutoff)
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, &image.NRGBA{Pix: img.Pix, Stride: 4 * 256, Rect: image.Rect(0, 0, 256, 256)}); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&file, Options{Use: Color, Cutoff: 0.8, MaxSize: 32})
	if err != nil || math.Abs(drawn(got.Levels[0], 0.8)-drawn(img, 0.8)) > 0.02 {
		t.Errorf("%v, %.3f", err, drawn(got.Levels[0], 0.8))
	}
}

// Whatever the alpha of a picture, a level is drawn in the order of its alpha, and no
// alpha comes from nothing.
func TestCoverageProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 9).Draw(t, "w"), rapid.IntRange(1, 9).Draw(t, "h")
		l := Level{w, h, make([]byte, 4*w*h)}
		alpha := rapid.SampledFrom([]byte{0, 1, 100, 127, 128, 254, 255})
		for i := 3; i < len(l.Pix); i += 4 {
			l.Pix[i] = alpha.Draw(t, "alpha")
		}
		cutoff := rapid.Float32Range(0.001, 1).Draw(t, "cutoff")
		c := &coverage{share: rapid.Float64Range(0, 1).Draw(t, "share")}
		c.least = coverageOf(l, cutoff).least
		before := bytes.Clone(l.Pix)
		got := c.keep(l)
		if !bytes.Equal(l.Pix, before) {
			t.Fatal("the level itself has changed")
		}
		for i := 3; i < len(l.Pix); i += 4 {
			if l.Pix[i] == 0 && got.Pix[i] != 0 {
				t.Fatal("alpha from nothing")
			}
			for k := 3; k < len(l.Pix); k += 4 {
				if l.Pix[i] < l.Pix[k] && got.Pix[i] > got.Pix[k] {
					t.Fatalf("%d and %d became %d and %d", l.Pix[i], l.Pix[k], got.Pix[i], got.Pix[k])
				}
			}
		}
	})
}
