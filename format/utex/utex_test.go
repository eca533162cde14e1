package utex

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/testfile"
)

// sample is a complete file whose levels hold their number.
func sample(t testing.TB, w, h int, f PixelFormat, flags Flags) []byte {
	t.Helper()
	var b bytes.Buffer
	out, err := NewWriter(&b, w, h, f, flags)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range out.Info().Levels {
		if err := out.WriteLevel(bytes.Repeat([]byte{byte(i + 1)}, int(l.Size))); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if int64(b.Len()) != out.Size() {
		t.Fatalf("%d bytes, told %d", b.Len(), out.Size())
	}
	return b.Bytes()
}

// TestGolden spells out a small file byte by byte.
func TestGolden(t *testing.T) {
	got := sample(t, 8, 4, BC7SRGB, HasAlpha)
	var want []byte
	want = append(want, "UTEX\x00\x00\x00\x00"...)
	for _, v := range []uint32{
		1, 1, 8, 4, 4, 153, 0x0404, 128, 80, 0, 0, 0, 0, 0,
		48, 32, 8, 4,
		32, 16, 4, 2,
		16, 16, 2, 1,
		0, 16, 1, 1,
	} {
		want = binary.LittleEndian.AppendUint32(want, v)
	}
	for i, n := range []int{16, 16, 16, 32} {
		want = append(want, bytes.Repeat([]byte{byte(4 - i)}, n)...)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n% x\nwant\n% x", got, want)
	}
}

// largestFirst returns the file of sample as other programs lay it out.
func largestFirst(t testing.TB, w, h int, f PixelFormat, flags Flags) []byte {
	info := NewInfo(w, h, f, flags)
	at := info.Prefix(len(info.Levels))
	for i := range info.Levels {
		l := &info.Levels[i]
		l.Offset = at
		at = align(at + l.Size)
	}
	b := info.appendHeader(nil)
	for i, l := range info.Levels {
		b = append(b, make([]byte, l.Offset-int64(len(b)))...)
		b = append(b, bytes.Repeat([]byte{byte(i + 1)}, int(l.Size))...)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, h := rapid.IntRange(1, 70).Draw(rt, "w"), rapid.IntRange(1, 70).Draw(rt, "h")
		f := rapid.SampledFrom([]PixelFormat{BC5, BC7, BC7SRGB, ASTC4x4, ASTC6x6SRGB, 218, 192, R16Unorm, RGBA16Float}).Draw(rt, "format")
		smallFirst := rapid.Bool().Draw(rt, "smallest first")
		file := sample(t, w, h, f, 0)
		if !smallFirst {
			file = largestFirst(t, w, h, f, 0)
		}
		if found, err := Validate(bytes.NewReader(file), int64(len(file))); err != nil || slices.ContainsFunc(found, func(x finding.Finding) bool { return x.Code != CodeEngine }) {
			rt.Fatalf("%v, %v", found, err)
		}
		src := &counting{src: bytes.NewReader(file)}
		r, err := NewReader(src, int64(len(file)))
		if err != nil {
			rt.Fatal(err)
		}
		if r.Width != w || r.Height != h || r.Format != f || len(r.Levels) != FullChain(w, h) {
			rt.Fatalf("%+v", r.Info)
		}
		first := rapid.IntRange(0, len(r.Levels)-1).Draw(rt, "first")
		src.reads, src.end = 0, 0
		levels, err := r.ReadLevels(first)
		if err != nil || src.reads != 1 {
			rt.Fatalf("%d reads, %v", src.reads, err)
		}
		prefix := r.Prefix(first)
		if src.end != prefix {
			rt.Fatalf("read up to byte %d, the prefix has %d", src.end, prefix)
		}
		if most := HeaderSize + (EntrySize+Alignment-1)*int64(len(r.Levels)) + r.Bytes(first); smallFirst && prefix > most {
			rt.Fatalf("a prefix of %d bytes, at most %d are needed", prefix, most)
		}
		n := int64(0)
		for i, data := range levels {
			one, err := r.ReadLevel(first+i, nil)
			if err != nil || !bytes.Equal(one, data) || data[0] != byte(first+i+1) || data[len(data)-1] != data[0] {
				rt.Fatalf("level %d: %v", first+i, err)
			}
			if l := r.Levels[first+i]; l.Offset%Alignment != 0 || l.Width != max(1, w>>(first+i)) || l.Height != max(1, h>>(first+i)) {
				rt.Fatalf("level %d: %+v", first+i, l)
			}
			n += int64(len(data))
		}
		if r.Bytes(first) != n {
			rt.Fatalf("%d bytes, told %d", n, r.Bytes(first))
		}
	})
}

