package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"runtime"
	"sync"
	"testing"

	"github.com/untoldkit/untold/internal/race"
)

func encodePNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestInspectCoversDecoding: what decoders really allocate for the pixels is no
// more than was said, and no less than a third of it, so that sound pictures
// are not refused for nothing.
func TestInspectCoversDecoding(t *testing.T) {
	r := image.Rect(0, 0, 1024, 1024)
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewNRGBA(r), nil); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"NRGBA":    encodePNG(t, &image.NRGBA{Pix: make([]byte, 4<<20), Stride: 4 << 10, Rect: r}),
		"RGB":      encodePNG(t, image.NewYCbCr(r, image.YCbCrSubsampleRatio444)),
		"gray":     encodePNG(t, image.NewGray(r)),
		"gray16":   encodePNG(t, image.NewGray16(r)),
		"NRGBA64":  encodePNG(t, image.NewNRGBA64(r)),
		"paletted": encodePNG(t, image.NewPaletted(r, color.Palette{color.Black, color.White})),
		"jpeg":     photo.Bytes(),
	} {
		if race.Enabled && name != "NRGBA" && name != "jpeg" {
			continue // make test decodes all without the detector
		}
		c, ok := Inspect(data)
		if !ok || c.Width != 1024 || c.Height != 1024 {
			t.Fatalf("%s: %+v, %v", name, c, ok)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		img, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(name, err)
		}
		out := image.NewNRGBA(r)
		draw.Draw(&image.RGBA{Pix: out.Pix, Stride: out.Stride, Rect: r}, r, img, image.Point{}, draw.Src)
		runtime.ReadMemStats(&after)
		const own = 512 << 10 // what a decoder needs whatever the size
		if n := int64(after.TotalAlloc-before.TotalAlloc) - own; n > c.Bytes || 3*n < c.Bytes {
			t.Errorf("%s: %d bytes allocated, %d said", name, n, c.Bytes)
		}
	}
}

// header is the start of a JPEG.
func header(marker byte, w, h uint16, sampling ...byte) []byte {
	b := []byte{0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, marker, 0, byte(8 + 3*len(sampling)), 8}
	b = binary.BigEndian.AppendUint16(b, h)
	b = binary.BigEndian.AppendUint16(b, w)
	b = append(b, byte(len(sampling)))
	for i, s := range sampling {
		b = append(b, byte(i+1), s, 0)
	}
	return b
}

func TestInspect(t *testing.T) {
	ihdr := func(w, h uint32, depth, kind, interlace byte) []byte {
		b := append([]byte("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13)
		b = append(b, "IHDR"...)
		b = binary.BigEndian.AppendUint32(b, w)
		b = binary.BigEndian.AppendUint32(b, h)
		b = append(b, depth, kind, 0, 0, interlace)
		return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[12:]))
	}
	webp := func(kind string, rest ...byte) []byte {
		return append([]byte("RIFF\x00\x00\x00\x00WEBP"+kind+"\x00\x00\x00\x00"), rest...)
	}
	for name, tt := range map[string]struct {
		data []byte
		want float64 // bytes a pixel; 0: not ok
		w, h int
	}{
		"png rgba":           {ihdr(100, 10, 8, 6, 0), 8, 100, 10},
		"png 16":             {ihdr(100, 10, 16, 6, 0), 12, 100, 10},
		"png 16 interlaced":  {ihdr(100, 10, 16, 6, 1), 16, 100, 10},
		"png palette":        {ihdr(100, 10, 8, 3, 0), 5, 100, 10},
		"png none":           {ihdr(0, 10, 8, 6, 0), 0, 0, 0},
		"png short":          {ihdr(100, 10, 8, 6, 0)[:28], 0, 0, 0},
		"jpeg 420":           {header(0xc0, 100, 10, 0x22, 0x11, 0x11), 5.5, 100, 10},
		"jpeg 444":           {header(0xc0, 100, 10, 0x11, 0x11, 0x11), 7, 100, 10},
		"jpeg progressive":   {header(0xc2, 100, 10, 0x11, 0x11, 0x11), 19, 100, 10},
		"jpeg progressive 4": {header(0xc2, 100, 10, 0x22, 0x11, 0x11), 11.5, 100, 10},
		"jpeg cmyk":          {header(0xc0, 100, 10, 0x11, 0x11, 0x11, 0x11), 12, 100, 10},
		"jpeg no frame":      {[]byte{0xff, 0xd8, 0xff, 0xda, 0, 4, 1, 2}, 0, 0, 0},
		"jpeg cut":           {header(0xc2, 100, 10, 0x11, 0x11, 0x11)[:20], 0, 0, 0},
		"webp lossless":      {webp("VP8L", 0x2f, 99, 0x40, 2, 0, 0, 0, 0, 0, 0, 0), 12, 100, 10},
		"webp extended":      {webp("VP8X", 0, 0, 0, 0, 99, 0, 0, 9, 0, 0), 13.5, 100, 10},
		"webp lossy":         {webp("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 100, 0, 10, 0), 5.5, 100, 10},
		"other":              {[]byte("DDS and more"), 0, 0, 0},
	} {
		c, ok := Inspect(tt.data)
		if want := int64(tt.want * float64(tt.w*tt.h)); ok != (tt.want > 0) || ok && (c.Width != tt.w || c.Height != tt.h || c.Bytes != want) {
			t.Errorf("%s: %+v, %v; want %d bytes", name, c, ok, want)
		}
	}
	if c, _ := Inspect(ihdr(1<<32-1, 1<<32-1, 16, 6, 1)); c.Bytes < 1<<61 {
		t.Errorf("the largest PNG: %+v", c)
	}
}

// FuzzInspect: any bytes give an answer without an allocation.
func FuzzInspect(f *testing.F) {
	f.Add(header(0xc2, 100, 10, 0x11, 0x11, 0x11))
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, ok := Inspect(data)
		if ok && (c.Width <= 0 || c.Height <= 0 || c.Bytes < int64(c.Width)) {
			t.Errorf("%+v", c)
		}
		if n := testing.AllocsPerRun(1, func() { Inspect(data) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// TestBudget: never more than the size is held, but for one that is larger,
// which is alone.
func TestBudget(t *testing.T) {
	b := NewBudget(100)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			free, err := b.Take(context.Background(), int64(i%7*10))
			if err != nil {
				t.Error(err)
				return
			}
			runtime.Gosched()
			free()
		})
	}
	wg.Wait()
	if b.Peak() > 100 {
		t.Errorf("%d bytes held at a time", b.Peak())
	}
	free, _ := b.Take(context.Background(), 1<<40)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Take(ctx, 1); err == nil {
		t.Error("a second one got in")
	}
	free()
	if b.Peak() != 1<<40 {
		t.Errorf("peak %d", b.Peak())
	}
}

// TestGarbageIsCollected: what pictures leave behind counts until it has been
// collected, which happens no oftener than it must.
func TestGarbageIsCollected(t *testing.T) {
	b := NewBudget(100)
	n := 0
	b.collect = func() { n++ }
	use := func(bytes int64, want int) {
		t.Helper()
		free, err := b.Take(context.Background(), bytes)
		if err != nil {
			t.Fatal(err)
		}
		free()
		if n != want {
			t.Errorf("%d collections, want %d", n, want)
		}
	}
	use(40, 0)
	use(40, 0) // 40 are left
	use(40, 1) // 80 are left
	use(40, 1)
	use(300, 2) // alone, and larger than all of it
	use(300, 3)
	for range 30 {
		use(1, 4)
	}
	use(0, 4)
}
