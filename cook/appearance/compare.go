package appearance

import (
	"math"
	"slices"
)

// encoded holds the perceived brightness, 0 to 255, of linear light in units of
// one: its square root, which is close to sRGB.
var encoded = func() (t [one + 1]uint8) {
	for i := range t {
		t[i] = uint8(float64(math.Sqrt(float64(i)/one)*255) + 0.5)
	}
	return t
}()

// sky is the light behind a mesh; black is tried too, since an edge can only be
// seen against something else.
const sky = one / 2

// difference returns how far two pixels are apart, 0 to 255.
func difference(a, b pixel) int {
	if a == b {
		return 0
	}
	worst := 0
	behindA, behindB := (one-a.coverage())*sky/one, (one-b.coverage())*sky/one
	for k := range 3 {
		x, y := a.channel(k), b.channel(k)
		black := int(encoded[x]) - int(encoded[y])
		bright := int(encoded[min(x+behindA, one)]) - int(encoded[min(y+behindB, one)])
		worst = max(worst, black, -black, bright, -bright)
	}
	return worst
}

// What may differ where a coarser mesh takes over: of the covered pixels, the
// mean difference and the part that changes visibly, and the mean difference of
// any square of blockSide pixels. The last one is what a lost part meets: a
// dark post before the sky passes when it is less than two pixels wide.
const (
	maxMean    = 7.0  // of 255
	visible    = 32   // of 255
	maxVisible = 0.03 // of all covered pixels
	blockShift = 3
	blockSide  = 1 << blockShift
	maxBlock   = 45.0 // of 255
)

// strain says how far two pictures differ, in parts of what may differ.
func strain(a, b picture) float64 {
	covered, sum, changed := 0, 0, 0
	across := (a.w + blockSide - 1) / blockSide
	blocks := make([]int, across)
	worst := 0
	for y := range a.h {
		rowA, rowB := a.pix[y*a.w:(y+1)*a.w], b.pix[y*a.w:(y+1)*a.w]
		for x, p := range rowA {
			q := rowB[x]
			if (p | q).coverage() == 0 {
				continue
			}
			covered++
			d := difference(p, q)
			if d == 0 {
				continue
			}
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

// Picture is a mesh as it is seen from one side.
type Picture struct{ p picture }

// Draw draws a mesh, or the reference itself for nil, as it is seen from a side,
// 0 to Views-1, with pixels of a size in metres. Materials are those given to
// New. Pictures of one reference have the same bounds from the same side, around
// the reference's box; their memory grows with the square of its diagonal in
// pixels.
func (r *Reference) Draw(m *Mesh, side int, pixel float64) *Picture {
	v := newView(directions[side], r.box, pixel)
	model := r.model
	if m != nil {
		model = newModel(m, r.model.paints)
	}
	p := r.canvas.draw(&v, model)
	p.pix = slices.Clone(p.pix)
	return &Picture{p}
}

// Half makes the pixels twice as large: the light of each is the mean of four.
// It works MaxHalves times.
func (p *Picture) Half() { p.p = p.p.half(p.p.pix) }

// MaxHalves is how often the pixels of a picture can be made larger.
const MaxHalves = tileShift
