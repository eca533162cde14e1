package texture

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestConvertPassesThrough(t *testing.T) {
	grey := image.NewGray(image.Rect(0, 0, 5, 2))
	palette := image.NewPaletted(image.Rect(0, 0, 5, 2), color.Palette{color.Black, color.White})
	photo := jpegOf(t, small(4))
	for name, data := range map[string][]byte{
		"jpeg with filling": join(photo[:2], []byte{0xff, 0xff, 0xff}, photo[3:]),
		"png":               pngOf(t, small(1)), "grey png": pngOf(t, grey), "palette png": pngOf(t, palette), "jpeg": jpegOf(t, small(2)),
		"png with a tail":  append(pngOf(t, small(3)), bytes.Repeat([]byte("tail"), 100)...),
		"jpeg with a tail": append(jpegOf(t, small(3)), "tail"...),
	} {
		c, err := convert(data, takeAll, Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b := decode(t, data).Bounds()
		if !bytes.Equal(c.data, data) || c.width != b.Dx() || c.height != b.Dy() || c.change != "" {
			t.Errorf("%s: %d x %d, %q", name, c.width, c.height, c.change)
		}
		if want := map[bool]string{true: ".png", false: ".jpg"}[strings.Contains(name, "png")]; c.ext != want {
			t.Errorf("%s: extension %s, want %s", name, c.ext, want)
		}
	}
}

// TestConvert16Bit checks every channel against rounding in the reals; hidden
// colours under transparent pixels count as well.
func TestConvert16Bit(t *testing.T) {
	round := func(v uint16) uint8 { return uint8(math.Round(float64(v) * 255 / 65535)) }
	src := deep()
	c, err := convert(pngOf(t, src), takeAll, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if c.ext != ".png" || c.width != 3 || c.height != 2 || !strings.Contains(c.change, "16-bit") {
		t.Errorf("%+v", c)
	}
	got, ok := decode(t, c.data).(*image.NRGBA)
	if !ok {
		t.Fatalf("became %T", decode(t, c.data))
	}
	for y := range 2 {
		for x := range 3 {
			s := src.NRGBA64At(x, y)
			if want := (color.NRGBA{round(s.R), round(s.G), round(s.B), round(s.A)}); got.NRGBAAt(x, y) != want {
				t.Errorf("pixel %d, %d: %v became %v, want %v", x, y, s, got.NRGBAAt(x, y), want)
			}
		}
	}

	grey := image.NewGray16(image.Rect(0, 0, 256, 256))
	opaque := image.NewRGBA64(image.Rect(0, 0, 256, 256))
	for i := range 65536 {
		grey.SetGray16(i%256, i/256, color.Gray16{uint16(i)})
		opaque.SetRGBA64(i%256, i/256, color.RGBA64{uint16(i), uint16(65535 - i), 7, 65535})
	}
	if c, err = convert(pngOf(t, grey), takeAll, Limits{}); err != nil {
		t.Fatal(err)
	}
	g := decode(t, c.data).(*image.Gray)
	if c, err = convert(pngOf(t, opaque), takeAll, Limits{}); err != nil {
		t.Fatal(err)
	}
	o := decode(t, c.data)
	for i := range 65536 {
		if want := round(uint16(i)); g.GrayAt(i%256, i/256).Y != want {
			t.Fatalf("grey %d became %d, want %d", i, g.GrayAt(i%256, i/256).Y, want)
		}
		if r, gr, _, a := o.At(i%256, i/256).RGBA(); uint8(r>>8) != round(uint16(i)) || uint8(gr>>8) != round(uint16(65535-i)) || a != 65535 {
			t.Fatalf("red %d became %d", i, r>>8)
		}
	}
}

func TestConvertWebP(t *testing.T) {
	path := filepath.Join("..", "..", "..", "shared", "assets", "features", "BoxTexturedWebp", "CesiumLogoFlat.webp")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Skip("the shared assets are absent: ", err)
	}
	c, err := convert(data, takeAll, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	img := decode(t, c.data)
	if c.ext != ".png" || !strings.Contains(c.change, "WebP") || img.Bounds().Dx() != c.width || img.Bounds().Dy() != c.height {
		t.Errorf("%s, %d x %d, %q", c.ext, c.width, c.height, c.change)
	}
	for n := range len(data) { // every truncation fails or, late, still decodes
		if c, err := convert(data[:n], takeAll, Limits{}); err == nil && c.width != img.Bounds().Dx() || err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut at %d of %d: %v", n, len(data), err)
		}
	}
}

// TestTo8BitKeepsHiddenColours covers the lossy WebP with an alpha channel.
func TestTo8BitKeepsHiddenColours(t *testing.T) {
	src := image.NewNYCbCrA(image.Rect(0, 0, 4, 2), image.YCbCrSubsampleRatio420)
	for i := range src.Y {
		src.Y[i], src.A[i] = uint8(100+i*10), uint8(i*20) // the first is invisible
	}
	src.Cb[0], src.Cr[0], src.Cb[1], src.Cr[1] = 90, 200, 128, 128
	got := to8Bit(src).(*image.NRGBA)
	for y := range 2 {
		for x := range 4 {
			k, c := src.YOffset(x, y), src.COffset(x, y)
			r, g, b := color.YCbCrToRGB(src.Y[k], src.Cb[c], src.Cr[c])
			if want := (color.NRGBA{r, g, b, src.A[k]}); got.NRGBAAt(x, y) != want {
				t.Errorf("pixel %d, %d: %v, want %v", x, y, got.NRGBAAt(x, y), want)
			}
		}
	}
	plain := image.NewYCbCr(image.Rect(0, 0, 2, 2), image.YCbCrSubsampleRatio444)
	plain.Y[0], plain.Cb[0], plain.Cr[0] = 255, 128, 128
	if c := color.NRGBAModel.Convert(to8Bit(plain).At(0, 0)); c != (color.NRGBA{255, 255, 255, 255}) {
		t.Errorf("white became %v", c)
	}
}

func TestConvertFailures(t *testing.T) {
	good, photo := pngOf(t, small(1)), jpegOf(t, small(1))
	flipped := bytes.Clone(good)
	flipped[bytes.Index(good, []byte("IDAT"))+8] ^= 1
	animated := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00"), 2, 0, 0, 0, 3, 0, 0, 3, 0, 0)
	jpeg12 := bytes.Clone(photo)
	jpeg12[bytes.Index(photo, []byte{0xff, 0xc0})+4] = 12
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"nothing", nil, ErrDamaged},
		{"text", []byte("<html>404</html>"), ErrDamaged},
		{"png magic alone", []byte(pngMagic), ErrDamaged},
		{"png cut off", good[:len(good)-13], ErrDamaged},
		{"png without its end", good[:len(good)-12], ErrDamaged},
		{"png without pixels", join([]byte(pngMagic), header(4, 4, 8, 2), chunk("IEND")), ErrDamaged},
		{"png with a flipped bit", flipped, ErrDamaged},
		{"png of no width", join([]byte(pngMagic), header(0, 4, 8, 2), chunk("IDAT"), chunk("IEND")), ErrDamaged},
		{"16-bit png without data", join([]byte(pngMagic), header(4, 4, 16, 2), chunk("IDAT"), chunk("IEND")), ErrDamaged},
		{"png beyond the limit", join([]byte(pngMagic), header(16385, 16384, 8, 2), chunk("IDAT"), chunk("IEND")), ErrFormat},
		{"jpeg magic alone", []byte("\xff\xd8\xff"), ErrDamaged},
		{"jpeg cut off", photo[:len(photo)-2], ErrDamaged},
		{"jpeg without scans", photo[:bytes.Index(photo, []byte{0xff, 0xda})], ErrDamaged},
		{"jpeg of 12 bits", jpeg12, ErrFormat},
		{"webp head", []byte("RIFF\x00\x00\x00\x00WEBP"), ErrDamaged},
		{"webp cut off", webpLossless(4, 4), ErrDamaged},
		{"webp animated", animated, ErrFormat},
		{"ktx2 cut off", []byte("\xabKTX 20\xbb\r\n\x1a\nrest"), ErrDamaged},
		{"ktx", []byte("\xabKTX 11\xbb\r\n\x1a\nrest"), ErrFormat},
		{"dds", []byte("DDS |"), ErrFormat},
		{"exr", []byte("\x76\x2f\x31\x01"), ErrFormat},
		{"hdr", []byte("#?RADIANCE\n"), ErrFormat},
		{"gif", []byte("GIF89a"), ErrFormat},
		{"bmp", []byte("BM1234"), ErrFormat},
		{"tiff", []byte("II*\x00"), ErrFormat},
		{"avif", []byte("\x00\x00\x00\x1cftypavif"), ErrFormat},
		{"basis", []byte("sB\x13\x00"), ErrFormat},
	} {
		if _, err := convert(c.data, takeAll, Limits{}); !errors.Is(err, c.want) || errors.Is(err, ErrDamaged) == errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// TestConvertHugeHeaders lets small files claim gigapixels: they must fail
// before anything of that size is allocated.
func TestConvertHugeHeaders(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, data := range map[string][]byte{
		"8-bit png":           join([]byte(pngMagic), header(1<<31-1, 1<<31-1, 8, 2), chunk("IDAT", 1, 2, 3), chunk("IEND")),
		"16-bit png":          join([]byte(pngMagic), header(16384, 16384, 16, 6), chunk("IDAT", 1, 2, 3), chunk("IEND")),
		"16-bit png, limit":   join([]byte(pngMagic), header(16385, 16384, 16, 6), chunk("IDAT", 1, 2, 3), chunk("IEND")),
		"16-bit png, a line":  join([]byte(pngMagic), header(1<<28, 1, 16, 0), chunk("IDAT", 1, 2, 3), chunk("IEND")),
		"png, huge chunk":     append(join([]byte(pngMagic), header(4, 4, 8, 2)), "\xff\xff\xff\xf0IDAT"...),
		"lossless webp":       webpLossless(16384, 16384, make([]byte, 64)...),
		"lossless webp, wide": webpLossless(16384, 8000, make([]byte, 64)...),
	} {
		if _, err := convert(data, takeAll, Limits{}); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

// TestConvertStandIns: what was never fetched is called by its name.
func TestConvertStandIns(t *testing.T) {
	for text, want := range map[string]string{
		"version https://git-lfs.github.com/spec/v1\n": "a Git LFS pointer, run `git lfs pull`",
		"<html>": "HTML or XML, is it a download's error page?",
		"":       "the file is empty",
		"abc":    "neither PNG, JPEG, WebP nor KTX2",
	} {
		if _, err := convert([]byte(text), takeAll, Limits{}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzConvert checks that no bytes panic, and that what comes out is an image
// of the size that is told.
func FuzzConvert(f *testing.F) {
	for _, data := range [][]byte{
		pngOf(f, small(1)), jpegOf(f, small(2)), pngOf(f, deep()), webpLossless(4, 4, 1, 2, 3, 4), []byte("GIF89a"),
		join([]byte(pngMagic), header(9, 9, 16, 0), chunk("IDAT", 1, 2, 3), chunk("IEND")),
	} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := convert(data, takeAll, Limits{})
		switch {
		case errors.Is(err, ErrDamaged) || errors.Is(err, ErrFormat):
		case err != nil:
			t.Fatalf("untyped error: %v", err)
		case c.width <= 0 || c.height <= 0 || c.ext != ".png" && c.ext != ".jpg":
			t.Fatalf("%d x %d, %q", c.width, c.height, c.ext)
		case c.change != "":
			if b := decode(t, c.data).Bounds(); b.Dx() != c.width || b.Dy() != c.height {
				t.Fatalf("%v, told %d x %d", b, c.width, c.height)
			}
		}
	})
}