// counting counts reads, and how far they go.
type counting struct {
	src   io.ReaderAt
	reads int
	end   int64
}

func (c *counting) ReadAt(b []byte, off int64) (int, error) {
	c.reads++
	c.end = max(c.end, off+int64(len(b)))
	return c.src.ReadAt(b, off)
}

func TestStartLevel(t *testing.T) {
	info := NewInfo(1024, 300, BC7, 0)
	for maxSize, want := range map[int]int{0: 0, -1: 0, 5000: 0, 1024: 0, 1023: 1, 512: 1, 256: 2, 3: 9, 1: 10} {
		if got := info.StartLevel(maxSize); got != want {
			t.Errorf("at most %d: level %d, want %d", maxSize, got, want)
		}
	}
	if info.Bytes(99) != 0 || (&Info{}).StartLevel(4) != 0 {
		t.Error("levels that are not there")
	}
}

// patched returns a file with a word replaced.
func patched(t testing.TB, at int, v uint32) []byte {
	b := sample(t, 8, 4, BC7, 0)
	binary.LittleEndian.PutUint32(b[at:], v)
	return b
}

func TestFindings(t *testing.T) {
	good := sample(t, 8, 4, BC7, 0)
	astc := sample(t, 8, 4, ASTC4x4, 0)
	long := append(bytes.Clone(good), 0)
	short := sample(t, 8, 4, BC7, 0)
	binary.LittleEndian.PutUint32(short[24:], 3)
	level := func(i, field int, v uint32) []byte { return patched(t, HeaderSize+EntrySize*i+4*field, v) }
	for _, c := range []struct {
		name string
		data []byte
		want []finding.Code
	}{
		{"sound", good, []finding.Code{CodeEngine}},
		{"for the engine", astc, nil},
		{"empty", nil, []finding.Code{CodeTruncated}},
		{"half a header", good[:40], []finding.Code{CodeTruncated}},
		{"half a table", good[:100], []finding.Code{CodeEngine, CodeTruncated}},
		{"cut off", good[:len(good)-1], []finding.Code{CodeEngine, CodeLayout}},
		{"a tail", long, []finding.Code{CodeEngine, CodeTrailing}},
		{"a PNG", append([]byte("\x89PNG\r\n\x1a\n"), good[8:]...), []finding.Code{CodeMagic}},
		{"version 2", patched(t, 8, 2), []finding.Code{CodeVersion}},
		{"no levels", patched(t, 24, 0), []finding.Code{CodeLevelCount, CodeEngine}},
		{"too many levels", patched(t, 24, 1<<30), []finding.Code{CodeEngine, CodeLevelCount}},
		{"no block", patched(t, 32, 0), []finding.Code{CodeBlock}},
		{"wrong block", patched(t, 32, 0x0606), []finding.Code{CodeBlock}},
		{"uncompressed with blocks", patched(t, 28, uint32(R16Unorm)), []finding.Code{CodeBlock}},
		{"RGBA8", patched(t, 28, 70), []finding.Code{CodePixelFormat}},
		{"a gap in ASTC", patched(t, 28, 191), []finding.Code{CodePixelFormat}},
		{"no width", patched(t, 16, 0), []finding.Code{CodeEngine, CodeSize}},
		{"huge", patched(t, 20, 1<<31), []finding.Code{CodeEngine, CodeSize}},
		{"unknown flags", patched(t, 12, 8), []finding.Code{CodeEngine, CodeFlags}},
		{"reserved", patched(t, 60, 1), []finding.Code{CodeEngine, CodeReserved}},
		{"payload in the table", patched(t, 36, 64), []finding.Code{CodeEngine, CodeLayout}},
		{"payload beyond", patched(t, 40, 1<<32-1), []finding.Code{CodeEngine, CodeLayout}},
		{"level beyond", level(3, 0, 1<<32-1), []finding.Code{CodeEngine, CodeLevelBounds}},
		{"level too large", level(1, 1, 32), []finding.Code{CodeEngine, CodeLevelSize, CodeOverlap}},
		{"level too wide", level(1, 2, 5), []finding.Code{CodeEngine, CodeLevelSize}},
		{"level twice", level(3, 0, 48), []finding.Code{CodeEngine, CodeOverlap}},
		{"level unaligned", level(3, 0, 56), []finding.Code{CodeEngine, CodeAlignment, CodeOverlap}},
		{"short chain", short, []finding.Code{CodeEngine, CodeChain}},
	} {
		found, err := Validate(bytes.NewReader(c.data), int64(len(c.data)))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []finding.Code
		var worst *finding.Finding
		for i, f := range found {
			got = append(got, f.Code)
			if f.Hint == "" || f.Message == "" {
				t.Errorf("%s: %+v lacks words", c.name, f)
			}
			if f.Severity == finding.Error && worst == nil {
				worst = &found[i]
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		_, err = NewBytesReader(c.data)
		var e *format.Error
		switch {
		case worst == nil && err != nil:
			t.Errorf("%s: the reader refuses it: %v", c.name, err)
		case worst != nil && (!errors.As(err, &e) || !errors.Is(err, worst.Code)):
			t.Errorf("%s: the reader says %v, the validator %v", c.name, err, worst.Code)
		}
	}
}

// TestTruncations opens every prefix of a file.
func TestTruncations(t *testing.T) {
	good := sample(t, 16, 16, BC5, 0)
	for n := range good {
		if _, err := NewBytesReader(good[:n]); err == nil {
			t.Fatalf("%d of %d bytes are accepted", n, len(good))
		}
		// A source that is shorter than it says.
		if r, err := NewReader(bytes.NewReader(good[:n]), int64(len(good))); err == nil {
			if _, err := r.ReadLevels(0); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%d of %d bytes: %v", n, len(good), err)
			}
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	for _, c := range []struct {
		w, h  int
		f     PixelFormat
		flags Flags
	}{{0, 4, BC7, 0}, {4, -1, BC7, 0}, {1 << 17, 4, BC7, 0}, {4, 4, 70, 0}, {4, 4, BC7, 8}, {1 << 16, 1 << 16, BC7, 0}} {
		if _, err := NewWriter(io.Discard, c.w, c.h, c.f, c.flags); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	w, err := NewWriter(io.Discard, 4, 4, BC7, 0)
	if err != nil {
		t.Fatal(err)
	}
	if w.WriteLevel(make([]byte, 15)) == nil || w.Close() == nil {
		t.Error("a wrong or missing level is accepted")
	}
	w, _ = NewWriter(io.Discard, 1, 1, BC7, 0)
	if err := w.WriteLevel(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	if w.WriteLevel(make([]byte, 16)) == nil {
		t.Error("a level too many is accepted")
	}
	full := errors.New("disk full")
	if _, err := NewWriter(failing{full}, 4, 4, BC7, 0); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestFile(t *testing.T) {
	path := testfile.Write(t, filepath.Join(t.TempDir(), "a.utex"), sample(t, 4, 4, BC7, 0))
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.ReadLevel(len(r.Levels), nil); err == nil {
		t.Error("a level too many")
	}
	if _, err := r.ReadLevels(-1); err == nil {
		t.Error("a negative level")
	}
	buf := make([]byte, 0, 64)
	if b, err := r.ReadLevel(0, buf); err != nil || &b[0] != &buf[:1][0] {
		t.Errorf("%v; the buffer is not used", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if found, err := ValidateFile(path); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
	for _, bad := range []string{filepath.Dir(path), path + ".no"} {
		if _, err := Open(bad); err == nil {
			t.Errorf("%s opens", bad)
		}
		if _, err := ValidateFile(bad); err == nil {
			t.Errorf("%s is judged", bad)
		}
	}
}

func TestPixelFormats(t *testing.T) {
	for f, want := range map[PixelFormat]string{
		BC5: "BC5", BC7: "BC7", BC7SRGB: "BC7-sRGB", 186: "ASTC-4x4-sRGB", 190: "ASTC-6x6-sRGB", 204: "ASTC-4x4", 208: "ASTC-6x6",
		200: "ASTC-12x12-sRGB", 218: "ASTC-12x12", R16Unorm: "R16Unorm", RGBA16Float: "RGBA16Float", 70: "PixelFormat(70)",
	} {
		if f.String() != want {
			t.Errorf("%d is %v, want %s", uint32(f), f, want)
		}
	}
	for f, engine := range map[PixelFormat]bool{BC7: false, ASTC4x4: true, 70: false, R16Unorm: true} {
		if f.EngineReads() != engine {
			t.Errorf("%v: %v", f, f.EngineReads())
		}
	}
	for f := range PixelFormat(256) {
		b, _ := f.Block()
		if got, ok := ASTCFormat(b.Width, b.Height, f.SRGB()); f.ASTC() && (!ok || got != f) {
			t.Errorf("%v became %v", f, got)
		}
	}
	if _, ok := ASTCFormat(7, 7, false); ok || BC7.ASTC() || R16Unorm.ASTC() {
		t.Error("formats of ASTC")
	}
	if !BC7SRGB.SRGB() || BC7.SRGB() || !ASTC6x6SRGB.SRGB() || ASTC6x6.SRGB() || BC5.SRGB() {
		t.Error("sRGB formats")
	}
}

func TestDecode(t *testing.T) {
	// Mode 6 with endpoints of 127 and P-bits set: all channels 255.
	white := []byte{0xc0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0, 0, 0, 0, 0, 0, 0}
	b, err := Decode(BC7SRGB, white, 3, 2)
	if err != nil || !bytes.Equal(b, bytes.Repeat([]byte{255}, 24)) {
		t.Errorf("%v, %v", b, err)
	}
	// One colour of 16 bits: of sRGB the high bytes count, else they are rounded.
	flat := []byte{0xfc, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x40, 0, 0x80, 0xff, 0xff, 0xff, 0xbf}
	for f, want := range map[PixelFormat][]byte{ASTC6x6SRGB: {64, 128, 255, 191}, ASTC6x6: {65, 128, 255, 191}} {
		if b, err = Decode(f, flat, 1, 1); err != nil || !bytes.Equal(b, want) {
			t.Errorf("%v: %v, %v", f, b, err)
		}
	}
	if UnpackNormals(b); b[1] != 191 || b[3] != 255 {
		t.Errorf("unpacked %v", b)
	}
	// X = 1, Y = 0: no Z is left. 128 is as near to 0 as a byte gets.
	flat = []byte{255, 254, 0, 0, 0, 0, 0, 0, 128, 127, 0, 0, 0, 0, 0, 0}
	if b, err = Decode(BC5, flat, 1, 1); err != nil || !bytes.Equal(b, []byte{255, 128, 128, 255}) {
		t.Errorf("%v, %v", b, err)
	}
	// BC5 has no alpha: its Y stays where it is, whatever the flag says.
	info := NewInfo(1, 1, BC5, NormalPacked)
	if b, err = info.Decode(0, flat); err != nil || !bytes.Equal(b, []byte{255, 128, 128, 255}) || info.PacksNormals() {
		t.Errorf("%v, %v", b, err)
	}
	for _, c := range []struct {
		f    PixelFormat
		n    int
		w, h int
	}{{BC7, 15, 4, 4}, {BC5, 16, 5, 4}, {R16Unorm, 32, 4, 4}, {ASTC6x6, 16, 7, 4}, {BC7, 16, 0, 4}, {BC7, 16, 1 << 20, 1 << 20}} {
		if _, err := Decode(c.f, make([]byte, c.n), c.w, c.h); err == nil {
			t.Errorf("%+v decodes", c)
		}
	}
}

// FuzzReader: no bytes panic or make the reader allocate what the file cannot
// back; reader and validator agree; what is sound can be read.
func FuzzReader(f *testing.F) {
	good := sample(f, 8, 4, BC7, 0)
	f.Add(good)
	f.Add(good[:100])
	f.Add(sample(f, 5, 3, ASTC6x6SRGB, 0))
	f.Add(sample(f, 3, 1, R16Unorm, 0))
	f.Add(sample(f, 13, 9, 200, NormalPacked))
	f.Add(largestFirst(f, 13, 9, 200, NormalPacked))
	f.Add(patched(f, 24, 3))
	f.Add(patched(f, 64+12, 1<<31))
	f.Fuzz(func(t *testing.T, data []byte) {
		found, err := Validate(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		bad := false
		for _, x := range found {
			bad = bad || x.Severity == finding.Error
		}
		r, err := NewBytesReader(data)
		if bad != (err != nil) {
			t.Fatalf("reader: %v, validator: %v", err, found)
		}
		if err != nil {
			return
		}
		for first := range r.Levels {
			levels, err := r.ReadLevels(first)
			if err != nil {
				t.Fatal(err)
			}
			for i, b := range levels {
				l := r.Levels[first+i]
				if int64(len(b)) != l.Size {
					t.Fatalf("level %d has %d bytes", first+i, len(b))
				}
				if r.Format == BC7 || r.Format == BC5 || r.Format.ASTC() {
					if out, err := Decode(r.Format, b, l.Width, l.Height); err != nil || len(out) != 4*l.Width*l.Height {
						t.Fatalf("level %d: %v", first+i, err)
					}
				}
			}
		}
	})
}
