//go:build 386 || arm || mips || mipsle

package texture

import (
	"errors"
	"image"

	"github.com/untoldkit/untold/format/utex"
)

// encodeBlocks has no encoder: the one in use needs 64-bit integers.
func encodeBlocks([]byte, *image.NRGBA, utex.PixelFormat) error {
	return errors.New("BC7 and BC5 are encoded on 64-bit processors only; use --textures resize")
}
