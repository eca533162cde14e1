package texture

import "image"

// The cutoffs that MipCutoff tries, in parts of the given one: below a quarter, what should
// be clear would begin to show.
const (
	cutoffParts = 32
	leastPart   = 8
)

// MipCutoff returns the cutoff, at most the given one, with which a cut-out draws about the
// same share of its texels at all levels of a mip chain that was made by averaging: there
// alpha is soft, and with the cutoff of the sharp picture leaves and fences vanish in the
// distance. It is the cutoff with the least sum, over all levels, of how many times more or
// less than in the whole picture is drawn. A picture of which all or nothing is drawn keeps
// its cutoff.
func MipCutoff(img *image.NRGBA, cutoff float32) float32 {
	cover := coverageOf(img, Role{Use: Color, Alpha: AlphaMasked, Cutoff: cutoff})
	if cover == nil || cover.share == 0 || cover.share == 1 {
		return cutoff
	}
	var cost [cutoffParts + 1]float64
	judge := func(shares [cutoffParts + 1]float64) {
		for k := leastPart; k < len(shares); k++ {
			cost[k] += cover.times(shares[k])
		}
	}
	judge(drawnOf(img, cutoff))
	for level := halfOf(img); level.w > 0 && level.h > 0; level = level.half() {
		judge(level.drawn(cutoff))
	}
	best := cutoffParts
	for k := cutoffParts - 1; k >= leastPart; k-- {
		if cost[k] < cost[best] {
			best = k
		}
	}
	return cutoff * float32(best) / cutoffParts
}

// times is how many times more or less than the original a share is. What draws nothing
// counts as a 64th of the picture.
func (c *coverage) times(share float64) float64 {
	const least = 1. / 64
	a, b := share+least, c.share+least
	return max(a/b, b/a)
}

// alphaPlane is the alpha of a level below the first.
type alphaPlane struct {
	w, h int
	pix  []float32
}

// halfOf returns the level below a picture.
func halfOf(img *image.NRGBA) alphaPlane {
	p := alphaPlane{w: img.Rect.Dx() / 2, h: img.Rect.Dy() / 2}
	p.pix = make([]float32, p.w*p.h)
	for y := range p.h {
		a, b := img.Pix[2*y*img.Stride:], img.Pix[(2*y+1)*img.Stride:]
		for x := range p.w {
			p.pix[y*p.w+x] = (part[a[8*x+3]] + part[a[8*x+7]] + part[b[8*x+3]] + part[b[8*x+7]]) / 4
		}
	}
	return p
}

// half returns the next level, in the memory of this one.
func (p *alphaPlane) half() alphaPlane {
	w, h := p.w/2, p.h/2
	for y := range h {
		a, b := p.pix[2*y*p.w:], p.pix[(2*y+1)*p.w:]
		for x := range w {
			p.pix[y*w+x] = (a[2*x] + a[2*x+1] + b[2*x] + b[2*x+1]) / 4
		}
	}
	return alphaPlane{w, h, p.pix[:w*h]}
}

// alphaBin returns the highest part of a cutoff with which an alpha is drawn.
func alphaBin(alpha, cutoff float32) int { return int(float32(min(alpha/cutoff, 1) * cutoffParts)) }

// drawn returns the share of texels that is drawn with each part of a cutoff.
func (p *alphaPlane) drawn(cutoff float32) [cutoffParts + 1]float64 {
	var bins [cutoffParts + 1]int
	for _, alpha := range p.pix {
		bins[alphaBin(alpha, cutoff)]++
	}
	return sharesOf(&bins, len(p.pix))
}

// drawnOf is drawn for a picture.
func drawnOf(img *image.NRGBA, cutoff float32) [cutoffParts + 1]float64 {
	var of [256]int
	w, h := img.Rect.Dx(), img.Rect.Dy()
	for y := range h {
		line := img.Pix[y*img.Stride:][:4*w]
		for i := 3; i < len(line); i += 4 {
			of[line[i]]++
		}
	}
	var bins [cutoffParts + 1]int
	for alpha, n := range of {
		bins[alphaBin(part[alpha], cutoff)] += n
	}
	return sharesOf(&bins, w*h)
}

// sharesOf adds up texels that were counted by the highest part that draws them.
func sharesOf(bins *[cutoffParts + 1]int, of int) (shares [cutoffParts + 1]float64) {
	n := 0
	for k := cutoffParts; k >= 0; k-- {
		n += bins[k]
		shares[k] = float64(n) / float64(of)
	}
	return shares
}
