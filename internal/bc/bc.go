// Package bc encodes the blocks of BC7 and BC5, 16 bytes for 4 x 4 texels each.
//
// It gives the same bytes on every machine: it calculates with integers, and with
// floating-point numbers whose products do not fuse. Gray blocks of BC7 have an encoder of
// their own, [EncodeGray].
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
	Format  Format
	Quality Quality
	// AlphaUnused says that nobody looks at alpha: where it is 255 it may come out as 254.
	AlphaUnused bool
	// Enough is the squared error of a block of BC7, summed over texels and channels in steps
	// of 255, with which no better way is looked for. What Quality has is the least.
	Enough int32
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
		encodeBC5(out, img, o.Quality)
		return nil
	}
	encodeBC7(out, img, o)
	return nil
}

// encodeBC7 encodes lines of blocks.
func encodeBC7(out []byte, img *image.NRGBA, o Options) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	e := newEncoder(o.Quality, o.AlphaUnused)
	e.enough = max(e.enough, o.Enough)
	var values [16]uint8
	for y := 0; y < h; y += 4 {
		for x := 0; x < w; x += 4 {
			block := (*[BlockBytes]byte)(out)
			out = out[BlockBytes:]
			e.take(img, x, y)
			if !e.gray(&values) {
				e.find()
				e.best.write(block)
				continue
			}
			g := newGray(&values, !o.AlphaUnused)
			g.find()
			if o.Quality == High && g.miss > 0 {
				if e.find(); e.best.err < 3*g.miss { // a gray block's error is that of one channel
					e.best.write(block)
					continue
				}
			}
			g.write(block)
		}
	}
}

// take takes the texels at a place.
func (e *encoder) take(img *image.NRGBA, x, y int) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	for k := range 4 {
		line := img.Pix[min(y+k, h-1)*img.Stride:]
		for i := range 4 {
			p := line[4*min(x+i, w-1):][:4]
			e.px[4*k+i] = [4]int32{int32(p[0]), int32(p[1]), int32(p[2]), int32(p[3])}
		}
	}
}

// gray reports whether the block is opaque and gray, and takes its values; if it is not, some
// of them are others'.
func (e *encoder) gray(values *[16]uint8) bool {
	for i := range e.px {
		p := &e.px[i]
		if p[0] != p[1] || p[0] != p[2] || p[3] != 255 {
			return false
		}
		values[i] = uint8(p[0])
	}
	return true
}
