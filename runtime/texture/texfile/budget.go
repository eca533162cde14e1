package texfile

import (
	"context"
	"fmt"
	"image"

	"github.com/untoldkit/untold/internal/picture"
)

// decoding is the memory that all decoders of the program share: 1 GiB, by an
// estimate from the headers. It is enough for DefaultMaxPixels in every form but
// JPEG that is progressive and has colours at full resolution, whose coefficients
// alone take 12 bytes a pixel.
var decoding = picture.NewBudget(picture.MaxBytes)

// takePicture judges what decoding takes and waits until there is room.
func (o *Options) takePicture(format string, header []byte, size image.Config) (free func(), err error) {
	c := picture.Estimate(header, size.Width, size.Height)
	if c.Bytes > picture.MaxBytes {
		return nil, fmt.Errorf("%s: %w: decoding %d x %d takes some %d MB, at most %d are accepted (store it smaller, or as baseline JPEG, PNG, .utex or KTX2)",
			format, ErrTooLarge, size.Width, size.Height, c.Bytes/1e6, int64(picture.MaxBytes)/1e6)
	}
	const smallerLevels = 2 // bytes a pixel
	return o.take(c.Bytes + smallerLevels*int64(size.Width)*int64(size.Height))
}

// take waits until there is room for n bytes.
func (o *Options) take(n int64) (free func(), err error) {
	ctx, b := o.ctx, o.budget
	if ctx == nil {
		ctx = context.Background()
	}
	if b == nil {
		b = decoding
	}
	return b.Take(ctx, n)
}
