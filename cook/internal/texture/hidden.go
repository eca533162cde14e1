package texture

import (
	"bytes"
	"image"
)

// revealed returns the image with the colour of what is visible around it in every
// pixel that is all transparent: a sampler mixes neighbours whatever their alpha,
// and so do blocks. Nothing else changes; where nothing is hidden, and where nothing
// is visible, it is the image itself.
//
// The colour is that of the smallest square of a pyramid in which anything is
// visible.
func revealed(img *image.NRGBA, r Role) *image.NRGBA {
	if r.Use != Color || r.Alpha == AlphaIgnored || !hides(img) {
		return img
	}
	pyramid := []*image.NRGBA{{Pix: bytes.Clone(img.Pix), Stride: img.Stride, Rect: img.Rect}}
	for last := pyramid[0]; last.Rect.Dx() > 1 || last.Rect.Dy() > 1; {
		last = visibleMean(last)
		pyramid = append(pyramid, last)
	}
	if pyramid[len(pyramid)-1].Pix[3] == 0 {
		return img
	}
	for k := len(pyramid) - 2; k >= 0; k-- {
		fine, coarse := pyramid[k], pyramid[k+1]
		for y := range fine.Rect.Dy() {
			line, above := fine.Pix[y*fine.Stride:], coarse.Pix[y/2*coarse.Stride:]
			for x := range fine.Rect.Dx() {
				if p := line[4*x:][:4]; p[3] == 0 {
					copy(p[:3], above[x/2*4:])
				}
			}
		}
	}
	return pyramid[0]
}

// hides reports whether any pixel is all transparent.
func hides(img *image.NRGBA) bool {
	for y := range img.Rect.Dy() {
		line := img.Pix[y*img.Stride:][:4*img.Rect.Dx()]
		for i := 3; i < len(line); i += 4 {
			if line[i] == 0 {
				return true
			}
		}
	}
	return false
}

// visibleMean returns an image of half the size, rounded up, with the mean colour
// of what is visible in each square; alpha is 0 only where nothing is.
func visibleMean(img *image.NRGBA) *image.NRGBA {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := image.NewNRGBA(image.Rect(0, 0, (w+1)/2, (h+1)/2))
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			var sum [3]float32
			alpha, n := 0, 0
			for v := 2 * y; v < min(2*y+2, h); v++ {
				for u := 2 * x; u < min(2*x+2, w); u++ {
					p := img.Pix[v*img.Stride+4*u:][:4]
					n++
					alpha += int(p[3])
					for i := range sum {
						sum[i] += float32(light[p[i]] * float32(p[3]))
					}
				}
			}
			if alpha == 0 {
				continue
			}
			p := out.Pix[y*out.Stride+4*x:][:4]
			for i := range sum {
				p[i] = toByteSRGB(sum[i] / float32(alpha))
			}
			p[3] = byte((alpha + n - 1) / n)
		}
	}
	return out
}
