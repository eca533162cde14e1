package octree

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// The indexes that the packed tree was measured against. Both answer exactly
// like it; TestBaselinesAgree sees to that.

// pointerTree is the octree that the reference engine uses, with bounds from the
// boxes: an entry stays at the smallest node that
// holds it as a whole, leaves split beyond 16 entries, at most 12 levels.
type pointerTree struct {
	boxes []geom.Box
	root  *octant
}

type octant struct {
	box   geom.Box
	ids   []int32
	child *[8]*octant
	depth int
}

func newPointerTree(boxes []geom.Box) *pointerTree {
	world := geom.EmptyBox()
	for _, b := range boxes {
		world = world.Union(b)
	}
	// A cube, or flat scenes are cut in their height first.
	size := world.Size()
	edge := max(size[0], size[1], size[2])
	world.Max = world.Min.Add(geom.Vec3{edge, edge, edge})
	t := &pointerTree{boxes: boxes, root: &octant{box: world}}
	for i := range boxes {
		t.root.insert(boxes, int32(i))
	}
	return t
}

func (o *octant) insert(boxes []geom.Box, id int32) {
	if o.child == nil {
		o.ids = append(o.ids, id)
		if len(o.ids) > 16 && o.depth < 12 {
			o.split(boxes)
		}
		return
	}
	if c := o.holder(&boxes[id]); c != nil {
		c.insert(boxes, id)
	} else {
		o.ids = append(o.ids, id)
	}
}

func (o *octant) split(boxes []geom.Box) {
	mid := o.box.Center()
	o.child = new([8]*octant)
	for i := range o.child {
		b := o.box
		for a := range 3 {
			if i>>a&1 == 0 {
				b.Max[a] = mid[a]
			} else {
				b.Min[a] = mid[a]
			}
		}
		o.child[i] = &octant{box: b, depth: o.depth + 1}
	}
	ids := o.ids
	o.ids = nil
	for _, id := range ids {
		o.insert(boxes, id)
	}
}

func (o *octant) holder(b *geom.Box) *octant {
	for _, c := range o.child {
		if c.box.Contains(*b, 0) {
			return c
		}
	}
	return nil
}

func (t *pointerTree) sphere(center geom.Vec3, r float64, out []int32) []int32 {
	n := len(out)
	out = t.root.sphere(t.boxes, center, r, out)
	slices.Sort(out[n:])
	return out
}

func (o *octant) sphere(boxes []geom.Box, center geom.Vec3, r float64, out []int32) []int32 {
	if o.box.Distance(center) > r {
		return out
	}
	for _, id := range o.ids {
		if boxes[id].Distance(center) <= r {
			out = append(out, id)
		}
	}
	if o.child != nil {
		for _, c := range o.child {
			out = c.sphere(boxes, center, r, out)
		}
	}
	return out
}

// hashGrid puts each box in the horizontal cell of its middle, cells being
// twice the mean edge; a query looks at all cells within r plus half the
// longest edge.
type hashGrid struct {
	boxes []geom.Box
	cell  float64
	reach float64
	cells map[[2]int32][]int32
}

func newHashGrid(boxes []geom.Box) *hashGrid {
	g := &hashGrid{boxes: boxes, cells: map[[2]int32][]int32{}}
	for _, b := range boxes {
		s := b.Size()
		g.cell += (s[0] + s[2]) / float64(len(boxes))
		g.reach = max(g.reach, s[0]/2, s[2]/2)
	}
	for i, b := range boxes {
		k := g.key(b.Center())
		g.cells[k] = append(g.cells[k], int32(i))
	}
	return g
}

func (g *hashGrid) key(p geom.Vec3) [2]int32 {
	return [2]int32{int32(math.Floor(p[0] / g.cell)), int32(math.Floor(p[2] / g.cell))}
}

func (g *hashGrid) sphere(center geom.Vec3, r float64, out []int32) []int32 {
	n := len(out)
	d := r + g.reach
	lo, hi := g.key(center.Sub(geom.Vec3{d, 0, d})), g.key(center.Add(geom.Vec3{d, 0, d}))
	for z := lo[1]; z <= hi[1]; z++ {
		for x := lo[0]; x <= hi[0]; x++ {
			for _, id := range g.cells[[2]int32{x, z}] {
				if g.boxes[id].Distance(center) <= r {
					out = append(out, id)
				}
			}
		}
	}
	slices.Sort(out[n:])
	return out
}
