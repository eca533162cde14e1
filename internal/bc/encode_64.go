//go:build !(386 || arm || mips || mipsle)

package bc

import (
	"image"

	"github.com/woozymasta/bcn"
)

// Effort of the encoder. BC7 at 1 takes 50 ms per megapixel and at the next
// level 25 times as long for 2 to 4 dB. BC5 at 2 refines its end points.
const (
	effortBC7 = 1
	effortBC5 = 2
)

func encode(out []byte, img *image.NRGBA, f Format) error {
	kind, effort := bcn.FormatBC7, effortBC7
	if f == BC5 {
		kind, effort = bcn.FormatBC5, effortBC5
	}
	_, _, _, err := bcn.EncodeImageInto(out, img, kind, &bcn.EncodeOptions{QualityLevel: effort, Workers: 1})
	return err
}
