package cook

import (
	"fmt"
	"math"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
)

// What a piece of a triangle takes until its tile has been built, in bytes, and
// at least: one that fills its cell has four vertices and two triangles of its
// own, others may share all but half a vertex with their neighbours. The second is
// fitted to 171 bytes a piece that were in use at the peak of a cook of 5 million,
// three quarters of which fill their cells, and a tenth below it.
const (
	bytesPerPolygon = 30
	bytesPerInner   = 200
)

func pieceBytes(n mesh.SplitCount) int64 {
	return (n.Polygons-n.Inner)*bytesPerPolygon + n.Inner*bytesPerInner
}

// maxPolygons bounds what cutting one object may produce, whatever the memory.
const maxPolygons = 100e6

// isCut reports whether an object is cut at the borders of tiles.
func (c *scenePlan) isCut(object int) bool {
	p := &c.planned.Objects[object]
	return c.opts.Clip && !c.opts.hasFloors() && p.InTiles && p.Cells.Min != p.Cells.Max
}

// cellsOf returns in how many tiles an object is cut.
func (c *scenePlan) cellsOf(object int) int64 {
	n := int64(1)
	for a, last := range c.planned.Objects[object].Cells.Max {
		n *= 1 + int64(last) - int64(c.planned.Objects[object].Cells.Min[a])
	}
	return n
}

// countPieces counts what cutting makes of the objects, and refuses what there
// is no room for before any of it is made: a piece for every cell that a triangle
// reaches, however few triangles there are. The pieces of an object are held
// from its first tile to its last. It returns them by object, and nothing when
// they cannot be many.
func (c *scenePlan) countPieces() (map[int]int64, error) {
	most, allowed := 0.0, int64(math.MaxInt64) // products may exceed whole numbers
	for i := range c.objects {
		cells := 1.0
		if c.isCut(i) {
			cells = float64(c.cellsOf(i))
		}
		most += float64(float64(c.triangles(i)) * cells)
	}
	if c.opts.MaxTriangles > 0 {
		allowed = int64(c.opts.MaxTriangles)
	}
	if most <= float64(min(allowed, c.opts.memory()/bytesPerInner, maxPolygons)) {
		return nil, nil
	}
	n := pieceCount{c: c, limit: allowed, by: map[int]int64{}, bytes: map[int]int64{}}
	last := map[int]int{}
	for t := range c.planned.Tiles {
		for _, o := range c.planned.Tiles[t].Objects {
			last[o] = t
		}
	}
	for t := range c.planned.Tiles {
		for _, o := range c.planned.Tiles[t].Objects {
			if err := n.begin(o); err != nil {
				return nil, err
			}
		}
		for _, o := range c.planned.Tiles[t].Objects {
			if last[o] == t {
				n.held -= n.bytes[o]
			}
		}
	}
	return n.by, nil
}

// triangles returns how many an object places, with those of all its levels.
func (c *scenePlan) triangles(object int) (n int64) {
	for _, at := range c.objects[object].placed {
		n += int64(c.scene.Meshes[at.mesh].Triangles())
	}
	return n
}

// pieceCount adds up objects in the order in which tiles need them.
type pieceCount struct {
	c     *scenePlan
	limit int64 // of triangles, as the caller has set it
	cut   int   // objects that were
	total int64
	held  int64 // bytes
	by    map[int]int64
	bytes map[int]int64
	at    []geom.Vec3 // of the vertices of one primitive
}

// begin counts an object before its first tile.
func (n *pieceCount) begin(object int) error {
	if _, ok := n.by[object]; ok {
		return nil
	}
	c := n.c
	if !c.isCut(object) {
		n.by[object] = c.triangles(object)
		n.total += n.by[object]
		return nil
	}
	n.cut++
	made, err := n.count(object, min(maxPolygons, n.limit-n.total))
	if err != nil {
		return err
	}
	n.by[object] = made.Polygons
	n.bytes[object] = pieceBytes(made)
	n.total += made.Polygons
	n.held += n.bytes[object]
	memory := c.opts.memory()
	switch {
	case made.Polygons > maxPolygons:
		return c.tooManyPieces(fmt.Sprintf("object %q would be cut into more than %.0f million pieces", c.objects[object].name, maxPolygons/1e6))
	case n.total > n.limit:
		return c.tooManyPieces(fmt.Sprintf("the scene places and cutting makes more than %d triangles, which is the limit", n.limit))
	case c.opts.MaxTriangles == 0 && n.held > memory:
		return c.tooManyPieces(fmt.Sprintf("%d objects would be cut into more than %d pieces, which take more than the %.0f MB of memory that can be had",
			n.cut, n.total, float64(memory)/1e6))
	}
	return nil
}

// count counts the pieces of one object.
func (n *pieceCount) count(object int, limit int64) (sum mesh.SplitCount, err error) {
	c := n.c
	grid := mesh.NewClipGrid(c.planned, c.planned.Objects[object].Cells)
	for _, at := range c.objects[object].placed {
		world := &c.scene.Nodes[at.node].World
		list, err := c.scene.Geometry(at.mesh)
		if err != nil {
			return sum, err
		}
		for k := range list {
			p := &list[k]
			n.at = n.at[:0]
			for _, v := range p.Positions {
				n.at = append(n.at, world.Point(geom.FromF32(v)))
			}
			m := mesh.Mesh{Positions: n.at, Indices: p.Indices}
			made := m.CountSplit(grid, limit-sum.Polygons)
			sum.Polygons += made.Polygons
			sum.Inner += made.Inner
			if sum.Polygons > limit {
				return sum, nil
			}
		}
	}
	return sum, nil
}

// tooManyPieces is the refusal of a cut.
func (c *scenePlan) tooManyPieces(reason string) error {
	size := c.planned.TileSize
	return &gltfscene.Error{
		File: c.path, Place: fmt.Sprintf("tiles of %v x %v m", size[0], size[2]), Reason: reason,
		Hint: "make tiles larger (Options.TileSize), do not cut (Options.Clip), give large objects the node extra \"untold_tile_policy\": \"force_shared\", or allow as many by Options.MaxTriangles",
		Err:  gltfscene.ErrTooLarge,
	}
}

// piecesFull is the refusal when the memory is full of pieces that are made.
func (c *scenePlan) piecesFull(held int64) error {
	return c.tooManyPieces(fmt.Sprintf("the pieces of objects that lie in several tiles take %.0f MB, and %.0f MB of memory can be had",
		float64(held)/1e6, float64(c.opts.memory())/1e6))
}
