//go:build 386 || arm || mips || mipsle

package bc

import (
	"errors"
	"image"
)

// encode has no encoder: the one in use needs 64-bit integers.
func encode([]byte, *image.NRGBA, Format) error {
	return errors.New("BC7 and BC5 are encoded on 64-bit processors only; use --textures resize")
}
