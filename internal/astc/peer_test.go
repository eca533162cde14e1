package astc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// peer finds astcenc, which is an option (Debian's package astcenc).
func peer(t testing.TB) string {
	path, err := exec.LookPath("astcenc")
	if err != nil {
		t.Skip("astcenc is not installed")
	}
	return path
}

// astcFile wraps blocks as astcenc reads them.
func astcFile(f Footprint, w, h int, blocks []byte) []byte {
	b := []byte{0x13, 0xab, 0xa1, 0x5c, byte(f.Width), byte(f.Height), 1}
	for _, n := range [...]int{w, h, 1} {
		b = append(b, byte(n), byte(n>>8), byte(n>>16))
	}
	return append(b, blocks...)
}

// peerDecode lets astcenc decode blocks.
func peerDecode(t testing.TB, f Footprint, sRGB bool, w, h int, blocks []byte) []byte {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.astc"), filepath.Join(dir, "a.png")
	if err := os.WriteFile(in, astcFile(f, w, h, blocks), 0o644); err != nil {
		t.Fatal(err)
	}
	how := "-dl"
	if sRGB {
		how = "-ds"
	}
	if b, err := exec.Command(peer(t), how, in, out, "-silent").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return readPNG(t, out)
}

func readPNG(t testing.TB, path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out := image.NewNRGBA(img.Bounds())
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	if n, ok := img.(*image.NRGBA); ok {
		copy(out.Pix, n.Pix)
	}
	return out.Pix
}

// peerEncode lets astcenc encode an image.
func peerEncode(t testing.TB, f Footprint, sRGB bool, img *image.NRGBA, args ...string) []byte {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.png"), filepath.Join(dir, "a.astc")
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	how := "-cl"
	if sRGB {
		how = "-cs"
	}
	if b, err := exec.Command(peer(t), append([]string{how, in, out, f.String()}, append(args, "-silent")...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data[16:]
}

// sameTexels compares what was decoded, block by block.
func sameTexels(t testing.TB, f Footprint, w, h int, blocks, got, want []byte) {
	t.Helper()
	across, _ := f.blocks(w, h)
	bad := 0
	for i := 0; i < len(got); i += 4 {
		if bytes.Equal(got[i:i+4], want[i:i+4]) {
			continue
		}
		x, y := i/4%w, i/4/w
		k := y/f.Height*across + x/f.Width
		b := blocks[16*k:][:16]
		t.Errorf("%v at %d,%d, block %x (mode %03x, weights %08b...): %v, astcenc %v", f, x, y, b, binary.LittleEndian.Uint16(b)&0x7ff, b[15], got[i:i+4], want[i:i+4])
		if bad++; bad > 5 {
			t.FailNow()
		}
	}
}

// hardBlocks returns random blocks of which most are valid, of all modes,
// numbers of partitions and endpoint modes.
func hardBlocks(seed uint64, f Footprint, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	l := layoutOf(f.index())
	var valid []int
	for m := range l.modes {
		if l.modes[m] != nil {
			valid = append(valid, m)
		}
	}
	out := make([]byte, 0, 16*n)
	for i := range n {
		b := bits128{r.Uint64(), r.Uint64()}
		switch i % 8 {
		case 0: // anything
		case 1: // one colour
			b.lo = b.lo&^0x1ff | 0x1fc
			switch r.IntN(4) {
			case 0:
				b.lo |= 0xc00
			case 1:
				b.lo = 0xfffffffffffffdfc
			case 2: // extents that may be in order
				b.lo = b.lo&^0x200 | 0xc00
			}
		case 2, 3, 4: // one partition
			b.lo = b.lo&^0x1fff | uint64(valid[r.IntN(len(valid))])
		default: // several
			b.lo = b.lo&^0x7ff | uint64(valid[r.IntN(len(valid))])
			if i%2 == 1 { // of equal modes, so that they fit
				b.lo &^= 3 << 23
			}
		}
		out = binary.LittleEndian.AppendUint64(out, b.lo)
		out = binary.LittleEndian.AppendUint64(out, b.hi)
	}
	return out
}

// TestPeerDecodesBlocks: random blocks, those of TestDecodeVectors, decode as in
// astcenc.
func TestPeerDecodesBlocks(t *testing.T) {
	peer(t)
	for _, f := range Footprints {
		for _, sRGB := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v srgb=%v", f, sRGB), func(t *testing.T) {
				w, h := vectorsAcross*f.Width, vectorsDown*f.Height
				blocks := hardBlocks(vectorSeed, f, vectorsAcross*vectorsDown)
				got, err := Decode(f, sRGB, blocks, w, h)
				if err != nil {
					t.Fatal(err)
				}
				sameTexels(t, f, w, h, blocks, got, peerDecode(t, f, sRGB, w, h, blocks))
			})
		}
	}
}

// TestPeerDecodesImages: what astcenc makes of images decodes as in astcenc, at
// all footprints and presets.
func TestPeerDecodesImages(t *testing.T) {
	peer(t)
	presets := []string{"-fastest", "-fast", "-medium", "-thorough"}
	for k, f := range Footprints {
		for kind := range 7 {
			const w, h = 67, 45
			img := &image.NRGBA{Pix: grain(w, h), Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}
			if kind < 6 {
				img.Pix = pictureOf(kind, w, h, 9)
			}
			sRGB := kind&1 == 0
			blocks := peerEncode(t, f, sRGB, img, presets[(k+kind)%len(presets)])
			got, err := Decode(f, sRGB, blocks, w, h)
			if err != nil {
				t.Fatal(err)
			}
			sameTexels(t, f, w, h, blocks, got, peerDecode(t, f, sRGB, w, h, blocks))
		}
	}
}

// TestPeerReadsOurs: what the encoder makes decodes in astcenc as here.
func TestPeerReadsOurs(t *testing.T) {
	peer(t)
	for _, f := range Footprints {
		if !f.Encodes() {
			continue
		}
		for kind := range 7 {
			const w, h = 67, 45
			pix := grain(w, h)
			if kind < 6 {
				pix = pictureOf(kind, w, h, 9)
			}
			o := Options{SRGB: kind&1 == 0, Quality: Quality(kind & 1)}
			blocks := make([]byte, f.Size(w, h))
			if _, err := Encode(blocks, f, o, pix, 4*w, w, h); err != nil {
				t.Fatal(err)
			}
			got, err := Decode(f, o.SRGB, blocks, w, h)
			if err != nil {
				t.Fatal(err)
			}
			sameTexels(t, f, w, h, blocks, got, peerDecode(t, f, o.SRGB, w, h, blocks))
		}
	}
}
