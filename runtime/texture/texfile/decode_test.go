package texfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
)

func encodePNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// paint fills an image by a function of the pixel.
func paint[T interface {
	image.Image
	Set(x, y int, c color.Color)
}](img T, at func(x, y int) color.Color,
) T {
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			img.Set(x, y, at(x, y))
		}
	}
	return img
}

func TestDecodeKinds(t *testing.T) {
	r := image.Rect(0, 0, 4, 3)
	orange := color.NRGBA{250, 120, 10, 255}
	glass := color.NRGBA{10, 200, 100, 128}
	all := func(c color.Color) func(int, int) color.Color { return func(int, int) color.Color { return c } }
	for _, c := range []struct {
		name   string
		img    image.Image
		want   [4]uint8
		opaque bool
	}{
		{"rgba", paint(image.NewNRGBA(r), all(orange)), [4]uint8{250, 120, 10, 255}, true},
		{"translucent", paint(image.NewNRGBA(r), all(glass)), [4]uint8{10, 200, 100, 128}, false},
		{"grey", paint(image.NewGray(r), all(color.Gray{77})), [4]uint8{77, 77, 77, 255}, true},
		{"grey 16", paint(image.NewGray16(r), all(color.Gray16{0x80ff})), [4]uint8{128, 128, 128, 255}, true},
		{"16 bit", paint(image.NewNRGBA64(r), all(color.NRGBA64{0xffff, 0x7f00, 0x00ff, 0x8080})), [4]uint8{255, 127, 1, 128}, false},
		{"16 bit opaque", paint(image.NewRGBA64(r), all(color.NRGBA64{0xffff, 0x7f7f, 0, 0xffff})), [4]uint8{255, 127, 0, 255}, true},
		{"palette", paint(image.NewPaletted(r, color.Palette{color.Black, orange}), all(orange)), [4]uint8{250, 120, 10, 255}, true},
		{"palette, translucent", paint(image.NewPaletted(r, color.Palette{glass, orange}), all(glass)), [4]uint8{10, 200, 100, 128}, false},
	} {
		got, err := Decode(bytes.NewReader(encodePNG(t, c.img)), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		l := got.Levels[0]
		if l.Width != 4 || l.Height != 3 || got.SourceWidth != 4 || got.SourceHeight != 3 || got.Opaque != c.opaque {
			t.Errorf("%s: %d x %d, opaque %v", c.name, l.Width, l.Height, got.Opaque)
		}
		for i := range 12 {
			if p := [4]uint8(l.Pix[4*i:]); p != c.want {
				t.Errorf("%s: pixel %d is %v, want %v", c.name, i, p, c.want)
				break
			}
		}
	}
}

func TestDecodeJPEG(t *testing.T) {
	img := paint(image.NewRGBA(image.Rect(0, 0, 16, 16)), func(x, _ int) color.Color {
		return color.RGBA{uint8(200 - x), 90, 40, 255}
	})
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 100}); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&b, Options{})
	if err != nil || !got.Opaque || len(got.Levels) != 5 {
		t.Fatalf("%v, %v", got, err)
	}
	if p := got.Levels[0].Pix; p[0] < 190 || p[0] > 210 || p[3] != 255 {
		t.Errorf("first pixel %v", p[:4])
	}
}

