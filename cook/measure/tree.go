package measure

import (
	"math"
	"sync"
)

// node is a box of a binary tree of boxes. The left child follows its parent.
type node struct {
	min, max [3]float32 // rounded outwards
	next     uint32     // the right child, or the first triangle of a leaf in leaf order
	count    uint32     // triangles of a leaf, 0 for an inner node
}

const (
	leafSize = 4
	bins     = 16
	// Below maxCost levels the tree is split in halves, which bounds the depth.
	maxCost  = 48
	maxStack = maxCost + 34
	// parallelSize is the number of triangles from which on a subtree is worth
	// a goroutine.
	parallelSize = 1 << 16
)

// ref is a triangle's box while the tree is built.
type ref struct {
	min, max [3]float32
	tri      uint32
}

func (r *ref) middle(axis int) float32 { return r.min[axis] + r.max[axis] }

// build makes the tree top down; each split is the cheapest of 16 along the
// longest axis by the surface area heuristic (Wald, On fast Construction of
// SAH-based Bounding Volume Hierarchies, 2007). A subtree of n triangles takes
// up to 2n-1 nodes and gets as many: its place does not depend on the order in
// which subtrees are built.
func (x *Index) build() {
	n := x.s.Triangles()
	x.order = make([]uint32, n)
	if n == 0 {
		return
	}
	refs := make([]ref, n)
	for t := range refs {
		r := &refs[t]
		r.tri = uint32(t)
		for axis := range 3 {
			a, b, c := x.s.corner(r.tri, 0)[axis], x.s.corner(r.tri, 1)[axis], x.s.corner(r.tri, 2)[axis]
			r.min[axis], r.max[axis] = below(min(a, b, c)), above(max(a, b, c))
		}
	}
	x.nodes = make([]node, 2*n-1)
	var wg sync.WaitGroup
	x.split(refs, extentOf(refs), 0, 0, 0, &wg)
	wg.Wait()
}

// split fills the node at and all below it with refs, whose leaf order starts
// at first.
func (x *Index) split(refs []ref, e extent, at, first uint32, depth int, wg *sync.WaitGroup) {
	for {
		nd := &x.nodes[at]
		nd.min, nd.max = e.box.min, e.box.max
		if len(refs) <= leafSize {
			nd.next, nd.count = first, uint32(len(refs))
			for i := range refs {
				x.order[int(first)+i] = refs[i].tri
			}
			return
		}
		m := 0
		var left, right extent
		if depth < maxCost {
			m, left, right = partition(refs, &e)
		}
		if m == 0 {
			m = len(refs) / 2
			left, right = extentOf(refs[:m]), extentOf(refs[m:])
		}
		next := at + 2*uint32(m)
		nd.next = next
		depth++
		if len(refs) >= parallelSize {
			wg.Add(1)
			go func(refs []ref, at, first uint32, depth int) {
				defer wg.Done()
				x.split(refs, left, at, first, depth, wg)
			}(refs[:m], at+1, first, depth)
		} else {
			x.split(refs[:m], left, at+1, first, depth, wg)
		}
		refs, e, at, first = refs[m:], right, next, first+uint32(m)
	}
}

// partition reorders refs and returns how many belong to the left, and what either side
// covers; 0 if they are to be halved.
func partition(refs []ref, e *extent) (m int, left, right extent) {
	lo, hi := e.middles.min, e.middles.max
	axis := 0
	for k := 1; k < 3; k++ {
		if hi[k]-lo[k] > hi[axis]-lo[axis] {
			axis = k
		}
	}
	scale := bins / (hi[axis] - lo[axis])
	if !(hi[axis] > lo[axis]) || math.IsInf(float64(scale), 0) {
		return 0, left, right // all in one place
	}
	c := cutter{axis: axis, from: lo[axis], scale: scale}
	cut, left, right := c.cheapest(refs)
	i, j := 0, len(refs)
	for i < j {
		if c.bin(&refs[i]) < cut {
			i++
		} else {
			j--
			refs[i], refs[j] = refs[j], refs[i]
		}
	}
	if i == len(refs) {
		return 0, left, right
	}
	return i, left, right
}

