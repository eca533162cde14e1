package appearance

import "math"

// encoded holds the perceived brightness, 0 to 255, of linear light in units of
// one: its square root, which is close to sRGB.
var encoded = func() (t [one + 1]uint8) {
	for i := range t {
		t[i] = uint8(math.Sqrt(float64(i)/one)*255 + 0.5)
	}
	return t
}()

// sky is the light behind a mesh; black is tried too, since an edge can only be
// seen against something else.
const sky = one / 2

// half returns the picture with pixels of twice the size, in its own memory.
func (p picture) half() picture {
	out := picture{p.w / 2, p.h / 2, p.pix[:p.w*p.h/4]}
	for y := range out.h {
		upper, lower := p.pix[2*y*p.w:(2*y+1)*p.w], p.pix[(2*y+1)*p.w:(2*y+2)*p.w]
		for x := range out.w {
			a, b, c, d := &upper[2*x], &upper[2*x+1], &lower[2*x], &lower[2*x+1]
			var s pixel
			for k := range s {
				s[k] = uint16((uint32(a[k]) + uint32(b[k]) + uint32(c[k]) + uint32(d[k]) + 2) / 4)
			}
			out.pix[y*out.w+x] = s
		}
	}
	return out
}

// difference returns how far two pixels are apart, 0 to 255.
func difference(a, b *pixel) int {
	if *a == *b {
		return 0
	}
	worst := 0
	behindA, behindB := (one-int(a[3]))*sky/one, (one-int(b[3]))*sky/one
	for k := range 3 {
		black := int(encoded[a[k]]) - int(encoded[b[k]])
		bright := int(encoded[min(int(a[k])+behindA, one)]) - int(encoded[min(int(b[k])+behindB, one)])
		worst = max(worst, black, -black, bright, -bright)
	}
	return worst
}

// What may differ where a coarser mesh takes over: of the covered pixels, the
// mean difference and the part that changes visibly, and the mean difference of
// any square of blockSide pixels. The last one is what a lost part meets: a
// dark post before the sky passes when it is less than two pixels wide.
const (
	maxMean    = 9.0  // of 255
	visible    = 32   // of 255
	maxVisible = 0.04 // of all covered pixels
	blockShift = 3
	blockSide  = 1 << blockShift
	maxBlock   = 60.0 // of 255
)

// strain says how far two pictures differ, in parts of what may differ.
func strain(a, b picture) float64 {
	covered, sum, changed := 0, 0, 0
	across := (a.w + blockSide - 1) / blockSide
	blocks := make([]int, across)
	worst := 0
	for y := range a.h {
		for x := range a.w {
			p, q := &a.pix[y*a.w+x], &b.pix[y*a.w+x]
			if p[3]|q[3] == 0 {
				continue
			}
			covered++
			d := difference(p, q)
			sum += d
			blocks[x>>blockShift] += d
			if d > visible {
				changed++
			}
		}
		if y&(blockSide-1) == blockSide-1 || y == a.h-1 {
			for k, v := range blocks {
				worst, blocks[k] = max(worst, v), 0
			}
		}
	}
	if covered == 0 {
		return 0
	}
	n := float64(covered)
	return max(float64(sum)/n/maxMean, float64(changed)/n/maxVisible, float64(worst)/(blockSide*blockSide)/maxBlock)
}
