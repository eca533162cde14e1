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
	level := alphaPlane{w: img.Rect.Dx(), h: img.Rect.Dy()}
	alpha := func(x, y int) float32 { return part[img.Pix[y*img.Stride+4*x+3]] }
	for level.w > 0 && level.h > 0 {
		for k, share := range level.drawn(alpha, cutoff) {
			if k >= leastPart {
				cost[k] += cover.times(share)
			}
		}
		level = level.half(alpha)
		alpha = level.at
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

// alphaPlane is the alpha of a level.
type alphaPlane struct {
	w, h int
	pix  []float32 // of levels below the first
}

func (p *alphaPlane) at(x, y int) float32 { return p.pix[y*p.w+x] }

// half returns the next level of one with this alpha, in its memory if it has any.
func (p *alphaPlane) half(alpha func(x, y int) float32) alphaPlane {
	w, h := p.w/2, p.h/2
	pix := p.pix
	if pix == nil {
		pix = make([]float32, w*h)
	}
	for y := range h {
		for x := range w {
			pix[y*w+x] = (alpha(2*x, 2*y) + alpha(2*x+1, 2*y) + alpha(2*x, 2*y+1) + alpha(2*x+1, 2*y+1)) / 4
		}
	}
	return alphaPlane{w, h, pix[:w*h]}
}

// drawn returns the share of texels that is drawn with each part of a cutoff.
func (p *alphaPlane) drawn(alpha func(x, y int) float32, cutoff float32) (shares [cutoffParts + 1]float64) {
	var bins [cutoffParts + 1]int // texels by the highest part that draws them
	for y := range p.h {
		for x := range p.w {
			bins[int(min(alpha(x, y)/cutoff, 1)*cutoffParts)]++
		}
	}
	n := 0
	for k := cutoffParts; k >= 0; k-- {
		n += bins[k]
		shares[k] = float64(n) / (float64(p.w) * float64(p.h))
	}
	return shares
}
