package texfile

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/runtime/internal/fake"
)

// flatBC5 is a block of one red and one green value.
func flatBC5(r, g byte) (b [16]byte) {
	b[0], b[1], b[8], b[9] = r, r, g, g
	return b
}

func TestDecodeUtex(t *testing.T) {
	data := fake.Utex(t, utex.BC5, 40, 24, flatBC5(128, 128))
	at := func(o Options) *Image {
		t.Helper()
		img, err := DecodeAt(bytes.NewReader(data), int64(len(data)), o)
		if err != nil {
			t.Fatal(err)
		}
		return img
	}
	img := at(Options{Use: Normal, Blocks: true, MaxSize: 20})
	if img.Encoding != BC5 || img.Levels[0].Width != 20 || img.Levels[0].Height != 12 || img.SourceWidth != 40 || len(img.Levels) != 5 {
		t.Errorf("%v, %d levels from %d x %d of %d", img.Encoding, len(img.Levels), img.Levels[0].Width, img.Levels[0].Height, img.SourceWidth)
	}
	for i, l := range img.Levels {
		if want := img.Encoding.RowBytes(l.Width) * img.Encoding.Rows(l.Height); len(l.Pix) != want {
			t.Errorf("level %d has %d bytes, want %d", i, len(l.Pix), want)
		}
	}
	// WebGL takes no blocks whose first level ends within one.
	for edge, want := range map[int]Encoding{0: BC5, 20: BC5, 10: RGBA8, 5: RGBA8} {
		if img := at(Options{Use: Normal, Blocks: true, WebGL: true, MaxSize: edge}); img.Encoding != want {
			t.Errorf("WebGL, %d texels: %v, want %v", edge, img.Encoding, want)
		}
	}
	img = at(Options{Use: Normal})
	l := img.Levels[0]
	if p := l.Pix; img.Encoding != RGBA8 || len(p) != 4*40*24 || p[0] != 128 || p[1] != 128 || p[2] < 254 {
		t.Errorf("%v, %d bytes, first texel %v", img.Encoding, len(p), p[:4])
	}
}

// TestDecodeASTC: devices without ASTC get RGBA8, of packed normals X, Y and Z;
// devices with it get the blocks and are told where Y is.
func TestDecodeASTC(t *testing.T) {
	// One colour: 64 in red, green and blue, 128 in alpha.
	flat := [16]byte{0xfc, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 64, 64, 64, 64, 64, 64, 128, 128}
	data := fake.Utex(t, utex.ASTC6x6, 40, 24, flat)
	data[12] = byte(utex.NormalPacked)
	at := func(o Options) *Image {
		img, err := DecodeAt(bytes.NewReader(data), int64(len(data)), o)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := SizeOf(img); err != nil {
			t.Error(err)
		}
		return img
	}
	img := at(Options{Use: Normal, Blocks: true, MaxSize: 20})
	if p := img.Levels[0].Pix; img.Encoding != RGBA8 || img.NormalPacked || len(p) != 4*20*12 || [4]byte(p) != [4]byte{64, 128, 238, 255} {
		t.Errorf("%v, %d bytes, first texel %v", img.Encoding, len(p), p[:4])
	}
	if img := at(Options{Use: Normal, ASTC: true, WebGL: true, MaxSize: 20}); img.Encoding != RGBA8 || img.NormalPacked {
		t.Errorf("WebGL: %v, packed %v", img.Encoding, img.NormalPacked)
	}
	img = at(Options{Use: Normal, ASTC: true, MaxSize: 20})
	if l := img.Levels[0]; img.Encoding.String() != "astc-6x6" || !img.NormalPacked || l.Width != 20 || len(l.Pix) != 4*2*16 {
		t.Errorf("%v, %d bytes", img.Encoding, len(l.Pix))
	}
	for _, name := range Encodings() {
		e, ok := ParseEncoding(name)
		w, h := e.Block()
		if !ok || e.String() != name || e.ASTC() != strings.HasPrefix(name, "astc") || e.Rows(h+1) != 2 || e.RowBytes(w+1) != 2*e.RowBytes(w) {
			t.Errorf("%s became %v", name, e)
		}
	}
	if _, ok := ParseEncoding("astc-7x7"); ok {
		t.Error("an unknown name is an encoding")
	}
}

func TestDecodeAtTakesImagesToo(t *testing.T) {
	data := encodePNG(t, paint(image.NewNRGBA(image.Rect(0, 0, 3, 3)), func(_, _ int) color.Color { return color.NRGBA{1, 2, 3, 255} }))
	img, err := DecodeAt(bytes.NewReader(data), int64(len(data)), Options{})
	if err != nil || img.Encoding != RGBA8 || img.Levels[0].Pix[2] != 3 {
		t.Errorf("%+v, %v", img, err)
	}
}

func TestDecodeUtexErrors(t *testing.T) {
	good := fake.Utex(t, utex.BC5, 16, 16, flatBC5(1, 2))
	var height bytes.Buffer
	if w, err := utex.NewWriter(&height, 1, 1, utex.R16Unorm, 0); err != nil || w.WriteLevel([]byte{1, 2}) != nil || w.Close() != nil {
		t.Fatal("no height map")
	}
	for _, c := range []struct {
		name string
		data []byte
		o    Options
		want error
	}{
		{"cut off", good[:len(good)-5], Options{}, ErrDamaged},
		{"header only", good[:20], Options{}, ErrDamaged},
		{"a format that is not drawn", height.Bytes(), Options{}, ErrFormat},
		{"more than MaxPixels", good, Options{MaxPixels: 255}, ErrTooLarge},
		{"nothing", nil, Options{}, ErrFormat},
	} {
		if _, err := DecodeAt(bytes.NewReader(c.data), int64(len(c.data)), c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := DecodeAt(bytes.NewReader(good), int64(len(good)), Options{MaxPixels: 64, MaxSize: 8}); err != nil {
		t.Errorf("a level that fits: %v", err)
	}
}
