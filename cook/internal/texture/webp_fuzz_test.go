package texture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"testing"

	"golang.org/x/image/webp"

	"github.com/untoldkit/untold/internal/fuzzbound"
)

// webpLossy is a picture of the lossy format with one key frame, whose two
// partitions are zeros: flat blocks in the default prediction.
func webpLossy(width, height uint16, partition int) []byte {
	var b []byte
	tag := uint32(partition)<<5 | 1<<4 // a key frame that is shown
	b = append(b, byte(tag), byte(tag>>8), byte(tag>>16), 0x9d, 0x01, 0x2a)
	b = binary.LittleEndian.AppendUint16(b, width)
	b = binary.LittleEndian.AppendUint16(b, height)
	b = append(b, make([]byte, 2*partition)...)
	out := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(12+len(b)))...)
	out = append(out, "WEBPVP8 "...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(b)))
	return append(out, b...)
}

// webpExtended wraps chunks into the form with a header of its own, which
// alpha and metadata need.
func webpExtended(flags byte, width, height int, chunks ...[]byte) []byte {
	w, h := uint32(width-1), uint32(height-1)
	head := []byte{flags, 0, 0, 0, byte(w), byte(w >> 8), byte(w >> 16), byte(h), byte(h >> 8), byte(h >> 16)}
	b := append([]byte("WEBPVP8X"), binary.LittleEndian.AppendUint32(nil, uint32(len(head)))...)
	b = append(b, head...)
	for _, c := range chunks {
		b = append(b, c...)
	}
	return append(append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(b)))...), b...)
}

// webpAlpha is a chunk of plain alpha values.
func webpAlpha(values ...byte) []byte {
	b := append([]byte("ALPH"), binary.LittleEndian.AppendUint32(nil, uint32(1+len(values)))...)
	b = append(append(b, 0), values...)
	if len(b)%2 != 0 {
		b = append(b, 0)
	}
	return b
}

func TestWebPSeedsDecode(t *testing.T) {
	for name, data := range webpSeeds() {
		if _, err := webp.Decode(bytes.NewReader(data)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// webpSeeds are sound pictures of every form.
func webpSeeds() map[string][]byte {
	lossy := webpLossy(3, 2, 64)
	return map[string][]byte{
		"lossy":          lossy,
		"lossy, large":   webpLossy(100, 40, 200),
		"lossless":       webpLossless(4, 4, 0x88, 0x88, 0x08, 0, 0, 0, 0, 0, 0, 0, 0, 0),
		"extended":       webpExtended(0, 3, 2, lossy[12:]),
		"extended alpha": webpExtended(1<<4, 3, 2, webpAlpha(0, 50, 100, 150, 200, 250), lossy[12:]),
	}
}

// FuzzWebP: the bytes of a WebP picture never panic, cost what they declare at
// the most, and what is accepted becomes a picture that cooks, of its size.
func FuzzWebP(f *testing.F) {
	for _, data := range webpSeeds() {
		f.Add(data)
	}
	f.Add(webpExtended(1<<1, 1, 1))
	f.Add(webpLossless(1<<14, 1<<14, 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !bytes.HasPrefix(data, []byte("RIFF")) {
			data = append([]byte("RIFF\x00\x00\x00\x00WEBP"), data...)
		}
		const pixels = 1 << 20
		if cfg, err := webp.DecodeConfig(bytes.NewReader(data)); err == nil && cfg.Width*cfg.Height > pixels {
			return // what large ones may cost is bounded elsewhere
		}
		fuzzbound.Run(t, len(data), fuzzbound.Limits{Alloc: 64 * pixels, PerByte: 100}, func() {
			c, err := convert(data, takeAll, Limits{})
			if err != nil {
				if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrFormat) {
					t.Fatalf("untyped error: %v", err)
				}
				return
			}
			img, err := decodeStaged(c.data)
			if err != nil {
				t.Fatalf("what was converted does not decode: %v", err)
			}
			if img.Bounds().Size() != (image.Point{X: c.width, Y: c.height}) {
				t.Fatalf("%v, told %d x %d", img.Bounds(), c.width, c.height)
			}
		})
	})
}