// cutter shares triangles out to bins along an axis.
type cutter struct {
	axis        int
	from, scale float32
}

func (c *cutter) bin(r *ref) int { return min(int((r.middle(c.axis)-c.from)*c.scale), bins-1) }

// cheapest returns the bin at which the right side starts, and what either side covers.
func (c *cutter) cheapest(refs []ref) (cut int, left, right extent) {
	var parts [bins]extent
	var counts [bins]int
	for i := range refs {
		r := &refs[i]
		b := c.bin(r)
		if counts[b]++; counts[b] == 1 {
			parts[b] = extent{emptyRef, emptyRef}
		}
		parts[b].add(r)
	}
	// Most sets are small, and most bins empty: a cut behind an empty bin is that before it.
	var used [bins]int
	n := 0
	for b, count := range counts {
		if count > 0 {
			used[n] = b
			n++
		}
	}
	var rightCost [bins]float64 // of the bins after one
	acc, many := emptyRef, 0
	for k := n - 1; k > 0; k-- {
		acc.extend(&parts[used[k]].box)
		many += counts[used[k]]
		rightCost[k-1] = acc.area() * float64(many)
	}
	acc, many = emptyRef, 0
	best := math.Inf(1)
	cut = bins / 2
	for k := range max(n-1, 0) {
		acc.extend(&parts[used[k]].box)
		many += counts[used[k]]
		if cost := float64(acc.area()*float64(many)) + rightCost[k]; cost < best {
			cut, best = used[k]+1, cost
		}
	}
	left, right = extent{emptyRef, emptyRef}, extent{emptyRef, emptyRef}
	for _, b := range used[:n] {
		side := &left
		if b >= cut {
			side = &right
		}
		side.box.extend(&parts[b].box)
		side.middles.extend(&parts[b].middles)
	}
	return cut, left, right
}

var emptyRef = ref{
	min: [3]float32{math.MaxFloat32, math.MaxFloat32, math.MaxFloat32},
	max: [3]float32{-math.MaxFloat32, -math.MaxFloat32, -math.MaxFloat32},
}

// extend has no branches: nothing foretells them.
func (r *ref) extend(o *ref) {
	r.min = [3]float32{min(r.min[0], o.min[0]), min(r.min[1], o.min[1]), min(r.min[2], o.min[2])}
	r.max = [3]float32{max(r.max[0], o.max[0]), max(r.max[1], o.max[1]), max(r.max[2], o.max[2])}
}

// extent is the box round triangles, and the one round their doubled middles.
type extent struct{ box, middles ref }

func (e *extent) add(r *ref) {
	e.box.extend(r)
	x, y, z := r.middle(0), r.middle(1), r.middle(2)
	m := &e.middles
	m.min = [3]float32{min(m.min[0], x), min(m.min[1], y), min(m.min[2], z)}
	m.max = [3]float32{max(m.max[0], x), max(m.max[1], y), max(m.max[2], z)}
}

func extentOf(refs []ref) extent {
	e := extent{emptyRef, emptyRef}
	for i := range refs {
		e.add(&refs[i])
	}
	return e
}

// area returns half the area of the box, 0 for the empty one.
func (r *ref) area() float64 {
	var d [3]float64
	for k := range d {
		d[k] = max(float64(r.max[k])-float64(r.min[k]), 0)
	}
	return float64(d[0]*d[1]) + float64(d[1]*d[2]) + float64(d[2]*d[0])
}

// below and above round to single precision, away from the box.
func below(v float64) float32 {
	f := float32(v)
	if float64(f) > v {
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return f
}

func above(v float64) float32 {
	f := float32(v)
	if float64(f) < v {
		f = math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}
