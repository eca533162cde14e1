package ktx2

import (
	"image"
	"math"
)

// RaiseNormals fills blue in with the coordinate that makes red and green a direction
// of length 1, as far as they are not longer: of normal maps with two channels.
func RaiseNormals(img *image.NRGBA) {
	var square [256]float64 // of the coordinate that a byte stands for
	for i := range square {
		c := 2*float64(i)/255 - 1
		square[i] = c * c
	}
	for p := img.Pix; len(p) >= 4; p = p[4:] {
		z := math.Sqrt(max(0, 1-square[p[0]]-square[p[1]]))
		p[2] = uint8(math.Round(127.5 + float64(127.5*z)))
	}
}
