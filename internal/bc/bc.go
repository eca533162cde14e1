// Package bc encodes the blocks of BC7 and BC5, 16 bytes for 4 x 4 texels each.
//
// It gives the same bytes on every 64-bit machine: at the efforts in use the encoder beneath
// calculates with integers alone, and its assembly does what its Go code does. Gray blocks of
// BC7 it leaves to [EncodeGray].
package bc

import (
	"fmt"
	"image"
)

// Format is a kind of blocks.
type Format uint8

// The formats.
const (
	BC7 Format = iota // red, green, blue and alpha
	BC5               // red and green
)

// BlockBytes is the size of every block.
const BlockBytes = 16

// Size returns the bytes of an image of w x h texels, both at least 1.
func Size(w, h int) int { return (w + 3) / 4 * ((h + 3) / 4) * BlockBytes }

// Options say what an encoder may do.
type Options struct {
	Format Format
	// AlphaUnused says that nobody looks at alpha: it may come out as 254 instead of 255.
	AlphaUnused bool
}

// Encode fills out, of Size bytes at least, with the blocks of img, line by line. Blocks that
// reach beyond the border repeat its last pixels.
func Encode(out []byte, img *image.NRGBA, o Options) error {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if w < 1 || h < 1 || len(out) < Size(w, h) {
		return fmt.Errorf("bc: %d bytes for %d x %d texels", len(out), w, h)
	}
	out = out[:Size(w, h)]
	if o.Format == BC5 {
		return encode(out, img, BC5)
	}
	return encodeBC7(out, img, o)
}

// encodeBC7 gives lines of blocks of which some are not gray to the encoder beneath, as many
// as there are at a time, and encodes the gray ones itself.
func encodeBC7(out []byte, img *image.NRGBA, o Options) error {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	perLine := Size(w, 1)
	var values [16]uint8
	from := -1 // the first of the lines that are left to the encoder beneath
	flush := func(to int) error {
		if from < 0 {
			return nil
		}
		at := img.Rect.Min
		part := img.SubImage(image.Rect(at.X, at.Y+from, at.X+w, at.Y+to)).(*image.NRGBA)
		err := encode(out[from/4*perLine:(to+3)/4*perLine], part, BC7)
		from = -1
		return err
	}
	for y := 0; y < h; y += 4 {
		all := true
		for x := 0; x < w && all; x += 4 {
			all = grayBlock(img, x, y, &values)
		}
		if all {
			if err := flush(y); err != nil {
				return err
			}
		} else if from < 0 {
			from = y
		}
	}
	if err := flush(h); err != nil {
		return err
	}
	for y := 0; y < h; y += 4 {
		for x := 0; x < w; x += 4 {
			if grayBlock(img, x, y, &values) {
				EncodeGray((*[BlockBytes]byte)(out[y/4*perLine+x/4*BlockBytes:]), &values, !o.AlphaUnused)
			}
		}
	}
	return nil
}

// grayBlock takes the values of the block at a place, and reports whether it is opaque and
// gray; if not, some of the values are others'.
func grayBlock(img *image.NRGBA, x, y int, values *[16]uint8) bool {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	for k := range 4 {
		line := img.Pix[min(y+k, h-1)*img.Stride:]
		for i := range 4 {
			p := line[4*min(x+i, w-1):][:4]
			if p[0] != p[1] || p[0] != p[2] || p[3] != 255 {
				return false
			}
			values[4*k+i] = p[0]
		}
	}
	return true
}
