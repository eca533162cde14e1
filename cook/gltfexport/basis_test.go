package gltfexport

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/ktx2"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestKTX2: every slot gets a file of Basis Universal with all its levels, with the transfer
// function of its role, wherever the textures go.
func TestKTX2(t *testing.T) {
	for _, ext := range []string{".glb", ".gltf", " shared"} {
		dir := t.TempDir()
		path := save(t, dir, "a.untold", texturedFile(t, dir))
		o := Options{KTX2: true}
		if ext == " shared" {
			ext, o.Textures = ".glb", NewTextureFolder(filepath.Join(dir, "textures"))
			t.Chdir(dir)
			path = "a.untold"
		}
		out := filepath.Join(dir, "model"+ext)
		res, err := Export(t.Context(), path, out, o)
		if err != nil {
			t.Fatal(err)
		}
		s := load(t, out)
		if res.Textures != 4 || len(res.Notes) != 0 || len(s.Images) != 4 || len(s.Notes) != 0 {
			t.Fatalf("%s: %+v, %d images, %v", ext, res, len(s.Images), s.Notes)
		}
		m := &s.Materials[0]
		for slot, want := range map[int]struct {
			c        color.NRGBA
			transfer ktx2.Transfer
		}{
			m.BaseColorTex.Image:  {color.NRGBA{200, 100, 50, 255}, ktx2.TransferSRGB},
			m.NormalTex.Image:     {color.NRGBA{128, 128, 255, 255}, ktx2.TransferLinear},
			m.MetalRoughTex.Image: {color.NRGBA{255, 90, 30, 255}, ktx2.TransferLinear},
			m.EmissiveTex.Image:   {color.NRGBA{1, 2, 3, 255}, ktx2.TransferSRGB},
		} {
			data, err := s.Images[slot].Bytes()
			if err != nil {
				t.Fatal(err)
			}
			f, err := ktx2.Parse(data)
			if err != nil {
				t.Fatalf("%s: %v", ext, err)
			}
			if f.Levels() != 3 || f.Descriptor.Model != ktx2.ModelUASTC || f.Descriptor.Transfer != want.transfer {
				t.Errorf("%s: %d levels, %+v, want transfer %d", ext, f.Levels(), f.Descriptor, want.transfer)
			}
			p, err := f.Decode(0)
			if err != nil {
				t.Fatal(err)
			}
			got := p.NRGBAAt(1, 2)
			for _, d := range []int{int(got.R) - int(want.c.R), int(got.G) - int(want.c.G), int(got.B) - int(want.c.B), int(got.A) - int(want.c.A)} {
				if d < -1 || d > 1 {
					t.Errorf("%s: %v became %v", ext, want.c, got)
				}
			}
		}
	}
}

// TestKTX2Cutouts: levels keep the share of a cutout that is drawn; edges that are no
// multiples of 4 are rounded.
func TestKTX2Cutouts(t *testing.T) {
	dir := t.TempDir()
	leaf := image.NewNRGBA(image.Rect(0, 0, 67, 64))
	for y := range 64 {
		for x := range 67 {
			c := color.NRGBA{40, 120, 30, 0}
			if (x*x+y*3)%11 < 4 { // thin
				c.A = 255
			}
			leaf.SetNRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, leaf); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(dir, "leaf.png"), b.Bytes())
	path := save(t, dir, "a.untold", quadFile(t, func(b *format.Builder) records.Material {
		m := blank()
		m.Flags = records.MaterialCutout
		m.BaseColorTexture = b.AddTexture("leaf.png", "leaf.png", records.Texture{Width: 67, Height: 64, MipCount: 1})
		return m
	}))
	out := filepath.Join(dir, "model.gltf")
	if _, err := Export(t.Context(), path, out, Options{KTX2: true}); err != nil {
		t.Fatal(err)
	}
	list, err := filepath.Glob(filepath.Join(dir, "model_textures", "leaf_*.ktx2"))
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	data, err := os.ReadFile(list[0])
	if err != nil {
		t.Fatal(err)
	}
	f, err := ktx2.Parse(data)
	if err != nil || f.Width != 64 || f.Height != 64 {
		t.Fatalf("%v, %d x %d", err, f.Width, f.Height)
	}
	drawn := func(level int) float64 {
		p, err := f.Decode(level)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i := 3; i < len(p.Pix); i += 4 {
			if p.Pix[i] >= 128 {
				n++
			}
		}
		return float64(n) / float64(len(p.Pix)/4)
	}
	whole := drawn(0)
	for level := 1; level < 5; level++ {
		if d := math.Abs(drawn(level) - whole); d > 0.12 {
			t.Errorf("level %d draws %.2f, level 0 %.2f", level, drawn(level), whole)
		}
	}
}
