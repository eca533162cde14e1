//go:build cgo && gldecode

package texture

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/preview/surface"
)

var (
	glImages = flag.String("gl-images", "", "folder of PNG and JPEG images to compress and let OpenGL decode")
	glOut    = flag.String("gl-out", "", "folder for pictures of the decoded levels")
)

// Names that the bindings lack; further sizes of ASTC follow the first.
const (
	compressedBPTC     = 0x8E8C
	compressedRGTC2    = 0x8DBD
	compressedASTC4x4  = 0x93B0
	compressedASTC6x6  = 0x93B4
	compressedSRGBASTC = 0x93D0
)

// TestGLDecodes lets the OpenGL driver, whose decoders are not ours, decode
// every level: it is the measure of what a GPU shows. It runs with
//
//	go test -tags gldecode ./cook/internal/texture -run GLDecodes -v -args -gl-images DIR
//
// and needs no display.
func TestGLDecodes(t *testing.T) {
	s, err := surface.OpenHeadless(16, 16)
	if err != nil {
		t.Skip("no OpenGL: ", err)
	}
	defer s.Close()
	pictures := map[string]*image.NRGBA{"photo": photo(253, 131), "foliage": foliage(128)}
	list, _ := filepath.Glob(filepath.Join(*glImages, "*.[pj][np]g"))
	for _, path := range list {
		if pictures[filepath.Base(path)], err = Load(path); err != nil {
			t.Fatal(err)
		}
	}
	for name, img := range pictures {
		for _, r := range []Role{{Use: Color, Alpha: AlphaMasked, Cutoff: 0.5}, {Use: Normal}, {Use: Data}} {
			c := newWorkers(2)
			c.join()
			base := scaled(c, img, img.Rect.Dx(), img.Rect.Dy(), r)
			for _, m := range []Mode{ModeBC, ModeASTC} {
				var file bytes.Buffer
				if _, err := writeBlocks(&file, c, base, r, m.coding(r, ASTC{})); err != nil {
					t.Fatal(err)
				}
				checkWithGL(t, name+"-"+r.Use.String()+"-"+m.String(), file.Bytes(), chain(t, base, r))
			}
		}
	}
}

func checkWithGL(t *testing.T, name string, file []byte, want []*image.NRGBA) {
	r, err := utex.NewBytesReader(file)
	if err != nil {
		t.Fatal(err)
	}
	levels, err := r.ReadLevels(0)
	if err != nil {
		t.Fatal(err)
	}
	var tex uint32
	gl.GenTextures(1, &tex)
	defer gl.DeleteTextures(1, &tex)
	gl.BindTexture(gl.TEXTURE_2D, tex)
	gl.PixelStorei(gl.PACK_ALIGNMENT, 1)
	first, worst := 0.0, 0
	for i, l := range r.Levels {
		kind := uint32(compressedBPTC)
		switch {
		case r.Format == utex.BC5:
			kind = compressedRGTC2
		case r.Format.SRGB() && r.Format.ASTC():
			kind = compressedSRGBASTC + uint32(r.Format-utex.ASTC4x4SRGB)
		case r.Format == utex.ASTC6x6:
			kind = compressedASTC6x6
		case r.Format == utex.ASTC4x4:
			kind = compressedASTC4x4
		}
		gl.CompressedTexImage2D(gl.TEXTURE_2D, int32(i), kind, int32(l.Width), int32(l.Height), 0, int32(l.Size), gl.Ptr(levels[i]))
		got := make([]byte, 4*l.Width*l.Height)
		gl.GetTexImage(gl.TEXTURE_2D, int32(i), gl.RGBA, gl.UNSIGNED_BYTE, gl.Ptr(got))
		if e := gl.GetError(); e != 0 {
			t.Fatalf("%s level %d: OpenGL error 0x%x", name, i, e)
		}
		own, err := utex.Decode(r.Format, levels[i], l.Width, l.Height)
		if err != nil {
			t.Fatal(err)
		}
		if r.Format == utex.BC5 { // the driver has no third channel
			for k := 2; k < len(got); k += 4 {
				got[k] = own[k]
			}
		}
		if r.Flags&utex.NormalPacked != 0 {
			utex.UnpackNormals(got)
			utex.UnpackNormals(own)
			for k := 2; k < len(got); k += 4 {
				got[k] = own[k]
			}
		}
		for k := range got {
			worst = max(worst, int(math.Abs(float64(got[k])-float64(own[k]))))
		}
		if i == 0 {
			first = psnr(got, want[0].Pix)
		}
		if *glOut != "" {
			savePNG(t, filepath.Join(*glOut, name+"-"+string(rune('a'+i))+".png"), got, l.Width, l.Height)
		}
	}
	t.Logf("%s: %d x %d, %d levels, the first has %.2f dB, decoders differ by %d at most", name, r.Width, r.Height, len(levels), first, worst)
	if limit := map[utex.PixelFormat]int{utex.BC5: 1, utex.ASTC4x4: 1, utex.ASTC6x6: 1}[r.Format]; worst > limit {
		t.Errorf("%s: the decoders differ by %d", name, worst)
	}
	if first < 24 {
		t.Errorf("%s: %.2f dB", name, first)
	}
}

func savePNG(t *testing.T, path string, pix []byte, w, h int) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, &image.NRGBA{Pix: pix, Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}); err != nil {
		t.Fatal(err)
	}
}
