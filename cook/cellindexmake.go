package cook

import (
	"cmp"
	"context"
	"slices"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/mesh"
)

// Meshes of fewer bytes have no index: reading all of them costs little.
const leastIndexed = 2 << 10

// Runs have at least so many triangles, and there are at most so many of them, so that an
// index is small beside what it leads to.
const (
	leastRun = 8
	mostRuns = 1 << 18
)

// An index is of no use where a triangle is needed by more cells than that, in the mean, or
// by more than three of four of them: where triangles are stored in no order.
const mostNeeded = 16

// mostNeed is the sum, over so many triangles, of the cells that need each, up to which an
// index is of use.
func mostNeed(triangles int, cells int64) int64 {
	return int64(triangles) * min(4*mostNeeded, 3*cells) / 4
}

// makeIndexes finds which triangles the cells need that objects are cut into. Meshes that
// are placed several times have no index: a shard keeps what it has read of them.
func (c *scenePlan) makeIndexes(ctx context.Context, b *tileBuilder) (list cellIndexes, err error) {
	uses := make([]int, len(c.scene.Meshes))
	for i := range c.objects {
		for _, at := range c.objects[i].placed {
			uses[at.mesh]++
		}
	}
	for i := range c.objects {
		if !c.isCut(i) {
			continue
		}
		for k, at := range c.objects[i].placed {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if uses[at.mesh] > 1 || !c.worthIndex(at.mesh) {
				continue
			}
			made, err := c.indexMesh(b, i, k)
			if err != nil {
				return nil, err
			}
			list = append(list, made...)
		}
	}
	return list, nil
}

// worthIndex tells whether a mesh is large, and read by ranges at least in parts.
func (c *scenePlan) worthIndex(mesh int) bool {
	n, ranged := geometryLoad{}, false
	for k := range c.scene.Meshes[mesh].Parts {
		p := &c.scene.Meshes[mesh].Parts[k]
		n.add(geometryLoad{vertices: int64(p.Vertices), triangles: int64(p.Triangles)})
		ranged = ranged || c.scene.Ranged(mesh, k)
	}
	return ranged && storedBytes(n) >= leastIndexed
}

// indexMesh makes the indexes of all parts of a mesh; none if they are of no use.
func (c *scenePlan) indexMesh(b *tileBuilder, object, placed int) (list cellIndexes, err error) {
	at := c.objects[object].placed[placed]
	parts, err := c.scene.Geometry(at.mesh)
	if err != nil {
		return nil, err
	}
	grid := mesh.NewClipGrid(c.planned, c.planned.Objects[object].Cells)
	useful := false
	for k := range parts {
		x := cellIndex{object: object, placed: placed, part: k}
		if c.scene.Ranged(at.mesh, k) {
			cut := newRowCut(b, at, &parts[k], &c.scene.Nodes[at.node].World, grid)
			x.runs, x.cells = cut.index()
		}
		if x.runs == nil {
			x.whole = meshSum("", parts[k:k+1])
		}
		useful = useful || x.runs != nil
		list = append(list, x)
	}
	if !useful {
		return nil, nil
	}
	return list, nil
}

// index finds which triangles each cell needs, in runs. There is nothing where cells need
// more than what is near, or nearly all.
func (c *rowCut) index() ([]cellRun, []cellSum) {
	cells := int64(1)
	for _, planes := range c.grid.Planes {
		if len(planes) >= mostCells {
			return nil, nil
		}
		cells *= int64(len(planes)) + 1
	}
	c.locate()
	need, several := c.needed()
	if !several || !c.local() { // Split may return a mesh in one cell itself
		return nil, nil
	}
	least := max(leastRun, c.triangles()/mostRuns+1)
	var runs []cellRun
	run, sum, most := cellRun{}, int64(0), mostNeed(c.triangles(), cells)
	for t := range c.triangles() {
		box := need(t)
		if int(run.triangles) >= least && box != run.cells {
			runs, sum, run.triangles = append(runs, run), sum+int64(run.triangles)*run.cells.number(), 0
			if sum > most {
				return nil, nil
			}
		}
		if run.triangles == 0 {
			run.cells = noCells
		}
		run.cells.add(box)
		run.triangles++
	}
	if runs, sum = append(runs, run), sum+int64(run.triangles)*run.cells.number(); sum > most {
		return nil, nil
	}
	return runs, c.sums(runs)
}

