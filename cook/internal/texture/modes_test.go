package texture

import (
	"bytes"
	"image"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/ktx2"
)

// TestModesCompared prints bytes and errors of pictures of shared models in every mode that
// compresses, for docs/textures.md: the middle 512 x 512 pixels, the channels in use. It is
// asked for with UNTOLD_MODES=1.
func TestModesCompared(t *testing.T) {
	if os.Getenv("UNTOLD_MODES") == "" {
		t.Skip("UNTOLD_MODES is not set")
	}
	const edge = 512
	for _, x := range []struct {
		file string
		use  Use
		gray bool // the red channel alone
	}{
		{"plastic_monobloc_chair_01_1k/textures/plastic_monobloc_chair_01_diff_1k.jpg", Color, false},
		{"plastic_monobloc_chair_01_1k/textures/plastic_monobloc_chair_01_nor_gl_1k.jpg", Normal, false},
		{"plastic_monobloc_chair_01_1k/textures/plastic_monobloc_chair_01_arm_1k.jpg", Data, false},
		{"dutch_ship_medium_1k/textures/dutch_ship_medium_hull_diff_1k.jpg", Color, false},
		{"dutch_ship_medium_1k/textures/dutch_ship_medium_hull_nor_gl_1k.jpg", Normal, false},
		{"dutch_ship_medium_1k/textures/dutch_ship_medium_hull_arm_1k.jpg", Data, false},
		{"plastic_monobloc_chair_01_1k/textures/plastic_monobloc_chair_01_arm_1k.jpg", Data, true},
		{"dutch_ship_medium_1k/textures/dutch_ship_medium_hull_diff_1k.jpg", Data, true},
	} {
		img, err := Load(filepath.Join("../../../../shared/assets/models", x.file))
		if err != nil {
			t.Skip(err)
		}
		at := image.Pt((img.Rect.Dx()-edge)/2, (img.Rect.Dy()-edge)/2)
		crop := image.NewNRGBA(image.Rect(0, 0, edge, edge))
		for y := range edge {
			copy(crop.Pix[y*crop.Stride:][:4*edge], img.Pix[img.PixOffset(at.X, at.Y+y):])
		}
		for i := 0; x.gray && i < len(crop.Pix); i += 4 {
			crop.Pix[i+1], crop.Pix[i+2] = crop.Pix[i], crop.Pix[i]
		}
		r := Role{Use: x.use}
		c := newWorkers(1)
		c.join()
		base := scaled(c, crop, edge, edge, r)
		for _, m := range []Mode{ModeBC, ModeASTC, ModeKTX2} {
			var b bytes.Buffer
			if _, err := EncodeOne(&b, "a", crop, r, m, ASTC{}); err != nil {
				t.Fatal(err)
			}
			name, n := filepath.Base(x.file), b.Len()
			if m != ModeKTX2 {
				u, err := utex.NewBytesReader(b.Bytes())
				if err != nil {
					t.Fatal(err)
				}
				data, err := u.ReadLevel(0, nil)
				if err != nil {
					t.Fatal(err)
				}
				pix, err := u.Decode(0, data)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s gray %t %v: %d bytes, %.2f dB", name, x.gray, m, n, psnrOf(base.Pix, pix, x.use))
				continue
			}
			k, err := ktx2.Parse(b.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			own, err := k.Decode(0)
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := k.Transcode(0, ktx2.ToBC7)
			if err != nil {
				t.Fatal(err)
			}
			pix, err := utex.Decode(utex.BC7, blocks, edge, edge)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s gray %t %v: %d bytes, %.2f dB, %.2f dB as BC7", name, x.gray, m, n, psnrOf(base.Pix, own.Pix, x.use), psnrOf(base.Pix, pix, x.use))
		}
	}
}

// psnrOf compares the channels that a use has: of normals X and Y.
func psnrOf(a, b []byte, u Use) float64 {
	channels := 3
	if u == Normal {
		channels = 2
	}
	var x, y []byte
	for i := 0; i+3 < len(a); i += 4 {
		x, y = append(x, a[i:i+channels]...), append(y, b[i:i+channels]...)
	}
	return psnr(x, y)
}
