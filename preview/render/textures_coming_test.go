//go:build cgo && !nopreview

package render

import (
	"context"
	"image/color"
	"path/filepath"
	"testing"
	"time"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// held is a texture.Reader that waits for open.
type held struct{ open chan struct{} }

func (h held) ReadTexture(ctx context.Context, dir, uri string, o texfile.Options) (*texfile.Image, error) {
	select {
	case <-h.open:
		return texfile.ReadFile(ctx, dir, uri, o)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestComingTextures: what waits for its texture is gray, not white; what has none shows
// its own colour.
func TestComingTextures(t *testing.T) {
	dir := t.TempDir()
	writePNG(t, filepath.Join(dir, "good.png"), solid(4, 4, color.NRGBA{0, 0, 255, 255}))
	reader := held{make(chan struct{})}
	r := headless(t, Options{Width: 32, Height: 16, TextureReader: reader})
	textured, plain := paint(255, 255, 255), paint(255, 255, 255)
	textured.BaseColorTexture = 0
	half := func(x float64, material uint32) part {
		p := quad(geom.Vec3{x, 0, -5}, right.Scale(50), up.Scale(50))
		p.material = material
		return p
	}
	a := assemble([]part{half(-50, 0), half(50, 1)}, []records.Material{textured, plain}, "good.png")
	a.Dir = dir
	if err := r.Upload(key(0, payload.RepFull), a); err != nil {
		t.Fatal(err)
	}
	for _, now := range []time.Duration{0, 2 * texturesWait} { // it is shown without them then
		r.StreamTextures(TextureView{Now: now, Pixel: texture.PixelSize(60, 0)})
		r.Pump(Budget{})
	}
	drawn := []runtime.Drawn{{Key: key(0, payload.RepFull), Fade: 1}}
	picture := func(want color.NRGBA) {
		t.Helper()
		r.Draw(Frame{Camera: at(0), Drawn: drawn})
		img := r.ReadPixels()
		wantPixel(t, img, 8, 8, want, 1)
		wantPixel(t, img, 24, 8, color.NRGBA{255, 255, 255, 255}, 0)
	}
	picture(color.NRGBA{128, 128, 128, 255})
	close(reader.open)
	if err := r.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	picture(color.NRGBA{0, 0, 255, 255})
}
