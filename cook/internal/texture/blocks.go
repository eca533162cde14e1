package texture

import (
	"fmt"
	"image"
	"io"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
)

// blockFormat returns how a role is compressed.
func blockFormat(r Role) (utex.PixelFormat, records.TextureFormat) {
	switch r.Use {
	case Normal:
		return utex.BC5, records.TextureBC5
	case Color:
		return utex.BC7SRGB, records.TextureBC7
	}
	return utex.BC7, records.TextureBC7
}

// writeBlocks compresses an image with its mip chain.
func writeBlocks(w io.Writer, c *workers, base *image.NRGBA, r Role) (*utex.Info, error) {
	pixels, _ := blockFormat(r)
	base = revealed(base, r)
	var flags utex.Flags
	if r.Alpha != AlphaIgnored && !base.Opaque() {
		flags |= utex.HasAlpha
	}
	out, err := utex.NewWriter(w, base.Rect.Dx(), base.Rect.Dy(), pixels, flags)
	if err != nil {
		return nil, err
	}
	var buf []byte
	err = levels(c, base, r, func(img *image.NRGBA) error {
		data, err := compress(c, img, pixels, buf)
		if buf == nil {
			buf = data
		}
		if err != nil {
			return err
		}
		return out.WriteLevel(data)
	})
	if err != nil {
		return nil, err
	}
	return out.Info(), out.Close()
}

// compress encodes one level into buf, or a new buffer without one. Blocks that
// reach beyond the border repeat its last pixels.
func compress(c *workers, img *image.NRGBA, pixels utex.PixelFormat, buf []byte) ([]byte, error) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	b, _ := pixels.Block()
	n := int(b.Size(w, h))
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	perLine := int(b.Size(w, b.Height))
	errs := make([]error, (h+bandLines-1)/bandLines)
	c.divide(h, bandLines, func(lo, hi int) {
		band := &image.NRGBA{Pix: img.Pix[4*w*lo : 4*w*hi], Stride: 4 * w, Rect: image.Rect(0, 0, w, hi-lo)}
		from, to := lo/b.Height*perLine, (hi+b.Height-1)/b.Height*perLine
		errs[lo/bandLines] = encodeBlocks(buf[from:to:to], band, pixels)
	})
	for _, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("texture: %d x %d texels as %v: %w", w, h, pixels, err)
		}
	}
	return buf, nil
}
