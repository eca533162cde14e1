package texture

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/ktx2"
	"github.com/untoldkit/untold/internal/testfile"
)

// ktx2File reads one of the pictures that Basis Universal's own encoder made.
func ktx2File(t testing.TB, name string) []byte {
	return testfile.Read(t, filepath.Join("../../../internal/ktx2/testdata", name+".ktx2"))
}

// ktx2Of wraps RGBA pixels.
func ktx2Of(t testing.TB, c ktx2.Content) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := ktx2.Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestConvertKTX2: the PNG has the pixels of the largest level, those that are hidden by
// alpha as well.
func TestConvertKTX2(t *testing.T) {
	for name, kind := range map[string]string{
		"etc1s-alpha": "ETC1S", "etc1s-odd": "ETC1S", "uastc-alpha": "UASTC", "uastc-one": "UASTC", "uastc-thin": "UASTC",
	} {
		data := ktx2File(t, name)
		f, err := ktx2.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		want, err := f.Decode(0)
		if err != nil {
			t.Fatal(err)
		}
		c, err := convert(data, takeAll, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.ext != ".png" || c.width != f.Width || c.height != f.Height || c.change != "KTX2 ("+kind+") converted to PNG" {
			t.Errorf("%s: %q, %d x %d: %s", name, c.ext, c.width, c.height, c.change)
		}
		got, err := Read(data, Limits{})
		if err != nil || !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("%s: other pixels, %v", name, err)
		}
	}
}

