package cook

import (
	"fmt"
	"math"
	"slices"

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

// What a vertex and a triangle of an object take that is cut, all attributes there. Its
// pieces take little more, unless its triangles are large.
const (
	cutObjectVertex   = 76
	cutObjectTriangle = 12
)

// cutObjectBytes is what all objects that are cut take together. meshes are by
// Scene.Meshes.
func (c *scenePlan) cutObjectBytes(meshes []geometryLoad) (n int64) {
	for i := range c.objects {
		if !c.isCut(i) {
			continue
		}
		for _, at := range c.objects[i].placed {
			n += meshes[at.mesh].vertices*cutObjectVertex + meshes[at.mesh].triangles*cutObjectTriangle
		}
	}
	return n
}

// fewTriangles is how many times as much as the objects themselves their pieces may take
// beyond the memory. More comes of few triangles over very many tiles alone, of which a
// small file would fill the disk.
const fewTriangles = 8

// mostPieceBytes is what pieces may take, in memory and in the temporary file together.
func (c *scenePlan) mostPieceBytes() int64 {
	return max(c.opts.memory(), fewTriangles*c.cutObjectBytes(meshLoads(c.scene)))
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
// reaches, however few triangles there are. It returns them by object, nil when
// they cannot be many, and the most bytes that they take at a time.
func (c *scenePlan) countPieces() (by []int64, held int64, err error) {
	all, allowed, single := 0.0, math.Inf(1), 0.0 // products may exceed whole numbers
	most := make([]int64, len(c.objects))
	for i := range c.objects {
		n := float64(c.triangles(i))
		if c.isCut(i) {
			n = float64(n * float64(c.cellsOf(i)))
			most[i] = int64(min(n, maxPolygons) * bytesPerInner)
			single = max(single, n)
		}
		all += n
	}
	if c.opts.MaxTriangles > 0 {
		allowed = float64(c.opts.MaxTriangles)
	}
	held, _ = c.mostHeld(func(object int, _ int64) (int64, error) { return most[object], nil })
	if all <= allowed && single <= maxPolygons && held <= c.opts.memory()/fewPieces {
		return nil, held, nil
	}
	n := pieceCount{c: c, limit: int64(min(allowed, math.MaxInt64/2)), most: c.mostPieceBytes(), by: make([]int64, len(c.objects))}
	held, err = c.mostHeld(n.begin)
	return n.by, held, err
}

// fewPieces is the part of the memory that pieces may take without being counted.
const fewPieces = 8

// mostHeld returns the most bytes of pieces that are held at a time, if tiles are made in
// their order: those of an object from its first tile to its last. begin tells what an
// object takes before its first tile.
func (c *scenePlan) mostHeld(begin func(object int, held int64) (int64, error)) (most int64, err error) {
	last, bytes := make([]int32, len(c.objects)), make([]int64, len(c.objects))
	for t := range c.planned.Tiles {
		for _, o := range c.planned.Tiles[t].Objects {
			last[o] = int32(t) + 1
		}
	}
	begun, held := make([]bool, len(c.objects)), int64(0)
	for t := range c.planned.Tiles {
		list := c.planned.Tiles[t].Objects
		for _, o := range list {
			if begun[o] {
				continue
			}
			begun[o] = true
			if bytes[o], err = begin(o, held); err != nil {
				return most, err
			}
			held += bytes[o]
			most = max(most, held)
		}
		for _, o := range list {
			if int(last[o]) == t+1 {
				held -= bytes[o]
			}
		}
	}
	return most, nil
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
	most  int64 // bytes that may be held
	cut   int   // objects that were
	total int64
	by    []int64

	at      []geom.Vec3 // corners of some triangles
	corners []uint32    // 0, 1, 2 and so on
}

// begin counts an object before its first tile, while others hold so many bytes, and
// returns what its pieces take.
func (n *pieceCount) begin(object int, held int64) (int64, error) {
	c := n.c
	if !c.isCut(object) {
		n.by[object] = c.triangles(object)
		n.total += n.by[object]
		return 0, nil
	}
	n.cut++
	made, err := n.count(object, min(maxPolygons, n.limit-n.total))
	if err != nil {
		return 0, err
	}
	n.by[object] = made.Polygons
	n.total += made.Polygons
	bytes := pieceBytes(made)
	switch {
	case made.Polygons > maxPolygons:
		return 0, c.tooManyPieces(fmt.Sprintf("object %q would be cut into more than %.0f million pieces", c.objects[object].name, maxPolygons/1e6))
	case n.total > n.limit:
		return 0, c.tooManyPieces(fmt.Sprintf("the scene places and cutting makes more than %d triangles, which is the limit", n.limit))
	case c.opts.MaxTriangles == 0 && held+bytes > n.most:
		return 0, c.tooManyPieces(fmt.Sprintf("%d objects would be cut into more than %d pieces, which take more than the %.0f MB that they may",
			n.cut, n.total, float64(n.most)/1e6))
	}
	return bytes, nil
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
			n.add(&sum, &list[k], world, grid, limit)
			if sum.Polygons > limit {
				return sum, nil
			}
		}
	}
	return sum, nil
}

// countBatch is how many triangles have their corners in the world at a time.
const countBatch = 1 << 10

// add counts the pieces of one primitive, until there are more than limit. Its vertices are
// not moved all at once: they may be most of what the memory has room for.
func (n *pieceCount) add(sum *mesh.SplitCount, p *gltfscene.Primitive, world *geom.Mat4, grid mesh.ClipGrid, limit int64) {
	for list := range slices.Chunk(p.Indices, 3*countBatch) {
		n.at = n.at[:0]
		for _, v := range list {
			n.at = append(n.at, world.Point(geom.FromF32(p.Positions[v])))
		}
		for i := len(n.corners); i < len(list); i++ {
			n.corners = append(n.corners, uint32(i))
		}
		m := mesh.Mesh{Positions: n.at, Indices: n.corners[:len(list)]}
		made := m.CountSplit(grid, limit-sum.Polygons)
		sum.Polygons += made.Polygons
		sum.Inner += made.Inner
		if sum.Polygons > limit {
			return
		}
	}
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

// piecesFull is the refusal of more pieces than the counting has found.
func (c *scenePlan) piecesFull(held int64) error {
	return c.tooManyPieces(fmt.Sprintf("the pieces of objects that lie in several tiles take %.0f MB, and they may take %.0f MB",
		float64(held)/1e6, float64(c.mostPieceBytes())/1e6))
}
