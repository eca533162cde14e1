package partition

import (
	"strconv"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

// quadtreeDepth is the depth of the smallest nodes.
const quadtreeDepth = 6

// Quadtree partitions by floors, every floor by a quadtree over the scene's
// footprint, and every node by semantic tier.
//
// An object goes into exactly one tile, that of the deepest node that holds
// it whole, or into the shared bucket; geometry is not cut. Objects with empty
// boxes are skipped; NaN and infinite boxes are ErrBadBox; nothing to
// partition is ErrNoObjects. When at least half of the objects carry
// annotations those are followed instead of a tree, and objects without go to
// the shared bucket.
//
// It takes O(n log n) time and O(n) memory.
func Quadtree(objects []Object, opts FloorOptions) (*Plan, error) {
	return planFloors(objects, opts, manifest.ModeQuadtreeFloor)
}

// node names a node of a floor's tree: floor, depth and the path's digits,
// two bits each.
type node uint64

const (
	nodePathBits  = 16
	nodeDepthBits = 8
)

func makeNode(floor, depth int, path uint64) node {
	return node(uint64(floor)<<(nodePathBits+nodeDepthBits) | uint64(depth)<<nodePathBits | path)
}

func (n node) floor() int   { return int(n >> (nodePathBits + nodeDepthBits)) }
func (n node) depth() int   { return int(n >> nodePathBits & (1<<nodeDepthBits - 1)) }
func (n node) path() uint64 { return uint64(n) & (1<<nodePathBits - 1) }

// child returns the node's child with a digit from 0 to 3.
func (n node) child(digit uint64) node {
	return makeNode(n.floor(), n.depth()+1, n.path()<<2|digit)
}

// parent is for nodes below a root.
func (n node) parent() node { return makeNode(n.floor(), n.depth()-1, n.path()>>2) }

// digit returns the path's digit at a depth, counted from 0.
func (n node) digit(at int) uint64 { return n.path() >> (2 * (n.depth() - 1 - at)) & 3 }

// id returns the node's name, such as F02_Q_0_3; letter is the tree's.
func (n node) id(letter byte) string {
	b := append(make([]byte, 0, 24), 'F')
	if n.floor()+1 < 10 {
		b = append(b, '0')
	}
	b = strconv.AppendInt(b, int64(n.floor()+1), 10)
	b = append(b, '_', letter)
	for i := range n.depth() {
		b = append(b, '_', byte('0'+n.digit(i)))
	}
	return string(b)
}

// rect is a rectangle along u and v.
type rect struct{ min, max [2]float64 }

// rectOf returns a box's footprint.
func rectOf(b geom.Box) rect {
	lo, hi := toGrid(b)
	return rect{[2]float64{lo[0], lo[2]}, [2]float64{hi[0], hi[2]}}
}

// middle of an interval; halves first, as the sum may lose more.
func middle(a, b float64) float64 { return float64(a*0.5) + float64(b*0.5) }

func (r rect) middle() [2]float64 {
	return [2]float64{middle(r.min[0], r.max[0]), middle(r.min[1], r.max[1])}
}

// quarter returns one of the four children.
func (r rect) quarter(digit uint64) rect {
	m := r.middle()
	for axis := range 2 {
		if digit>>axis&1 == 0 {
			r.max[axis] = m[axis]
		} else {
			r.min[axis] = m[axis]
		}
	}
	return r
}

// tree places objects in the nodes of a floor's tree.
type tree interface {
	// place returns the object's node, and whether it crosses the borders of
	// that node's children.
	place(floor int, b rect) (node, bool)
	// rect returns the node's rectangle.
	rect(n node) rect
	letter() byte
}

// quadtree is the same for all floors.
type quadtree struct {
	root   rect
	compat bool
}

func (q *quadtree) letter() byte { return 'Q' }

func (q *quadtree) place(floor int, b rect) (node, bool) {
	n, cell := makeNode(floor, 0, 0), q.root
	for n.depth() < quadtreeDepth {
		digit, ok := q.side(b, cell.middle())
		if !ok {
			return n, true
		}
		n, cell = n.child(digit), cell.quarter(digit)
	}
	return n, false
}

// side returns the child that holds a rectangle. On a midline it goes by its
// middle; in compat mode touching the midline is crossing it.
func (q *quadtree) side(b rect, mid [2]float64) (digit uint64, ok bool) {
	for axis := range 2 {
		lo, hi, m := b.min[axis], b.max[axis], mid[axis]
		switch {
		case q.compat && lo <= m && hi >= m:
			return 0, false
		case lo >= m:
			digit |= 1 << axis
		case hi > m:
			return 0, false
		}
	}
	return digit, true
}

func (q *quadtree) rect(n node) rect {
	r := q.root
	for i := range n.depth() {
		r = r.quarter(n.digit(i))
	}
	return r
}
