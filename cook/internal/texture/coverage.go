package texture

import "image"

// coverage keeps how much of a cut-out is drawn the same at every level: means
// of alpha fall below the cutoff, and leaves and fences thin out with distance
// (Castano, "Computing alpha mipmaps", 2010).
type coverage struct {
	cutoff float32
	share  float64 // of texels that are drawn at full size
}

// coverageOf measures an image; nil where the role has no cut-outs.
func coverageOf(img *image.NRGBA, r Role) *coverage {
	if r.Alpha != AlphaMasked || !(r.Cutoff > 0 && r.Cutoff <= 1) {
		return nil
	}
	var drawn [256]bool
	for i := range drawn {
		drawn[i] = part[i] >= r.Cutoff
	}
	n := 0
	w, h := img.Rect.Dx(), img.Rect.Dy()
	for y := range h {
		line := img.Pix[y*img.Stride:][:4*w]
		for i := 3; i < len(line); i += 4 {
			if drawn[line[i]] {
				n++
			}
		}
	}
	return &coverage{r.Cutoff, float64(n) / (float64(w) * float64(h))}
}

// alphaBins is how finely alpha is counted.
const alphaBins = 1 << 14

// alphaCount is a histogram of a level's alpha.
type alphaCount struct {
	bins [alphaBins + 1]int32
	n    int
}

func (a *alphaCount) add(line []float32) {
	for i := 3; i < len(line); i += 4 {
		a.bins[int(float32(min(max(line[i], 0), 1)*alphaBins))]++
		a.n++
	}
}

// scale returns the factor for a level's alpha that brings the share of drawn
// texels nearest to the original's.
func (c *coverage) scale(a *alphaCount) float32 {
	want := int(float64(c.share*float64(a.n)) + 0.5)
	if want <= 0 || want >= a.n {
		return 1
	}
	count, above := 0, alphaBins+1 // above: the last bin that holds a texel
	for b := alphaBins; b > 0; b-- {
		if a.bins[b] == 0 {
			continue
		}
		next := count + int(a.bins[b])
		if next >= want {
			if count > 0 && want-count < next-want {
				b = above // without this bin it is nearer
			}
			return c.cutoff * alphaBins / float32(b)
		}
		count, above = next, b
	}
	return 1
}
