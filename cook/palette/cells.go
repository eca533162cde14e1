package palette

import (
	"math"

	"github.com/untoldkit/untold/cook/appearance"
)

// rect is a rectangle of texels, both ends included.
type rect struct{ x0, y0, x1, y1 int }

func (r rect) union(o rect) rect {
	return rect{min(r.x0, o.x0), min(r.y0, o.y0), max(r.x1, o.x1), max(r.y1, o.y1)}
}

func (r rect) contains(o rect) bool { return r.union(o) == r }

const (
	// step is how far neighbouring texels of a cell differ at most, of 255: more
	// than a gradient does, less than two colours that someone chose.
	step = 16
	// mostCells is how many cells a palette has at most. A picture is cut into more.
	mostCells = 256
)

// sheet is a texture that may be a palette.
type sheet struct {
	*appearance.Texture
	w, h int
	// across and down count the edges between a texel and its neighbour to the right,
	// and below, in the rectangle from the origin up to it.
	across, down []int32
	cells        []rect
	flats        []flat // by cell, once they are known
	full         bool   // it has more cells than palettes have
}

func newSheet(t *appearance.Texture) *sheet {
	w, h := t.Size()
	s := &sheet{Texture: t, w: w, h: h, across: make([]int32, (w+1)*(h+1)), down: make([]int32, (w+1)*(h+1))}
	for y := range h {
		for x := range w {
			at := (y+1)*(w+1) + x + 1
			here := t.Encoded(x, y)
			count := func(sums []int32, x, y int) {
				edge := int32(0)
				if x < w && y < h && differ(here, t.Encoded(x, y)) {
					edge = 1
				}
				sums[at] = sums[at-1] + sums[at-w-1] - sums[at-w-2] + edge
			}
			count(s.across, x+1, y)
			count(s.down, x, y+1)
		}
	}
	return s
}

func differ(a, b [4]uint8) bool {
	for k := range a {
		if d := int(a[k]) - int(b[k]); d > step || d < -step {
			return true
		}
	}
	return false
}

// smooth reports whether there is no edge within a rectangle.
func (s *sheet) smooth(r rect) bool {
	count := func(sums []int32, x1, y1 int) int32 {
		row := s.w + 1
		return sums[(y1+1)*row+x1+1] - sums[r.y0*row+x1+1] - sums[(y1+1)*row+r.x0] + sums[r.y0*row+r.x0]
	}
	return (r.x1 == r.x0 || count(s.across, r.x1-1, r.y1) == 0) && (r.y1 == r.y0 || count(s.down, r.x1, r.y1-1) == 0)
}

// cover returns the texels of a triangle's box. Textures repeat; what goes over
// the border of one is not in a cell.
func (s *sheet) cover(uv *[3][2]float32) (rect, bool) {
	var lo, hi [2]int
	for axis, n := range [2]int{s.w, s.h} {
		a, b := float64(min(uv[0][axis], uv[1][axis], uv[2][axis])), float64(max(uv[0][axis], uv[1][axis], uv[2][axis]))
		whole := math.Floor(a)
		if a, b = a-whole, b-whole; !(b <= 1) {
			return rect{}, false
		}
		lo[axis] = min(int(a*float64(n)), n-1)
		hi[axis] = max(lo[axis], int(math.Ceil(b*float64(n)))-1)
	}
	return rect{lo[0], lo[1], hi[0], hi[1]}, true
}

// find returns the cell of a rectangle, -1 for none. With grow a cell may become
// larger for it, or a new one is made.
func (s *sheet) find(r rect, grow bool) int {
	for i, c := range s.cells {
		if c.contains(r) {
			return i
		}
	}
	if !grow || s.full || !s.smooth(r) {
		return -1
	}
	for i, c := range s.cells {
		if u := c.union(r); s.smooth(u) {
			s.cells[i] = u
			return i
		}
	}
	if len(s.cells) == mostCells {
		s.full = true
		return -1
	}
	s.cells = append(s.cells, r)
	return len(s.cells) - 1
}

// sample returns the colour that a cell has at texture coordinates, 0 to 1.
func (s *sheet) sample(uv [2]float32, cell rect) [4]float32 {
	at := func(x float32, n, lo, hi int) int {
		f := float64(x) - wholeOf(x, n, lo, hi)
		return max(lo, min(hi, int(f*float64(n))))
	}
	c := s.Encoded(at(uv[0], s.w, cell.x0, cell.x1), at(uv[1], s.h, cell.y0, cell.y1))
	return [4]float32{float32(c[0]) / 255, float32(c[1]) / 255, float32(c[2]) / 255, float32(c[3]) / 255}
}

// flat says along which axes a cell has one colour.
type flat [2]bool

// flatness is how far texels of one colour differ, of 255.
const flatness = 2

// flat returns along which axes a cell has one colour: all coordinates there are as
// good as any other.
func (s *sheet) flat(i int) flat {
	for len(s.flats) < len(s.cells) {
		c := s.cells[len(s.flats)]
		s.flats = append(s.flats, flat{
			s.even(c.x0, c.x1, c.y0, c.y1, func(x, y int) [4]uint8 { return s.Encoded(x, y) }),
			s.even(c.y0, c.y1, c.x0, c.x1, func(y, x int) [4]uint8 { return s.Encoded(x, y) }),
		})
	}
	return s.flats[i]
}

// even reports whether all texels of each line of a rectangle, along the first
// axis, have one colour.
func (s *sheet) even(a0, a1, b0, b1 int, at func(a, b int) [4]uint8) bool {
	for b := b0; b <= b1; b++ {
		first := at(a0, b)
		for a := a0 + 1; a <= a1; a++ {
			for k, v := range at(a, b) {
				if d := int(v) - int(first[k]); d > flatness || d < -flatness {
					return false
				}
			}
		}
	}
	return true
}

// settle moves coordinates to the middle of a cell along the axes where it has one
// colour, so that what looks the same is the same.
func (s *sheet) settle(uv [2]float32, i int) [2]float32 {
	c, f := s.cells[i], s.flat(i)
	for axis, r := range [2][3]int{{c.x0, c.x1, s.w}, {c.y0, c.y1, s.h}} {
		if f[axis] {
			uv[axis] = float32(wholeOf(uv[axis], r[2], r[0], r[1]) + float64(r[0]+r[1]+1)/float64(2*r[2]))
		}
	}
	return uv
}

// wholeOf returns how often a texture of n texels is repeated before a coordinate
// in a cell from lo to hi. A cell that ends at the border has it as its end.
func wholeOf(x float32, n, lo, hi int) float64 {
	whole := math.Floor(float64(x))
	if float64(x) == whole && hi == n-1 && lo > 0 {
		whole--
	}
	return whole
}