// TestConvertKTX2Normals: of a normal map with two channels the third is computed, of
// other pictures it is not.
func TestConvertKTX2Normals(t *testing.T) {
	data := ktx2Of(t, ktx2.Content{Format: ktx2.RG8, Width: 2, Height: 2, Transfer: ktx2.TransferLinear, Levels: [][]byte{{128, 128, 255, 128, 30, 200, 255, 255}}})
	for _, normal := range []bool{true, false} {
		c, err := convertFor(normal, data, takeAll, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(c.change, "third coordinate") != normal {
			t.Error(c.change)
		}
		img := toNRGBA(decode(t, c.data))
		for i := 0; i < 12; i += 4 { // the last one is longer than 1
			p := img.Pix[i:]
			length := math.Hypot(math.Hypot(2*float64(p[0])/255-1, 2*float64(p[1])/255-1), 2*float64(p[2])/255-1)
			if normal && math.Abs(length-1) > 0.02 || !normal && p[2] != 0 || p[3] != 255 {
				t.Errorf("normal %v: %v has the length %v", normal, p[:4], length)
			}
		}
		if z := img.Pix[14]; normal && z != 128 {
			t.Errorf("a direction that is too long got %d", z)
		}
	}
	three := ktx2File(t, "uastc-normals")
	a, err1 := convertFor(true, three, takeAll, Limits{})
	b, err2 := convertFor(false, three, takeAll, Limits{})
	if err1 != nil || err2 != nil || !bytes.Equal(a.data, b.data) {
		t.Error("a normal map with three channels was changed", err1, err2)
	}
}

func TestConvertKTX2Failures(t *testing.T) {
	sound := ktx2File(t, "uastc-normals")
	with := func(at int, v byte) []byte {
		b := bytes.Clone(sound)
		b[at] = v
		return b
	}
	for name, tt := range map[string]struct {
		data   []byte
		limits Limits
		want   error
	}{
		"ASTC":          {with(12, 157), Limits{}, ErrFormat},
		"a cube":        {with(36, 6), Limits{}, ErrFormat},
		"cut off":       {sound[:len(sound)-1], Limits{}, ErrDamaged},
		"no such block": {with(len(sound)-16, 0x45), Limits{}, ErrDamaged},
		"a small limit": {sound, Limits{Each: 1000}, ErrTooLarge},
	} {
		if _, err := convert(tt.data, takeAll, tt.limits); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wide := ktx2Of(t, ktx2.Content{Format: ktx2.R8, Width: 65536, Height: 4097, Scheme: ktx2.Zstandard, Levels: [][]byte{make([]byte, 65536*4097)}})
	if _, err := convert(wide, takeAll, Limits{}); !errors.Is(err, ErrFormat) && !errors.Is(err, ErrDamaged) {
		t.Errorf("more pixels than are staged: %v", err)
	}
}

// TestConvertKTX2Memory: what is asked for before decoding is what that takes.
func TestConvertKTX2Memory(t *testing.T) {
	const edge = 1024
	for name, data := range map[string][]byte{
		"UASTC": ktx2Of(t, ktx2.Content{Width: edge, Height: edge, Scheme: ktx2.Zstandard, Levels: [][]byte{make([]byte, edge*edge)}}),
		"RGBA":  ktx2Of(t, ktx2.Content{Format: ktx2.RGBA8, Width: edge, Height: edge, Scheme: ktx2.ZLIB, Levels: [][]byte{make([]byte, 4*edge*edge)}}),
	} {
		var asked int64
		n := fuzzbound.Allocated(func() {
			if _, err := convert(data, func(need int64) error { asked = need; return nil }, Limits{}); err != nil {
				t.Fatal(name, err)
			}
		})
		if own := uint64(8 << 20); n > uint64(asked)+own || asked < 8*edge*edge {
			t.Errorf("%s: %d bytes allocated, %d asked for", name, n, asked)
		}
	}
}

// TestStageKTX2: what is staged of a scene with KTX2 images are PNG files, once for each
// content.
func TestStageKTX2(t *testing.T) {
	dir := t.TempDir()
	sources := []Source{
		source(0, "wood.ktx2", ktx2File(t, "etc1s-alpha")),
		source(1, "again.ktx2", ktx2File(t, "etc1s-alpha")),
		source(2, "bumps.ktx2", ktx2File(t, "uastc-normals")),
	}
	got, err := Stage(context.Background(), dir, sources, Limits{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"wood.png", "wood.png", "bumps.png"} {
		if got[i].File != want || got[i].Err != nil {
			t.Errorf("image %d: %+v, want %s", i, got[i], want)
		}
	}
	f, err := os.Open(filepath.Join(dir, "wood.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if img, err := png.Decode(f); err != nil || img.Bounds().Size() != (image.Point{X: 40, Y: 24}) {
		t.Error(img.Bounds(), err)
	}
}

// TestWritePacked: the blocks are those of ModeBC in high quality, else near them, in fewer bytes,
// and cut-outs cover the same texels; what is opaque says so.
func TestWritePacked(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 64, 32))
	for i := range img.Pix {
		img.Pix[i] = byte(i / 64 * 3)
	}
	opaque := image.NewNRGBA(img.Rect)
	copy(opaque.Pix, img.Pix)
	for i := 3; i < len(opaque.Pix); i += 4 {
		opaque.Pix[i] = 255
	}
	for _, c := range []struct {
		img    *image.NRGBA
		role   Role
		format ktx2.Format
		alpha  bool
	}{
		{img, Role{Use: Color}, ktx2.BC7SRGB, false},
		{opaque, Role{Use: Color, Alpha: AlphaMasked, Cutoff: 0.5}, ktx2.BC7SRGB, false},
		{img, Role{Use: Color, Alpha: AlphaMasked, Cutoff: 0.5}, ktx2.BC7SRGB, true},
		{opaque, Role{Use: Data}, ktx2.BC7, false},
		{opaque, Role{Use: Normal}, ktx2.BC5, false},
	} {
		for _, high := range []bool{false, true} {
			checkPacked(t, c.img, c.role, c.format, c.alpha, ASTC{High: high})
		}
	}
}

func checkPacked(t *testing.T, img *image.NRGBA, role Role, format ktx2.Format, alpha bool, a ASTC) {
	t.Helper()
	var packed, plain bytes.Buffer
	got, err := WritePacked(&packed, "a", img, role, a, 1)
	if err != nil {
		t.Fatal(err)
	}
	want, err := EncodeOne(&plain, "a", img, role, ModeBC, a)
	if err != nil {
		t.Fatal(err)
	}
	if got.File != "a.ktx2" || got.Width != 64 || got.Height != 32 || got.Levels != want.Levels || got.GPU != want.GPU || packed.Len() >= plain.Len() {
		t.Errorf("%+v, %d bytes; %+v, %d bytes", got, packed.Len(), want, plain.Len())
	}
	f, err := ktx2.Parse(packed.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if f.Format != format || f.HasAlpha() != alpha || !f.Direct() || (f.Descriptor.Transfer == ktx2.TransferSRGB) != (role.Use == Color) {
		t.Errorf("%+v: %v, alpha %t, %+v", role, f.Format, f.HasAlpha(), f.Descriptor)
	}
	r, err := utex.NewReader(bytes.NewReader(plain.Bytes()), int64(plain.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for k := range f.Levels() {
		blocks, err := f.Blocks(k)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.ReadLevel(k, nil)
		if err != nil || a.High && !bytes.Equal(blocks, b) {
			t.Errorf("%+v: level %d has other blocks, %v", role, k, err)
			continue
		}
		w, h := max(64>>k, 1), max(32>>k, 1)
		pix, err := utex.Decode(r.Info.Format, blocks, w, h)
		if err != nil {
			t.Fatal(err)
		}
		same, err := utex.Decode(r.Info.Format, b, w, h)
		if err != nil {
			t.Fatal(err)
		}
		if q := psnr(pix, same); q < 36 {
			t.Errorf("%+v: level %d is at %.1f dB", role, k, q)
		}
		for i := 3; i < len(pix) && role.Alpha == AlphaMasked; i += 4 {
			if (pix[i] >= 128) != (same[i] >= 128) {
				t.Fatalf("%+v: level %d, texel %d has an alpha of %d, was %d", role, k, i/4, pix[i], same[i])
			}
		}
	}
}

// TestPackedByAnyNumber: the bytes do not depend on how many work.
func TestPackedByAnyNumber(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 8, 3*bandLines))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * i >> 4)
	}
	var one, many bytes.Buffer
	for jobs, to := range map[int]*bytes.Buffer{1: &one, 4: &many} {
		if _, err := WritePacked(to, "a", img, Role{Use: Color}, ASTC{}, jobs); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(one.Bytes(), many.Bytes()) {
		t.Error("other bytes")
	}
}
