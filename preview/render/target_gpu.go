package render

import (
	"fmt"
	"image"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// targets are the framebuffers that a picture passes, and its size.
type targets struct {
	gpu.Target
	width, height int
}

func newTargets(d gpu.Device, width, height, samples int) (*targets, error) {
	t, err := d.NewTarget(width, height, samples)
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	return &targets{t, width, height}, nil
}

// read returns the picture, top row first, opaque.
func (t *targets) read() *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, t.width, t.height))
	t.Read(img.Pix)
	row := make([]byte, img.Stride)
	for a, b := 0, t.height-1; a < b; a, b = a+1, b-1 {
		top, bottom := img.Pix[a*img.Stride:][:img.Stride], img.Pix[b*img.Stride:][:img.Stride]
		copy(row, top)
		copy(top, bottom)
		copy(bottom, row)
	}
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 255
	}
	return img
}
