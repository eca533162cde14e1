package texfile

import (
	"bytes"
	"errors"
	"image"
	"io"
	"testing"

	"github.com/untoldkit/untold/internal/basisu"
	"github.com/untoldkit/untold/internal/bc"
	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/ktx2"
)

// basisFile is a KTX2 file of UASTC of w x h texels of one colour and a grain, with all levels.
func basisFile(t testing.TB, w, h int, change func(*ktx2.Content)) []byte {
	t.Helper()
	c := ktx2.Content{Width: w, Height: h, Transfer: ktx2.TransferSRGB, Scheme: ktx2.Zstandard}
	for lw, lh := w, h; ; lw, lh = max(1, lw/2), max(1, lh/2) {
		pix := bytes.Repeat([]byte{200, 100, 50, 255}, lw*lh)
		for i := 0; i < len(pix); i += 4 {
			pix[i+1] += byte(i * 7 % 11)
		}
		c.Levels = append(c.Levels, basisu.EncodeUASTC(nil, pix, 4*lw, lw, lh))
		if lw == 1 && lh == 1 {
			break
		}
	}
	if change != nil {
		change(&c)
	}
	var b bytes.Buffer
	if err := ktx2.Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// counted counts what is read.
type counted struct {
	io.ReaderAt
	n int64
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}

// TestDecodeKTX2: UASTC becomes what the device takes, from the wanted level on.
func TestDecodeKTX2(t *testing.T) {
	data := basisFile(t, 128, 64, nil)
	for _, c := range []struct {
		o     Options
		want  Encoding
		first int
	}{
		{Options{}, RGBA8, 128},
		{Options{Blocks: true}, BC7, 128},
		{Options{ASTC: true, MaxSize: 32}, ASTC4x4, 32},
		{Options{Blocks: true, ASTC: true, MaxSize: 40}, BC7, 32},
		{Options{Blocks: true, WebGL: true, MaxSize: 8}, BC7, 8},
		{Options{Blocks: true, WebGL: true, MaxSize: 4}, RGBA8, 4}, // 4 x 2
		{Options{Blocks: true, ASTC: true, WebGL: true, MaxSize: 4}, ASTC4x4, 4},
	} {
		src := &counted{ReaderAt: bytes.NewReader(data)}
		img, err := DecodeAt(src, int64(len(data)), c.o)
		if err != nil {
			t.Fatal(err)
		}
		s, _, err := SizeOf(img)
		if err != nil || img.Encoding != c.want || img.Levels[0].Width != c.first || !img.Opaque || s.Width != 128 || s.Mips != 8 {
			t.Errorf("%+v: %v from %d texels, %+v, %v", c.o, img.Encoding, img.Levels[0].Width, s, err)
		}
		if cooked, _ := OpenCooked(bytes.NewReader(data), int64(len(data))); c.o.MaxSize > 0 {
			n := cooked.Head + 100 // the identifiers are read twice
			for _, r := range cooked.Need(c.o.MaxSize) {
				n += r.Size
			}
			if src.n > n {
				t.Errorf("%+v: %d bytes were read, %d are needed", c.o, src.n, n)
			}
		}
		if p := img.Levels[0].Pix; c.want == RGBA8 && (p[0] < 199 || p[0] > 201 || p[3] != 255) {
			t.Errorf("the first texel is %v", p[:4])
		}
	}
	if s, err := Measure(bytes.NewReader(data), int64(len(data))); err != nil || s != (Size{128, 64, 8, BC7}) {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestDecodePackedKTX2: blocks of BC7 and BC5 go to devices that take them as they are; elsewhere
// normal maps get their third channel back.
func TestDecodePackedKTX2(t *testing.T) {
	picture := image.NewNRGBA(image.Rect(0, 0, 64, 32))
	for i := range picture.Pix {
		picture.Pix[i] = []byte{230, 128, 255, 255}[i%4]
	}
	for _, c := range []struct {
		format ktx2.Format
		use    Use
		o      Options
		want   Encoding
	}{
		{ktx2.BC7SRGB, Color, Options{Blocks: true}, BC7},
		{ktx2.BC7SRGB, Color, Options{Blocks: true, MaxSize: 16}, BC7},
		{ktx2.BC7SRGB, Color, Options{ASTC: true}, RGBA8},
		{ktx2.BC7SRGB, Color, Options{Blocks: true, WebGL: true, MaxSize: 4}, RGBA8},
		{ktx2.BC5, Normal, Options{Blocks: true}, BC5},
		{ktx2.BC5, Normal, Options{}, RGBA8},
	} {
		content := ktx2.Content{Format: c.format, Width: 64, Height: 32, Scheme: ktx2.Zstandard}
		for w, h := 64, 32; ; w, h = max(1, w/2), max(1, h/2) {
			o := bc.Options{Format: bc.BC7}
			if c.format == ktx2.BC5 {
				o.Format = bc.BC5
			}
			level := picture.SubImage(image.Rect(0, 0, w, h)).(*image.NRGBA)
			blocks := make([]byte, (w+3)/4*((h+3)/4)*16)
			if err := bc.Encode(blocks, level, o); err != nil {
				t.Fatal(err)
			}
			if content.Levels = append(content.Levels, blocks); w == 1 && h == 1 {
				break
			}
		}
		var b bytes.Buffer
		if err := ktx2.Write(&b, content); err != nil {
			t.Fatal(err)
		}
		c.o.Use = c.use
		img, err := DecodeAt(bytes.NewReader(b.Bytes()), int64(b.Len()), c.o)
		if err != nil {
			t.Fatal(err)
		}
		s, start, err := SizeOf(img)
		if err != nil || img.Encoding != c.want || c.o.MaxSize > 0 && s.Edge(start) != c.o.MaxSize {
			t.Fatalf("%v, %+v: %v from %d, %v", c.format, c.o, img.Encoding, s.Edge(start), err)
		}
		if c.want != RGBA8 {
			if got := img.Levels[0].Pix; !bytes.Equal(got, content.Levels[start]) {
				t.Errorf("%v, %+v: other blocks", c.format, c.o)
			}
			continue
		}
		blue := byte(255)
		if c.use == Normal {
			blue = 203 // 0.8 to the right leave 0.6
		}
		if p := img.Levels[0].Pix[:4]; p[0] < 229 || p[0] > 231 || p[2] < blue-2 || p[2] > blue && blue < 255 || p[3] != 255 {
			t.Errorf("%v, %+v: %v", c.format, c.o, p)
		}
	}
}

// TestKTX2Order: the beginning of the file has the small levels.
func TestKTX2Order(t *testing.T) {
	data := basisFile(t, 256, 256, nil)
	c, err := OpenCooked(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	at := c.Head
	for k := len(c.Levels) - 1; k >= 0; k-- {
		if l := c.Levels[k]; l.Offset != at {
			t.Errorf("level %d lies at %d, not at %d", k, l.Offset, at)
		} else {
			at += l.Size
		}
	}
	if at != int64(len(data)) {
		t.Errorf("%d bytes, %d in levels", len(data), at)
	}
}

func TestDecodeKTX2Turned(t *testing.T) {
	data := basisFile(t, 8, 8, func(c *ktx2.Content) { c.Metadata = map[string]string{ktx2.KeySwizzle: "bgra"} })
	img, err := DecodeAt(bytes.NewReader(data), int64(len(data)), Options{Blocks: true, ASTC: true})
	if err != nil || img.Encoding != RGBA8 || img.Levels[0].Pix[2] < 199 {
		t.Errorf("%v, %v", img, err)
	}
}

func TestDecodeKTX2Errors(t *testing.T) {
	data := basisFile(t, 64, 64, nil)
	volume := bytes.Clone(data)
	volume[28] = 2 // slices
	huge := bytes.Clone(data)
	huge[22], huge[26] = 1, 1 // 65600 pixels
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"cut off in the header": {data[:90], ErrDamaged},
		"cut off in a level":    {data[:len(data)-1], ErrDamaged},
		"a volume":              {volume, ErrFormat},
		"larger than any":       {huge, ErrFormat},
	} {
		if _, err := DecodeAt(bytes.NewReader(c.data), int64(len(c.data)), Options{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := DecodeAt(bytes.NewReader(data), int64(len(data)), Options{MaxPixels: 63 * 63}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too many pixels: %v", err)
	}
}

// FuzzDecodeKTX2: any bytes give an image whose chain is sound or an error that can be
// told, and take memory by their pixels and bytes.
func FuzzDecodeKTX2(f *testing.F) {
	for _, scheme := range []ktx2.Scheme{ktx2.None, ktx2.Zstandard, ktx2.ZLIB} {
		f.Add(basisFile(f, 16, 8, func(c *ktx2.Content) { c.Scheme = scheme }), uint8(scheme), uint8(8))
	}
	f.Add(basisFile(f, 4, 4, func(c *ktx2.Content) { c.Levels = c.Levels[:1] }), uint8(3), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, how, edge uint8) {
		o := Options{Blocks: how&1 != 0, ASTC: how&2 != 0, WebGL: how&4 != 0, MaxSize: int(edge), MaxPixels: 1 << 18}
		fuzzbound.Run(t, len(data), fuzzbound.Limits{Alloc: 64 << 20, PerByte: 200}, func() {
			if ours, _ := ktx2.Is(bytes.NewReader(data)); !ours {
				return
			}
			img, err := DecodeAt(bytes.NewReader(data), int64(len(data)), o)
			if err == nil {
				if _, _, err := SizeOf(img); err != nil {
					t.Error(err)
				}
			} else if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrTooLarge) {
				t.Errorf("untyped error: %v", err)
			}
		})
	})
}
