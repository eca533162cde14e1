//go:build !(386 || arm || mips || mipsle)

package texture

import (
	"image"

	"github.com/woozymasta/bcn"

	"github.com/untoldkit/untold/format/utex"
)

// Effort of the encoder. BC7 at 1 takes 50 ms per megapixel and at the next
// level 25 times as long for 2 to 4 dB. BC5 at 2 refines its end points. At
// these levels the encoder calculates with integers alone, and its assembly
// gives the same bytes as its Go code.
const (
	effortBC7 = 1
	effortBC5 = 2
)

// encodeBlocks fills out with the blocks of img.
func encodeBlocks(out []byte, img *image.NRGBA, pixels utex.PixelFormat) error {
	kind, effort := bcn.FormatBC7, effortBC7
	if pixels == utex.BC5 {
		kind, effort = bcn.FormatBC5, effortBC5
	}
	_, _, _, err := bcn.EncodeImageInto(out, img, kind, &bcn.EncodeOptions{QualityLevel: effort, Workers: 1})
	return err
}
