package ktx2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/testfile"
)

// pixels is a small picture of many colours, RGBA.
func pixels(w, h int) []byte {
	out := make([]byte, 0, 4*w*h)
	for i := range w * h {
		out = append(out, byte(7*i), byte(13*i+5), byte(200-i), byte(255-3*i))
	}
	return out
}

// written returns the file that Write makes.
func written(t testing.TB, c Content) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decoded(t testing.TB, data []byte, level int) *image.NRGBA {
	t.Helper()
	f, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	img, err := f.Decode(level)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestPlain: plain pixels of every order come back, under every scheme and at every
// level.
func TestPlain(t *testing.T) {
	const w, h = 5, 3
	for format, l := range layouts {
		if l.edge > 1 {
			continue
		}
		for _, scheme := range []Scheme{None, Zstandard, ZLIB} {
			c := Content{Format: format, Width: w, Height: h, Scheme: scheme, Transfer: TransferLinear, Metadata: map[string]string{KeyWriter: "x"}}
			var want [][]byte
			for level := range 3 {
				p := pixels(max(1, w>>level), max(1, h>>level))
				var data []byte
				for i := 0; i < len(p); i += 4 {
					for _, k := range []byte(l.order) {
						data = append(data, p[i+strings.IndexByte("rgba", k)])
					}
					for k, name := range []byte("rgba") {
						if !strings.ContainsRune(l.order, rune(name)) {
							p[i+k] = map[byte]byte{'a': 255}[name]
						}
					}
				}
				c.Levels, want = append(c.Levels, data), append(want, p)
			}
			data := written(t, c)
			f, err := Parse(data)
			if err != nil {
				t.Fatalf("%v, scheme %d: %v", format, scheme, err)
			}
			if f.Levels() != 3 || f.Metadata[KeyWriter] != "x" || f.Descriptor.Transfer != TransferLinear || len(f.Descriptor.Channels) != len(l.order) {
				t.Errorf("%v: %+v", format, f)
			}
			for level := range want {
				if img := decoded(t, data, level); !bytes.Equal(img.Pix, want[level]) {
					t.Errorf("%v, scheme %d, level %d: %v, want %v", format, scheme, level, img.Pix, want[level])
				}
			}
		}
	}
}

// TestMeaning: swizzles, orientations and channels that are no colours.
func TestMeaning(t *testing.T) {
	p := []byte{10, 20, 30, 40, 50, 60, 70, 80, 1, 2, 3, 4, 5, 6, 7, 8} // 2 x 2
	for name, tt := range map[string]struct {
		metadata map[string]string
		want     []byte
	}{
		"plain":                  {nil, p},
		"said to be plain":       {map[string]string{KeySwizzle: "rgba", KeyOrientation: "rd"}, p},
		"swizzled":               {map[string]string{KeySwizzle: "ab01"}, []byte{40, 30, 0, 255, 80, 70, 0, 255, 4, 3, 0, 255, 8, 7, 0, 255}},
		"from below":             {map[string]string{KeyOrientation: "ru"}, []byte{1, 2, 3, 4, 5, 6, 7, 8, 10, 20, 30, 40, 50, 60, 70, 80}},
		"from the right":         {map[string]string{KeyOrientation: "ld"}, []byte{50, 60, 70, 80, 10, 20, 30, 40, 5, 6, 7, 8, 1, 2, 3, 4}},
		"from the corner across": {map[string]string{KeyOrientation: "lu"}, []byte{5, 6, 7, 8, 1, 2, 3, 4, 50, 60, 70, 80, 10, 20, 30, 40}},
	} {
		data := written(t, Content{Format: RGBA8, Width: 2, Height: 2, Metadata: tt.metadata, Levels: [][]byte{p}})
		if img := decoded(t, data, 0); !bytes.Equal(img.Pix, tt.want) {
			t.Errorf("%s: %v", name, img.Pix)
		}
	}
	for _, m := range []map[string]string{{KeySwizzle: "rgb"}, {KeySwizzle: "rgbx"}, {KeyOrientation: "down"}, {KeyOrientation: "xd"}} {
		f, err := Parse(written(t, Content{Format: RGBA8, Width: 2, Height: 2, Metadata: m, Levels: [][]byte{p}}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Decode(0); !errors.Is(err, ErrDamaged) {
			t.Errorf("%v: %v", m, err)
		}
	}
}

// TestTwoChannels: with two independent channels, what Basis Universal keeps in alpha
// is green.
func TestTwoChannels(t *testing.T) {
	for name, channels := range map[string][]Channel{
		"uastc-two-channels.ktx2": {UASTCRRRG}, "etc1s-two-channels.ktx2": {ETC1SRRR, ETC1SGGG},
	} {
		data := slices.Clone(testfile.Read(t, "testdata/"+name))
		plain, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if plain.TwoChannels() {
			t.Errorf("%s, whose channels are called RGBA, has two", name)
		}
		raw, err := plain.Raw(0)
		if err != nil {
			t.Fatal(err)
		}
		at := int(binary.LittleEndian.Uint32(data[48:])) + 4 + basicSize + 3
		for i, c := range channels {
			data[at+sampleSize*i] = data[at+sampleSize*i]&^channelMask | byte(c)
		}
		f, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if !f.TwoChannels() {
			t.Fatalf("%s: %v", name, f.Descriptor)
		}
		img := decoded(t, data, 0)
		for i := 0; i < len(img.Pix); i += 4 {
			if r := raw.Pix[i:]; !bytes.Equal(img.Pix[i:i+4], []byte{r[0], r[3], 0, 255}) {
				t.Fatalf("%s: pixel %d is %v of %v", name, i/4, img.Pix[i:i+4], r[:4])
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	sound := testfile.Read(t, "testdata/uastc-normals.ktx2")
	basis := testfile.Read(t, "testdata/etc1s-alpha.ktx2")
	packed := testfile.Read(t, "testdata/uastc-odd.ktx2")
	le := binary.LittleEndian
	global := int(le.Uint64(basis[64:]))
	descriptor := int(le.Uint32(sound[48:]))
	for name, tt := range map[string]struct {
		data []byte
		at   int
		v    uint32
		want error
	}{
		"another file":                      {sound, 0, 1, ErrDamaged},
		"no width":                          {sound, 20, 0, ErrDamaged},
		"a line":                            {sound, 24, 0, ErrUnsupported},
		"a volume":                          {sound, 28, 4, ErrUnsupported},
		"an array":                          {sound, 32, 3, ErrUnsupported},
		"a cube":                            {sound, 36, 6, ErrUnsupported},
		"no faces":                          {sound, 36, 0, ErrDamaged},
		"a wide one":                        {sound, 20, MaxEdge + 1, ErrUnsupported},
		"too many levels":                   {sound, 40, 6, ErrDamaged},
		"another scheme":                    {sound, 44, 7, ErrUnsupported},
		"BasisLZ without data":              {sound, 44, 1, ErrDamaged},
		"ASTC":                              {sound, 12, 157, ErrUnsupported},
		"BC6H":                              {sound, 12, 143, ErrUnsupported},
		"another model":                     {sound, descriptor + 12, 3, ErrUnsupported},
		"a descriptor beyond the end":       {sound, 48, 1 << 30, ErrDamaged},
		"an endless descriptor":             {sound, 52, 1 << 30, ErrDamaged},
		"an extended descriptor":            {sound, descriptor + 4, 1 << 17, ErrDamaged},
		"a descriptor's block beyond":       {sound, descriptor + 8, 900<<16 | 2, ErrDamaged},
		"metadata beyond the end":           {sound, 60, 1 << 30, ErrDamaged},
		"metadata cut":                      {sound, int(le.Uint32(sound[56:])), 1 << 20, ErrDamaged},
		"a level beyond the end":            {sound, 80, 1 << 30, ErrDamaged},
		"a level far beyond":                {sound, 84, 1 << 31, ErrDamaged},
		"a short level":                     {sound, 88, 16, ErrDamaged},
		"a level of another size":           {sound, 96, 16, ErrDamaged},
		"another size of the picture":       {sound, 20, 400, ErrDamaged},
		"zstd that is none":                 {packed, int(le.Uint64(packed[80:])), 0, ErrDamaged},
		"zlib that is none":                 {packed, 44, 3, ErrDamaged},
		"global data beyond the end":        {basis, 64, 1 << 30, ErrDamaged},
		"no global data":                    {basis, 72, 0, ErrDamaged},
		"no endpoints":                      {basis, global, 0, ErrDamaged},
		"endpoints beyond the end":          {basis, global + 4, 1 << 30, ErrDamaged},
		"an animation":                      {basis, global + 20, 2, ErrUnsupported},
		"a slice beyond its level":          {basis, global + 24, 1 << 20, ErrDamaged},
		"no colour":                         {basis, global + 28, 0, ErrDamaged},
		"no alpha":                          {basis, global + 36, 0, ErrDamaged},
		"a large picture of a few bytes":    {basis, 20, 1 << 16, ErrDamaged},
		"ETC1S that is not supercompressed": {basis, 44, 0, ErrUnsupported},
	} {
		data := slices.Clone(tt.data)
		le.PutUint32(data[tt.at:], tt.v)
		if name == "a large picture of a few bytes" {
			le.PutUint32(data[24:], 1<<16)
		}
		f, err := Parse(data)
		if err == nil {
			_, err = f.Decode(0)
		}
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, data := range [][]byte{sound, basis, packed} {
		for n := range data {
			f, err := Parse(data[:n])
			for level := 0; err == nil && level < f.Levels(); level++ {
				_, err = f.Decode(level)
			}
			if err == nil {
				t.Fatalf("%d of %d bytes decode", n, len(data))
			}
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, c := range map[string]Content{
		"an unknown format":       {Format: 157, Width: 4, Height: 4, Levels: [][]byte{make([]byte, 16)}},
		"no pixels":               {Format: R8, Height: 4, Levels: [][]byte{{}}},
		"no levels":               {Format: R8, Width: 1, Height: 1},
		"BasisLZ":                 {Width: 4, Height: 4, Scheme: BasisLZ, Levels: [][]byte{make([]byte, 16)}},
		"a level of a wrong size": {Width: 5, Height: 4, Levels: [][]byte{make([]byte, 16)}},
	} {
		if err := Write(&bytes.Buffer{}, c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzDecode: any bytes give pictures of the size that the header says, or errors
// that match one of two, and take memory by their pixels and bytes.
func FuzzDecode(f *testing.F) {
	for _, p := range vectors(f) {
		f.Add(testfile.Read(f, p))
	}
	for _, format := range []Format{BC1, BC7, RG8} {
		l := layouts[format]
		n := int(l.size(4, 4))
		f.Add(written(f, Content{Format: format, Width: 4, Height: 4, Scheme: ZLIB, Levels: [][]byte{make([]byte, n)}, Metadata: map[string]string{KeySwizzle: "rg01", KeyOrientation: "lu"}}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err == nil && int64(file.Width)*int64(file.Height) > 1<<20 {
			return // what large ones take is known before they are decoded
		}
		fuzzbound.Run(t, len(data), fuzzbound.Limits{Alloc: 64 << 20, PerByte: 200}, func() {
			if file, err = Parse(data); err != nil {
				checkTyped(t, err)
				return
			}
			for _, level := range []int{0, file.Levels() - 1} {
				img, err := file.Decode(level)
				if err != nil {
					checkTyped(t, err)
					return
				}
				if w, h := file.Size(level); img.Rect != image.Rect(0, 0, w, h) {
					t.Errorf("%v, said %d x %d", img.Rect, w, h)
				}
			}
		})
	})
}

func checkTyped(t *testing.T, err error) {
	if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrUnsupported) {
		t.Errorf("untyped error: %v", err)
	}
}

// TestQuick: what is packed quickly is what is packed thoroughly, in a few bytes more.
func TestQuick(t *testing.T) {
	const side = 64
	c := Content{Format: RGBA8, Width: side, Height: side, Scheme: Zstandard, Levels: [][]byte{pixels(side, side)}}
	thorough := written(t, c)
	c.Quick = true
	quick := written(t, c)
	if want, got := decoded(t, thorough, 0), decoded(t, quick, 0); !bytes.Equal(got.Pix, want.Pix) || 2*len(quick) > 3*len(thorough) {
		t.Errorf("%d bytes, thoroughly %d", len(quick), len(thorough))
	}
}
