package astc

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/fuzzbound"
)

var update = flag.Bool("update", false, "rewrite testdata/decoded.txt and testdata/encoded.txt")

// vectorsAcross and vectorsDown are the blocks of a vector; vectorSeed makes
// them.
const vectorsAcross, vectorsDown, vectorSeed = 64, 64, 7

// hashOf names bytes.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// golden compares lines with a file of testdata.
func golden(t *testing.T, file string, lines []string) {
	t.Helper()
	path := "testdata/" + file
	text := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Split(strings.TrimSuffix(string(want), "\n"), "\n")
	for i, l := range lines {
		if i >= len(old) || old[i] != l {
			t.Errorf("%s: line %d is now %q", file, i+1, l)
		}
	}
	if len(old) != len(lines) {
		t.Errorf("%s: %d lines, want %d", file, len(lines), len(old))
	}
}

// TestDecodeVectors holds what 4096 blocks a footprint decode to, as
// TestPeerDecodesBlocks compares it with astcenc.
func TestDecodeVectors(t *testing.T) {
	var lines []string
	for _, f := range Footprints {
		w, h := vectorsAcross*f.Width, vectorsDown*f.Height
		blocks := hardBlocks(vectorSeed, f, vectorsAcross*vectorsDown)
		for _, sRGB := range []bool{false, true} {
			pix, err := Decode(f, sRGB, blocks, w, h)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, fmt.Sprintf("%v srgb=%v blocks %s texels %s", f, sRGB, hashOf(blocks), hashOf(pix)))
		}
	}
	golden(t, "decoded.txt", lines)
}

// TestDecodeCrops: an image that ends inside a block is the corner of one that
// does not.
func TestDecodeCrops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(Footprints).Draw(t, "footprint")
		w, h := rapid.IntRange(1, 30).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h")
		across, down := f.blocks(w, h)
		blocks := hardBlocks(rapid.Uint64().Draw(t, "seed"), f, across*down)
		all, err := Decode(f, true, blocks, across*f.Width, down*f.Height)
		if err != nil {
			t.Fatal(err)
		}
		part, err := Decode(f, true, blocks, w, h)
		if err != nil {
			t.Fatal(err)
		}
		for y := range h {
			if string(part[4*w*y:][:4*w]) != string(all[4*across*f.Width*y:][:4*w]) {
				t.Fatalf("%v, %d x %d: row %d differs", f, w, h, y)
			}
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		f    Footprint
		n    int
		w, h int
	}{
		{Footprint{7, 7}, 16, 4, 4},
		{Footprint{4, 4}, 15, 4, 4},
		{Footprint{4, 4}, 16, 5, 4},
		{Footprint{4, 4}, 16, 0, 4},
		{Footprint{4, 4}, 16, 4, -1},
		{Footprint{12, 12}, 16, MaxEdge + 1, 1},
		{Footprint{}, 0, 1, 1},
	} {
		if _, err := Decode(c.f, false, make([]byte, c.n), c.w, c.h); err == nil {
			t.Errorf("%+v decodes", c)
		}
	}
}

// TestDecodeInvalid: blocks that are none are magenta.
func TestDecodeInvalid(t *testing.T) {
	for name, b := range map[string][BlockBytes]byte{
		"zeros":            {},
		"a colour of HDR":  {0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"reserved bits":    {0xfc, 0xf1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"an empty extent":  {0xfc, 0x0d, 0, 0, 0, 0, 0, 0, 1, 2, 3},
		"too large a grid": {0x0d, 0x01}, // 2 x 6 points in 4 x 4 texels
		"too many numbers": {0x53, 0x10, 0x00, 0x18},
	} {
		pix, err := Decode(Footprint{4, 4}, true, b[:], 1, 1)
		if err != nil || [4]byte(pix) != magenta {
			t.Errorf("%s: %v, %v", name, pix, err)
		}
	}
}

// TestSequences: every group of digits is read as it was written.
func TestSequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := level(rapid.IntRange(0, int(level256)).Draw(t, "level"))
		n := rapid.IntRange(1, 32).Draw(t, "n")
		for sequenceBits(n, l) > 96 {
			n /= 2
		}
		values := make([]uint8, n)
		for i := range values {
			values[i] = uint8(rapid.IntRange(0, levels[l].count-1).Draw(t, "value"))
		}
		at := uint(rapid.IntRange(0, 127-sequenceBits(n, l)).Draw(t, "at"))
		var b bits128
		writeSequence(&b, at, l, values)
		got := make([]uint8, n)
		readSequence(b.from(at), l, got)
		if string(got) != string(values) {
			t.Fatalf("%v became %v", values, got)
		}
		if at+uint(sequenceBits(n, l)) < 128 && b.from(at+uint(sequenceBits(n, l))) != (bits128{}) {
			t.Fatalf("more than %d bits are written", sequenceBits(n, l))
		}
	})
}

// FuzzDecode: no bytes panic, and memory follows from the size.
func FuzzDecode(f *testing.F) {
	f.Add(uint8(0), true, hardBlocks(1, Footprints[0], 16))
	f.Add(uint8(7), false, hardBlocks(2, Footprints[7], 9))
	f.Add(uint8(13), true, hardBlocks(3, Footprints[13], 3))
	f.Add(uint8(4), false, make([]byte, 16))
	f.Fuzz(func(t *testing.T, which uint8, sRGB bool, data []byte) {
		fp := Footprints[int(which)%len(Footprints)]
		n := len(data) / BlockBytes
		if n == 0 || n > 256 {
			return
		}
		fuzzbound.Run(t, len(data), fuzzbound.Limits{Alloc: 4 << 20, PerByte: 64}, func() {
			pix, err := Decode(fp, sRGB, data[:n*BlockBytes], n*fp.Width, fp.Height)
			if err != nil || len(pix) != 4*n*fp.texels() {
				t.Fatalf("%d bytes, %v", len(pix), err)
			}
		})
	})
}
