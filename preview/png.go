//go:build !js

package preview

import (
	"image"
	"image/png"
	"io"

	"github.com/untoldkit/untold/internal/atomicfile"
)

// writePNG writes a picture; fast rather than small.
func writePNG(path string, img *image.NRGBA) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, img)
	})
}
