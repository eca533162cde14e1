package imagediff

import (
	"image"
	"math"
)

// The usual window of SSIM.
const (
	ssimRadius = 5
	ssimSigma  = 1.5
)

// SSIM returns the mean structural similarity of the luma of two pictures,
// under a Gaussian window of 11 x 11 pixels with a standard deviation of 1.5.
// Windows that would reach over the border do not count; pictures smaller than
// a window go on with the values at their border.
func SSIM(a, b image.Image) (float64, error) {
	p, q, err := readPair(a, b)
	if err != nil {
		return 0, err
	}
	w, h := p.w, p.h
	la, lb := luma(p), luma(q)
	kernel := make([]float64, 2*ssimRadius+1)
	for i := range kernel {
		x := float64(i - ssimRadius)
		kernel[i] = math.Exp(-x * x / (2 * ssimSigma * ssimSigma))
	}
	k := normalized(kernel)
	product := func(a, b []float32) []float32 {
		out := make([]float32, len(a))
		for i := range a {
			out[i] = a[i] * b[i]
		}
		return convolve(out, w, h, k, k)
	}
	aa, bb, ab := product(la, la), product(lb, lb), product(la, lb)
	ma, mb := convolve(la, w, h, k, k), convolve(lb, w, h, k, k)

	const c1, c2 = 0.01 * 0.01, 0.03 * 0.03
	mx, my := ssimRadius, ssimRadius
	if w <= 2*ssimRadius {
		mx = 0
	}
	if h <= 2*ssimRadius {
		my = 0
	}
	sum := 0.0
	for y := my; y < h-my; y++ {
		for x := mx; x < w-mx; x++ {
			i := y*w + x
			u, v := float64(ma[i]), float64(mb[i])
			varA, varB, cov := max(float64(aa[i])-u*u, 0), max(float64(bb[i])-v*v, 0), float64(ab[i])-u*v
			sum += (2*u*v + c1) * (2*cov + c2) / ((u*u + v*v + c1) * (varA + varB + c2))
		}
	}
	return sum / float64((w-2*mx)*(h-2*my)), nil
}

// luma returns the weighted sum of the encoded channels, 0 to 1.
func luma(p *planes) []float32 {
	out := make([]float32, len(p.bytes[0]))
	p.each(func(i int) {
		out[i] = (0.299*float32(p.bytes[0][i]) + 0.587*float32(p.bytes[1][i]) + 0.114*float32(p.bytes[2][i])) / 255
	})
	return out
}
