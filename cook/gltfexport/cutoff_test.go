package gltfexport

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestFitCutoffs: the cutoff of a cutout is fitted to the levels that viewers make of its
// picture, with the factor of its alpha counted; without a picture that can be decoded, with
// KTX2 and where it is not asked for it stays.
func TestFitCutoffs(t *testing.T) {
	leaf := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			if x%16 < 7 && y%16 < 7 {
				leaf.Pix[y*leaf.Stride+4*x+3] = 255
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, leaf); err != nil {
		t.Fatal(err)
	}
	fit := texture.MipCutoff(leaf, 0.5)
	if fit >= 0.4 {
		t.Fatalf("the picture's cutoff is fitted to %v: this test shows nothing", fit)
	}
	half := texture.MipCutoff(leaf, 0.8) * 0.5
	for name, c := range map[string]struct {
		opts          Options
		cutoff, alpha float32
		picture       []byte
		want          float32
	}{
		"fitted":      {Options{FitCutoffs: true}, 0.5, 1, b.Bytes(), fit},
		"factor":      {Options{FitCutoffs: true}, 0.4, 0.5, b.Bytes(), half},
		"faint":       {Options{FitCutoffs: true}, 0.4, 1e-40, b.Bytes(), 0.4},
		"none drawn":  {Options{FitCutoffs: true}, 0.4, 0.3, b.Bytes(), 0.4},
		"clear":       {Options{FitCutoffs: true}, 0.4, 0, b.Bytes(), 0.4},
		"not asked":   {Options{}, 0.5, 1, b.Bytes(), 0.5},
		"with levels": {Options{FitCutoffs: true, KTX2: true}, 0.5, 1, b.Bytes(), 0.5},
		"damaged":     {Options{FitCutoffs: true}, 0.5, 1, b.Bytes()[:len(b.Bytes())/2], 0.5},
		"no picture":  {Options{FitCutoffs: true}, 0.5, 1, nil, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.picture != nil {
				testfile.Write(t, filepath.Join(dir, "leaf.png"), c.picture)
			}
			path := save(t, dir, "a.untold", quadFile(t, func(b *format.Builder) records.Material {
				m := blank()
				m.Flags, m.AlphaCutoff, m.BaseColor[3] = records.MaterialCutout, c.cutoff, c.alpha
				m.BaseColorTexture = b.AddTexture("leaf.png", "leaf.png", records.Texture{Width: 64, Height: 64, MipCount: 1})
				return m
			}))
			out := filepath.Join(dir, "model.glb")
			if _, err := Export(t.Context(), path, out, c.opts); err != nil {
				t.Fatal(err)
			}
			if got := load(t, out).Materials[0].AlphaCutoff; got != c.want && (c.want == c.cutoff || math.Abs(float64(got-c.want)) > 1e-6) {
				t.Errorf("cutoff %v, want %v", got, c.want)
			}
		})
	}
}
