//go:build !(386 || arm || mips || mipsle)

package ktx2

import (
	"testing"

	"github.com/woozymasta/bcn"
)

// TestBlocks: the formats of the BC family decode as their library does, and the
// channels that they lack are 0, alpha 255.
func TestBlocks(t *testing.T) {
	const w, h = 8, 4
	rgba := pixels(w, h)
	for format, encode := range map[Format]func([]byte, int, int) ([]byte, error){
		BC1RGB: bcn.EncodeBC1, BC1SRGB: bcn.EncodeBC1, BC2: bcn.EncodeBC2, BC3: bcn.EncodeBC3, BC4: bcn.EncodeBC4, BC5: bcn.EncodeBC5, BC7SRGB: bcn.EncodeBC7,
	} {
		blocks, err := encode(rgba, w, h)
		if err != nil {
			t.Fatal(err)
		}
		img := decoded(t, written(t, Content{Format: format, Width: w, Height: h, Levels: [][]byte{blocks}}), 0)
		for i := 0; i < len(img.Pix); i += 4 {
			p := img.Pix[i : i+4]
			if format == BC4 && (p[1] != 0 || p[2] != 0 || p[3] != 255) || format == BC5 && (p[2] != 0 || p[3] != 255) || format == BC1RGB && p[3] != 255 {
				t.Fatalf("%v: pixel %d is %v", format, i/4, p)
			}
		}
		if format == BC5 && img.Pix[4*9+1] == 0 && img.Pix[4*10+1] == 0 {
			t.Error("BC5 has no green")
		}
	}
}
