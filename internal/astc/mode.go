package astc

import "sync"

// blockMode says how the weights of a block are stored. It is the lowest eleven
// bits.
type blockMode struct {
	width, height int // of the grid
	weights       level
	dual          bool // two weights to a point
	bits          int  // of all weights
}

// Limits of the weights of a block.
const (
	maxWeights    = 64
	minWeightBits = 24
	maxWeightBits = 96
)

// Marks of a block of one colour.
const (
	voidMask = 0x1ff
	void     = 0x1fc
	voidHDR  = 0x200
)

// modeOf reads a mode; ok is false for those that are reserved or store more or
// fewer weights than a block may have.
func modeOf(m int) (b blockMode, ok bool) {
	r := m >> 4 & 1
	low := m >> 5 & 3
	fine, dual := m>>9&1, m>>10&1 == 1
	if m&3 != 0 {
		r |= m & 3 << 1
		high := m >> 7 & 3
		switch m >> 2 & 3 {
		case 0:
			b.width, b.height = high+4, low+2
		case 1:
			b.width, b.height = high+8, low+2
		case 2:
			b.width, b.height = low+2, high+8
		default:
			if high>>1 == 0 {
				b.width, b.height = low+2, high&1+6
			} else {
				b.width, b.height = high&1+2, low+2
			}
		}
	} else {
		if m>>2&3 == 0 {
			return b, false
		}
		r |= m >> 2 & 3 << 1
		switch m >> 7 & 3 {
		case 0:
			b.width, b.height = 12, low+2
		case 1:
			b.width, b.height = low+2, 12
		case 2:
			b.width, b.height = low+6, m>>9&3+6
			fine, dual = 0, false
		default:
			switch low {
			case 0:
				b.width, b.height = 6, 10
			case 1:
				b.width, b.height = 10, 6
			default:
				return b, false
			}
		}
	}
	b.weights, b.dual = level(r-2+6*fine), dual
	n := b.count()
	b.bits = sequenceBits(n, b.weights)
	return b, n <= maxWeights && b.bits >= minWeightBits && b.bits <= maxWeightBits
}

// count returns how many weights are stored.
func (b *blockMode) count() int {
	n := b.width * b.height
	if b.dual {
		n *= 2
	}
	return n
}

// layout is what blocks of one footprint have in common.
type layout struct {
	Footprint
	modes [2048]*modeUse // nil where a mode is none of this footprint
}

// modeUse is a mode in a footprint.
type modeUse struct {
	blockMode
	grid *grid
}

var layouts [14]struct {
	once sync.Once
	l    *layout
}

// layoutOf returns the layout of Footprints[index].
func layoutOf(index int) *layout {
	slot := &layouts[index]
	slot.once.Do(func() { slot.l = newLayout(Footprints[index]) })
	return slot.l
}

func newLayout(f Footprint) *layout {
	l := &layout{Footprint: f}
	grids := map[[2]int]*grid{}
	for m := range l.modes {
		b, ok := modeOf(m)
		if !ok || b.width > f.Width || b.height > f.Height {
			continue
		}
		key := [2]int{b.width, b.height}
		if grids[key] == nil {
			grids[key] = newGrid(f, b.width, b.height)
		}
		l.modes[m] = &modeUse{b, grids[key]}
	}
	return l
}

// grid says how the weights of texels come from those of grid points.
type grid struct {
	width, height int
	full          bool // a point to every texel
	points        [maxTexels][4]uint8
	shares        [maxTexels][4]uint8 // of the points, in sixteenths
}

func newGrid(f Footprint, width, height int) *grid {
	g := &grid{width: width, height: height, full: width == f.Width && height == f.Height}
	stepX, stepY := step(f.Width), step(f.Height)
	for y := range f.Height {
		for x := range f.Width {
			px, py := (stepX*x*(width-1)+32)>>6, (stepY*y*(height-1)+32)>>6
			fx, fy := px&15, py&15
			both := (fx*fy + 8) >> 4
			i := y*f.Width + x
			at := py>>4*width + px>>4
			for k, share := range [4]int{16 - fx - fy + both, fx - both, fy - both, both} {
				if share == 0 {
					continue // beyond the grid perhaps
				}
				g.points[i][k] = uint8(at + k>>1*width + k&1)
				g.shares[i][k] = uint8(share)
			}
		}
	}
	return g
}

// step returns the distance of texels in 1/1024 of a block of n.
func step(n int) int { return (1024 + n/2) / (n - 1) }

// spread fills in the weights of n texels from those of the points.
func (g *grid) spread(points, texels []uint8) {
	if g.full {
		copy(texels, points)
		return
	}
	for i := range texels {
		p, s := &g.points[i], &g.shares[i]
		texels[i] = uint8((int(points[p[0]])*int(s[0]) + int(points[p[1]])*int(s[1]) + int(points[p[2]])*int(s[2]) + int(points[p[3]])*int(s[3]) + 8) >> 4)
	}
}
