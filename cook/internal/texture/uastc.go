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
	img = atLeast(img, basisu.BlockSize)
	width, height := min(img.Rect.Dx(), maxKTX2)&^(basisu.BlockSize-1), min(img.Rect.Dy(), maxKTX2)&^(basisu.BlockSize-1)
	content := ktx2.Content{
		Width: width, Height: height, Transfer: ktx2.TransferLinear, Channel: ktx2.UASTCRGB,
		Scheme: ktx2.Zstandard, Metadata: map[string]string{"KTXorientation": "rd", "KTXwriter": "untold"},
	}
	if r.Use == Color {
		content.Transfer = ktx2.TransferSRGB
	}
	base := scaled(c, img, width, height, r)
	if r.Use == Color && r.Alpha != AlphaIgnored && !base.Opaque() {
		content.Channel = ktx2.UASTCRGBA
	}
	err := levels(c, base, r, func(l *image.NRGBA) error {
		var blocks []byte
		w, h := l.Rect.Dx(), l.Rect.Dy()
		for y := 0; y < h; y += bandLines {
			if err := ctx.Err(); err != nil {
				return err
			}
			blocks = basisu.EncodeUASTC(blocks, l.Pix[y*l.Stride:], l.Stride, w, min(bandLines, h-y))
		}
		content.Levels = append(content.Levels, blocks)
		return nil
	})
	if err != nil {
		return err
	}
	return ktx2.Write(w, content)
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
