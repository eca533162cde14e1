package texture

import (
	"context"
	"image"
	"io"

	"github.com/untoldkit/untold/internal/basisu"
	"github.com/untoldkit/untold/internal/ktx2"
)

// WriteKTX2 writes a picture for a role as a KTX2 file of Basis Universal: UASTC blocks with
// Zstandard and all mip levels, as KHR_texture_basisu wants it: with edges of multiples of 4.
// Others are rounded down, or up to 4, and those of more than 16384 pixels made smaller. It
// works in the calling goroutine.
func WriteKTX2(ctx context.Context, w io.Writer, img *image.NRGBA, r Role) error {
	c := newWorkers(1)
	c.join()
	width, height := basisSize(min(img.Rect.Dx(), maxKTX2), min(img.Rect.Dy(), maxKTX2))
	_, err := writeUASTC(ctx, w, c, scaled(c, atLeast(img, basisu.BlockSize), width, height, r), r)
	return err
}

// basisSize rounds edges down to multiples of 4, and up to 4.
func basisSize(w, h int) (int, int) {
	const block = basisu.BlockSize
	return max(w&^(block-1), block), max(h&^(block-1), block)
}

// uastcStage is raised whenever other blocks are made of the same pixels.
const uastcStage = 3

// writeUASTC compresses an image with its mip chain, and returns how many levels that are.
func writeUASTC(ctx context.Context, w io.Writer, c *workers, base *image.NRGBA, r Role) (int, error) {
	content := ktx2.Content{
		Width: base.Rect.Dx(), Height: base.Rect.Dy(), Transfer: ktx2.TransferLinear, Channel: ktx2.UASTCRGB,
		Scheme: ktx2.Zstandard, Metadata: map[string]string{ktx2.KeyOrientation: "rd", ktx2.KeyWriter: "untold"},
	}
	if r.Use == Color {
		content.Transfer = ktx2.TransferSRGB
	}
	if r.Use == Color && r.Alpha != AlphaIgnored && !base.Opaque() {
		content.Channel = ktx2.UASTCRGBA
	}
	err := levels(c, base, r, func(l *image.NRGBA) error {
		content.Levels = append(content.Levels, compressUASTC(ctx, c, l))
		return ctx.Err()
	})
	if err != nil {
		return 0, err
	}
	return len(content.Levels), ktx2.Write(w, content)
}

// compressUASTC encodes one level, until ctx ends.
func compressUASTC(ctx context.Context, c *workers, img *image.NRGBA) []byte {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	buf := make([]byte, basisu.UASTCSize(w, h))
	c.divide(h, bandLines, func(lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		from, to := basisu.UASTCSize(w, lo), basisu.UASTCSize(w, hi)
		basisu.EncodeUASTC(buf[from:from:to], img.Pix[lo*img.Stride:], img.Stride, w, hi-lo)
	})
	return buf
}

// maxKTX2 is the longest edge of what is written, which all devices take.
const maxKTX2 = 16384

// atLeast repeats the pixels of pictures that are smaller than side.
func atLeast(img *image.NRGBA, side int) *image.NRGBA {
	w, h := max(img.Rect.Dx(), side), max(img.Rect.Dy(), side)
	if w == img.Rect.Dx() && h == img.Rect.Dy() {
		return img
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			at := img.PixOffset(img.Rect.Min.X+x*img.Rect.Dx()/w, img.Rect.Min.Y+y*img.Rect.Dy()/h)
			copy(out.Pix[out.PixOffset(x, y):][:4], img.Pix[at:])
		}
	}
	return out
}
