// Package basisu decodes the two texture codecs of Basis Universal, as they lie
// in KTX 2.0 files, to RGBA: ETC1S blocks under BasisLZ, and UASTC, which it also encodes.
//
// Both give, byte by byte, the pixels that the reference transcoder gives for
// RGBA32. It interpolates UASTC as linear data even where the picture is sRGB, so
// that a GPU that reads the same block as sRGB ASTC may differ by one step of 255.
package basisu

import (
	"errors"
	"fmt"
)

// ErrDamaged says that the bytes break the rules of their codec.
var ErrDamaged = errors.New("damaged Basis Universal data")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// BlockSize is the edge of a block of both codecs, in pixels.
const BlockSize = 4

// blocks returns how many blocks cover an edge.
func blocks(pixels int) int { return (pixels + BlockSize - 1) / BlockSize }

// checkTarget says whether dst has room for an RGBA picture.
func checkTarget(dst []byte, width, height int) error {
	if width <= 0 || height <= 0 || len(dst) != 4*width*height {
		return fmt.Errorf("basisu: %d bytes are no RGBA picture of %d x %d pixels", len(dst), width, height)
	}
	return nil
}
