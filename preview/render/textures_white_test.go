//go:build cgo && !nopreview

package render

import (
	"errors"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// heavy is the start of a progressive JPEG of 8192 x 8192 pixels: few enough for
// a picture, and more coefficients than a decoder may hold.
func heavy() []byte {
	return append([]byte{
		0xff, 0xd8, 0xff, 0xc2, 0, 17, 8, 0x20, 0, 0x20, 0, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0,
		0xff, 0xda, 0, 2,
	}, make([]byte, 4096)...)
}

// TestRefusedTexture: a tile is drawn when one of its textures is refused before
// it is decoded, with all else that it has; who asked is told which and why.
// Where another Streamer decides about sizes, it is the same.
func TestRefusedTexture(t *testing.T) {
	dir := t.TempDir()
	blue := color.NRGBA{0, 0, 255, 255}
	writePNG(t, filepath.Join(dir, "good.png"), solid(4, 4, blue))
	if err := os.WriteFile(filepath.Join(dir, "heavy.png"), heavy(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, followed := range []bool{false, true} {
		var told []string
		r := headless(t, Options{Width: 32, Height: 16, OnWhite: func(s texture.Slot, err error) {
			if !errors.Is(err, texfile.ErrTooLarge) {
				t.Errorf("%v", err)
			}
			told = append(told, s.URI+": "+err.Error())
		}})
		left, side := paint(255, 255, 255), paint(255, 255, 255)
		left.BaseColorTexture, side.BaseColorTexture = 0, 1
		at5 := func(x float64, material uint32) part {
			p := quad(geom.Vec3{x, 0, -5}, right.Scale(3), up.Scale(5))
			p.material = material
			return p
		}
		a := assemble([]part{at5(-3, 0), at5(3, 1)}, []records.Material{left, side}, "good.png", "heavy.png")
		a.Dir = dir
		if followed {
			other, err := texture.NewStreamer(texture.StreamOptions{Params: rings(), Device: &textureDevice{}, Loader: idle{}})
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			var slots []texture.Slot
			for i := range a.Materials {
				slots = append(slots, texture.MaterialSlots(nil, &a.Materials[i], a.Textures, a.Strings, dir)[0])
			}
			entity := other.Add(texture.Part{Slots: slots})
			r.Follow(other)
			for i, id := range other.Textures(nil, entity) {
				r.Show(id, slots[i], 256)
			}
		}
		s := r.Draw(Frame{Camera: at(0), Drawn: put(t, r, a)})
		if s.Draws == 0 || s.Triangles != 4 || s.NotResident != 0 || s.TexturesMissing != 1 {
			t.Errorf("followed %t: %+v", followed, s)
		}
		img := r.ReadPixels()
		wantPixel(t, img, 10, 8, blue, 0)
		wantPixel(t, img, 22, 8, color.NRGBA{255, 255, 255, 255}, 0)
		if len(told) != 1 || !strings.Contains(told[0], "heavy.png: JPEG: texture: too many pixels: decoding 8192 x 8192 takes some 1275 MB, at most 1073 are accepted (store it smaller") {
			t.Errorf("followed %t: told %q", followed, told)
		}
	}
}

// idle is a texture.Loader that never answers.
type idle struct{}

func (idle) Start(texture.Request) {}