// needed returns what tells which cells need a triangle, and whether triangles lie in
// several cells.
func (c *rowCut) needed() (need func(triangle int) cellBox, several bool) {
	var hint [3]int
	reached := func(t int) (box cellBox) {
		i := c.p.Indices[3*t:][:3]
		a, b, d := c.at(i[0]), c.at(i[1]), c.at(i[2])
		first, last := c.grid.Reach(&a, &b, &d, hint)
		hint = first
		for k := range first {
			box.least[k], box.most[k] = uint16(first[k]), uint16(last[k])
		}
		return box
	}
	var around []cellBox // by place: the cells that triangles reach which have a corner there
	if c.place != nil {
		around = make([]cellBox, len(c.place))
		for v := range around {
			around[v] = noCells
		}
	}
	all := noCells
	for t := range c.triangles() {
		box := reached(t)
		all.add(box)
		if around == nil {
			continue
		}
		for _, v := range c.p.Indices[3*t:][:3] {
			around[c.place[v]].add(box)
		}
	}
	if several = all.number() > 1; around == nil {
		return reached, several
	}
	return func(t int) cellBox {
		box := noCells
		for _, v := range c.p.Indices[3*t:][:3] {
			box.add(around[c.place[v]])
		}
		return box
	}, several
}

// sums hashes what each cell needs.
func (c *rowCut) sums(runs []cellRun) []cellSum {
	h, sums, at := newRunHasher(c.p), cellSums{}, 0
	for _, r := range runs {
		sums.add(h.sum(at, at+int(r.triangles)), r.cells, func([3]int) bool { return true })
		at += int(r.triangles)
	}
	list := make([]cellSum, 0, len(sums))
	for cell, s := range sums {
		list = append(list, cellSum{cell, s})
	}
	slices.SortFunc(list, func(a, b cellSum) int { return slices.Compare(a.cell[:], b.cell[:]) })
	return list
}

// search returns the number of the first index of what an object places, or of what comes
// behind it.
func (list cellIndexes) search(object, placed int) int {
	n, _ := slices.BinarySearchFunc(list, [2]int{object, placed}, func(x cellIndex, at [2]int) int {
		return cmp.Or(cmp.Compare(x.object, at[0]), cmp.Compare(x.placed, at[1]))
	})
	return n
}

func (r *cellRun) anyCell(wanted func(cell [3]int) bool) bool {
	first, last := r.cells.reach()
	return mesh.AnyCell(first, last, wanted)
}

// cutKnown cuts of a primitive what tiles need that have not asked yet, and reads no more.
func (s *splitter) cutKnown(run *cutRun, at placed, x *cellIndex, grid mesh.ClipGrid) error {
	if x.runs == nil {
		p, err := s.b.scene.GeometryOf(at.mesh, x.part, nil)
		if err != nil {
			return err
		}
		if meshSum("", []gltfscene.Primitive{p}) != x.whole {
			return s.foreign(run.object)
		}
		return s.cutPrimitive(run, at, &p, grid)
	}
	wanted := func(cell [3]int) bool { return run.e.tiles[cell] && !run.e.gone[cell] }
	triangles, runs := x.choose(wanted)
	if len(triangles) == 0 {
		return nil
	}
	p, err := s.b.scene.GeometryOf(at.mesh, x.part, triangles)
	if err != nil {
		return err
	}
	if !x.matches(&p, runs, wanted) {
		return s.foreign(run.object)
	}
	return s.cutCells(run, at, &p, grid, wanted)
}
