//go:build cgo && !nopreview

package render

import (
	"context"
	"errors"
	"image/color"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
)

// What was decoded ahead needs no file when its mesh is uploaded.
func TestPrewarm(t *testing.T) {
	dir := t.TempDir()
	writePNG(t, filepath.Join(dir, "blue.png"), solid(600, 600, color.NRGBA{0, 0, 255, 255}))
	params, err := texture.ProfileNamed("balanced")
	if err != nil {
		t.Fatal(err)
	}
	r := headless(t, Options{Width: 16, Height: 16, Textures: params})
	params.MinDimension = 64
	if err := r.SetTextures(params, 0); err != nil {
		t.Fatal(err)
	}
	m := paint(255, 255, 255)
	m.BaseColorTexture = 0
	a := assemble([]part{screen(-50)}, []records.Material{m}, "blue.png")
	a.Dir = dir
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Prewarm(gone, 1, a); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	if err := r.Prewarm(t.Context(), 1, a); err != nil {
		t.Fatal(err)
	}
	if r.textures.warmer.Bytes() == 0 {
		t.Error("nothing is warm")
	}
	if err := os.Remove(filepath.Join(dir, "blue.png")); err != nil {
		t.Fatal(err)
	}
	s := r.Draw(Frame{Camera: at(0), Drawn: put(t, r, a)})
	if s.Textures != 1 || s.TexturesMissing != 0 || r.textures.warmer.Bytes() != 0 {
		t.Errorf("%+v, %d bytes are warm", s, r.textures.warmer.Bytes())
	}
	wantPixel(t, r.ReadPixels(), 8, 8, color.NRGBA{0, 0, 255, 255}, 0)
	r.Release(key(0, payload.RepFull))

	plain := headless(t, Options{Width: 16, Height: 16, NoTextures: true})
	if err := plain.Prewarm(t.Context(), 1, a); err != nil || plain.textures.warmer.Bytes() != 0 {
		t.Errorf("%v", err)
	}
}
