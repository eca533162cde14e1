package partition

import (
	"cmp"
	"math"
	"slices"

	"github.com/untoldkit/untold/manifest"
)

const (
	kdDepth       = 7
	kdLeafObjects = 4
	// kdMinShare: a cut that leaves less than this part on one side makes the
	// other axis worth a try.
	kdMinShare = 0.25
)

// KDTree partitions like Quadtree, but with a kd-tree for every floor, cut
// where half of the floor's triangles are on either side, so that tiles are
// small where the scene is dense. Annotations win over the tree, whose mode
// the plan then has.
//
// It takes O(n log n) time and O(n) memory.
func KDTree(objects []Object, opts FloorOptions) (*Plan, error) {
	return planFloors(objects, opts, manifest.ModeKDTreeFloor)
}

// cut divides a node at a coordinate along an axis: 0 is u, 1 is v.
type cut struct {
	axis int
	at   float64
}

// kdtree holds the trees of all floors: the cuts of the inner nodes.
type kdtree struct {
	root    rect
	compat  bool
	balance Balance
	cuts    map[node]cut
}

// kdItem is an object as the tree sees it: a point and a weight.
type kdItem struct {
	floor  int32
	rank   int32
	center [2]float64
	weight float64
}

func newKDTree(root rect, items []kdItem, compat bool, balance Balance) *kdtree {
	k := &kdtree{root: root, compat: compat, balance: balance, cuts: map[node]cut{}}
	slices.SortFunc(items, func(a, b kdItem) int {
		if a.floor != b.floor {
			return cmp.Compare(a.floor, b.floor)
		}
		return cmp.Compare(a.rank, b.rank)
	})
	for from := 0; from < len(items); {
		to := from
		for to < len(items) && items[to].floor == items[from].floor {
			to++
		}
		k.build(makeNode(int(items[from].floor), 0, 0), root, items[from:to])
		from = to
	}
	return k
}

func (k *kdtree) letter() byte { return 'K' }

// build cuts a node and its children. It reorders items.
func (k *kdtree) build(n node, r rect, items []kdItem) {
	if n.depth() == kdDepth || len(items) <= kdLeafObjects {
		return
	}
	axis := 0
	if r.max[1]-r.min[1] > r.max[0]-r.min[0] {
		axis = 1
	}
	at, share := k.choose(items, axis)
	if !k.compat && share < kdMinShare {
		if otherAt, other := k.choose(items, 1-axis); other > share {
			axis, at, share = 1-axis, otherAt, other
		}
	}
	if share == 0 {
		return
	}
	k.cuts[n] = cut{axis, at}
	low, high := r, r
	low.max[axis], high.min[axis] = at, at
	sortItems(items, axis)
	left := len(items)
	for left > 0 && items[left-1].center[axis] > at {
		left--
	}
	k.build(n.child(0), low, items[:left])
	k.build(n.child(1), high, items[left:])
}

// sortItems orders by position; the rank makes the order unique.
func sortItems(items []kdItem, axis int) {
	before := func(a, b kdItem) int {
		switch x, y := a.center[axis], b.center[axis]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return cmp.Compare(a.rank, b.rank)
	}
	if !slices.IsSortedFunc(items, before) {
		slices.SortFunc(items, before)
	}
}

// choose returns where to cut, and the share of the lesser side; 0 when all
// objects would be on one side.
func (k *kdtree) choose(items []kdItem, axis int) (at, share float64) {
	sortItems(items, axis)
	if k.compat && k.balance == BalanceObjects {
		at = items[len(items)/2].center[axis]
		if items[len(items)-1].center[axis] <= at {
			return at, 0
		}
		return at, 0.5
	}
	weight := func(i kdItem) float64 {
		if k.balance == BalanceObjects {
			return 1
		}
		return i.weight
	}
	var total, left float64
	for _, i := range items {
		total += weight(i)
	}
	for i := range items[:len(items)-1] {
		left += weight(items[i])
		a, b := items[i].center[axis], items[i+1].center[axis]
		if a == b {
			continue
		}
		if s := min(left, total-left) / total; s > share {
			share = s
			// Between two middles, so that neither object is cut in half.
			if at = middle(a, b); !(at >= a && at < b) {
				at = a
			}
		}
	}
	return at, share
}

func (k *kdtree) place(floor int, b rect) (node, bool) {
	n := makeNode(floor, 0, 0)
	for {
		c, ok := k.cuts[n]
		if !ok {
			return n, false
		}
		lo, hi := b.min[c.axis], b.max[c.axis]
		switch {
		case lo < c.at && c.at < hi:
			return n, true
		case hi <= c.at:
			n = n.child(0)
		default:
			n = n.child(1)
		}
	}
}

func (k *kdtree) rect(n node) rect {
	r := k.root
	at := makeNode(n.floor(), 0, 0)
	for i := range n.depth() {
		c := k.cuts[at]
		if n.digit(i) == 0 {
			r.max[c.axis] = c.at
		} else {
			r.min[c.axis] = c.at
		}
		at = at.child(n.digit(i))
	}
	return r
}

// kdItems lists the objects that the trees share out.
func (r *floorRun) kdItems() []kdItem {
	items := make([]kdItem, 0, len(r.order))
	for rank, i := range r.order {
		o := &r.objects[i]
		if o.Box.IsEmpty() {
			continue
		}
		items = append(items, kdItem{
			floor: r.plan.Objects[i].Floor, rank: int32(rank), center: rectOf(o.Box).middle(),
			weight: float64(min(max(o.Triangles, 1), math.MaxInt32)),
		})
	}
	return items
}