// TestDecodeWebP reads a lossy file of the shared assets.
func TestDecodeWebP(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/assets/features/BoxTexturedWebp/*.webp")
	if len(files) == 0 {
		t.Skip("../shared has no WebP file here")
	}
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := Decode(f, Options{MaxSize: 64})
	if err != nil {
		t.Fatal(err)
	}
	if l := got.Levels[0]; max(l.Width, l.Height) > 64 || len(l.Pix) != 4*l.Width*l.Height {
		t.Errorf("%d x %d with %d bytes", l.Width, l.Height, len(l.Pix))
	}
}

func TestDecodeMaxSize(t *testing.T) {
	data := encodePNG(t, image.NewNRGBA(image.Rect(0, 0, 100, 37)))
	for _, c := range []struct{ max, w, h, levels int }{
		{0, 100, 37, 7}, {100, 100, 37, 7}, {99, 50, 18, 6}, {50, 50, 18, 6}, {10, 6, 2, 3}, {1, 1, 1, 1},
	} {
		got, err := Decode(bytes.NewReader(data), Options{MaxSize: c.max})
		if err != nil {
			t.Fatal(err)
		}
		if l := got.Levels[0]; l.Width != c.w || l.Height != c.h || len(got.Levels) != c.levels {
			t.Errorf("MaxSize %d: %d x %d, %d levels, want %d x %d, %d", c.max, l.Width, l.Height, len(got.Levels), c.w, c.h, c.levels)
		}
		if got.SourceWidth != 100 || got.SourceHeight != 37 {
			t.Errorf("MaxSize %d forgets the source: %d x %d", c.max, got.SourceWidth, got.SourceHeight)
		}
	}
}

// hugePNG is the header of an image of w x h pixels without its data.
func hugePNG(w, h uint32) []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	b = binary.BigEndian.AppendUint32(b, w)
	b = binary.BigEndian.AppendUint32(b, h)
	b = append(b, 8, 6, 0, 0, 0)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[12:]))
}

func TestDecodeErrors(t *testing.T) {
	good := encodePNG(t, image.NewNRGBA(image.Rect(0, 0, 8, 8)))
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"nothing", nil, ErrFormat},
		{"text", []byte("not an image"), ErrFormat},
		{"KTX2", []byte("\xabKTX 20\xbb\r\n\x1a\n"), ErrFormat},
		{"cut off", good[:len(good)-20], ErrDamaged},
		{"header only", good[:20], ErrDamaged},
		{"huge", hugePNG(60000, 60000), ErrTooLarge},
		{"long", hugePNG(100000, 1), ErrTooLarge},
		{"empty JPEG", []byte("\xff\xd8\xff"), ErrDamaged},
		{"WebP without data", []byte("RIFF\x00\x00\x00\x00WEBPVP8 "), ErrDamaged},
	} {
		if _, err := Decode(bytes.NewReader(c.data), Options{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := Decode(bytes.NewReader(good), Options{MaxPixels: 63}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("more than MaxPixels: %v", err)
	}
	broken := errors.New("the disk is gone")
	_, err := Decode(io.MultiReader(bytes.NewReader(good[:40]), iotest.ErrReader(broken)), Options{})
	if !errors.Is(err, broken) || errors.Is(err, ErrDamaged) {
		t.Errorf("a read error: %v", err)
	}
}

// TestDecodeTruncated: every prefix is an error, none a panic.
func TestDecodeTruncated(t *testing.T) {
	img := paint(image.NewNRGBA(image.Rect(0, 0, 9, 5)), func(x, y int) color.Color { return color.NRGBA{uint8(x * 20), uint8(y * 40), 7, uint8(x)} })
	data := encodePNG(t, img)
	for n := range len(data) - 12 { // without the end chunk it may pass
		if _, err := Decode(bytes.NewReader(data[:n]), Options{}); err == nil {
			t.Fatalf("%d of %d bytes are accepted", n, len(data))
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encodePNG(f, image.NewNRGBA(image.Rect(0, 0, 3, 2))), uint8(0))
	f.Add(encodePNG(f, image.NewGray16(image.Rect(0, 0, 5, 5))), uint8(1))
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes(), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, use uint8) {
		got, err := Decode(bytes.NewReader(data), Options{Use: Use(use % 3), MaxPixels: 1 << 16, MaxSize: 64})
		if err != nil {
			return
		}
		w, h := got.Levels[0].Width, got.Levels[0].Height
		for i, l := range got.Levels {
			if l.Width != w || l.Height != h || len(l.Pix) != 4*w*h {
				t.Fatalf("level %d: %d x %d, %d bytes", i, l.Width, l.Height, len(l.Pix))
			}
			w, h = max(1, w/2), max(1, h/2)
		}
		if last := got.Levels[len(got.Levels)-1]; last.Width != 1 || last.Height != 1 {
			t.Fatalf("the chain ends at %d x %d", last.Width, last.Height)
		}
	})
}
