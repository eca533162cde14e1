package octree

import (
	"cmp"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// curveBits is the resolution of the curve per axis.
const curveBits = 20

// curveOrder returns the ids of all boxes that are not empty: by size class,
// so that a few huge boxes do not blow up the nodes of the others; then along
// the Z-order curve; then by id.
func curveOrder(boxes []geom.Box) []int32 {
	f := newFrame(boxes)
	type entry struct {
		key uint64
		id  int32
	}
	list := make([]entry, 0, len(boxes))
	for i := range boxes {
		if !boxes[i].IsEmpty() {
			list = append(list, entry{f.key(&boxes[i]), int32(i)})
		}
	}
	slices.SortFunc(list, func(x, y entry) int {
		if c := cmp.Compare(x.key, y.key); c != 0 {
			return c
		}
		return cmp.Compare(x.id, y.id)
	})
	ids := make([]int32, len(list))
	for i, e := range list {
		ids[i] = e.id
	}
	return ids
}

// frame is the cube in which the curve runs, and the usual size of a box. It
// spans the bulk of the boxes' middles: a stray box far away must not take the
// resolution of all others. What lies outside goes to the cells at the border.
type frame struct {
	origin geom.Vec3
	size   float64 // edge of the cube
	usual  float64 // median of the longest edges
}

func newFrame(boxes []geom.Box) frame {
	const samples = 4096
	step := len(boxes)/samples + 1
	sample := func(value func(*geom.Box) float64) []float64 {
		var list []float64
		for i := 0; i < len(boxes); i += step {
			if v := value(&boxes[i]); !boxes[i].IsEmpty() && !math.IsInf(v, 0) {
				list = append(list, v)
			}
		}
		slices.Sort(list)
		return list
	}
	var f frame
	for a := range 3 {
		list := sample(func(b *geom.Box) float64 { return middle(b, a) })
		if len(list) == 0 {
			continue
		}
		skip := len(list) / 50
		lo, hi := list[skip], list[len(list)-1-skip]
		// The 4 percent left out have their room when the spread is even.
		margin := float64((hi - lo) / 16)
		f.origin[a] = lo - margin
		f.size = max(f.size, hi-lo+float64(2*margin))
	}
	if !(f.size > 0) || math.IsInf(f.size, 1) {
		f.size = 1
	}
	if edges := sample(longestEdge); len(edges) > 0 {
		f.usual = edges[len(edges)/2]
	}
	return f
}

// key orders boxes: the size class, then the place on the curve.
func (f *frame) key(b *geom.Box) uint64 {
	key := uint64(f.class(b)) << (3 * curveBits)
	for a := range 3 {
		key |= spread(f.cell(middle(b, a), a)) << a
	}
	return key
}

// class is 0 for boxes up to eight times the usual size, one more for every
// further factor of eight, at most 15.
func (f *frame) class(b *geom.Box) int {
	ratio := longestEdge(b) / f.usual
	if !(ratio > 8) {
		return 0
	}
	_, exp := math.Frexp(min(ratio, 1e30))
	return min(15, (exp-1)/3)
}

// cell is the place of v among the cells of one axis.
func (f *frame) cell(v float64, axis int) uint64 {
	const n = 1 << curveBits
	return uint64(max(0, min(n-1, (v-f.origin[axis])/f.size*n)))
}

func longestEdge(b *geom.Box) float64 {
	s := b.Max.Sub(b.Min)
	return max(s[0], s[1], s[2])
}

// middle is half the sum of the limits without overflow; 0 for a box that is
// infinite in both directions.
func middle(b *geom.Box, axis int) float64 {
	m := float64(b.Min[axis]/2) + float64(b.Max[axis]/2)
	if m != m {
		return 0
	}
	return m
}

// spread puts two zero bits between the low 20 bits of v.
func spread(v uint64) uint64 {
	v = (v | v<<32) & 0x1f00000000ffff
	v = (v | v<<16) & 0x1f0000ff0000ff
	v = (v | v<<8) & 0x100f00f00f00f00f
	v = (v | v<<4) & 0x10c30c30c30c30c3
	return (v | v<<2) & 0x1249249249249249
}
