package cook

import (
	"fmt"
	"math"
	"slices"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/pyramid"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/partition"
)

// What a node of the pyramid may take, and how it is made.
const (
	nodeTriangles = 4000
	nodeTexels    = 512 // along a side of its square of base colours
	nodeRays      = 12  // for the light that tiles take from themselves
	nodeSamples   = 2   // of tiles, along each side of a texel
	// borderParts is the side of a node's cell in parts of what its border may be off,
	// cutParts, above nodes, in parts of the smallest thing whose cut neighbours share, about
	// what a node is off by, and flushParts of what may stand off a wall and be shown by its
	// texture alone.
	borderParts = 1280
	cutParts    = 32
	flushParts  = 320
	// autoPyramidTiles is how many tiles are drawn to the horizon without a pyramid: each
	// is a draw at least, and takes memory wherever the camera is.
	autoPyramidTiles = 400
	// splitAround is how many times the tiles of all else a ground may be cut into.
	splitAround = 8
)

// nodeSide returns the longer side of the cells of a level, 0 for tiles. Neighbours in a
// grid have the same, so that they get the same tolerances; in a tree, which cuts
// nothing, it is that of the own cell.
func (c *scenePlan) nodeSide(level int, cell geom.Box) float64 {
	if c.opts.hasFloors() {
		return max(cell.Size()[0], cell.Size()[2])
	}
	size := c.planned.Tiles[0].Cell.Size()
	return math.Ldexp(max(size[0], size[2]), level)
}

// node is a node of the pyramid, planned and then built.
type node struct {
	manifest.PyramidNode
	model    *pyramid.Model // until it is written
	textures []string
	scales   map[string]float64
	files    []texture.Cooked // of the textures
	written  []fileRecord     // these, and the container last
}

// makesPyramid reports whether there is one: a scene that is wanted whole needs none.
func (c *scenePlan) makesPyramid() bool { return c.pyramid && !c.whole && !c.opts.DryRun }

// partition plans the tiles, and says whether they get a pyramid. The ground of a city is
// to end in it like all else, so with one it is cut into more tiles; what is far larger
// than all else together, as a sky, is not.
func (o *Options) partition(inputs []partition.Object) (p *partition.Plan, pyramid bool, err error) {
	side := 0.0
	if o.planned != nil {
		side = o.planned.head.side
	}
	p, err = o.partitionWith(inputs, o.SplitMaxTiles, side)
	if err != nil {
		return nil, false, err
	}
	if o.planner != nil {
		o.planner.side = p.Side
	}
	tiles := seenTiles(p)
	if !o.Pyramid && (!o.AutoPyramid || tiles <= autoPyramidTiles) {
		return p, false, nil
	}
	if most := splitAround * tiles; o.SplitMaxTiles == partition.DefaultSplitMaxTiles && most > o.SplitMaxTiles && len(p.Shared) > 0 {
		p, err = o.partitionWith(inputs, most, p.Side)
	}
	return p, true, err
}

// seenTiles counts the tiles that are seen from afar.
func seenTiles(p *partition.Plan) int {
	n := 0
	for i := range p.Tiles {
		if !p.Tiles[i].Interior {
			n++
		}
	}
	return n
}

// above is what stands for a part of the scene so far: a tile in full, or a node.
type above struct {
	id    string
	level int // 0: a tile
	cell  geom.Box
	pyramid.Child
}

// texels is the side of a node's square of base colours.
func (o *Options) texels() int {
	if o.nodeTexels > 0 {
		return o.nodeTexels
	}
	return nodeTexels
}

// around returns the box around cells.
func around(cells []above) geom.Box {
	b := geom.EmptyBox()
	for i := range cells {
		b = b.Union(cells[i].cell)
	}
	return b
}

// nodeParts returns a tile's full geometry as nodes are made of it.
func (b *tileBuilder) nodeParts(src *levelSource) ([]pyramid.Part, error) {
	var parts []pyramid.Part
	for g, shape := range src.take(src.mesh()) {
		if shape == nil {
			continue
		}
		m := &b.materials[src.names[g].material]
		if m.AlphaMode == gltfscene.AlphaBlend && m.BaseColor[3] < blendedLeast {
			continue
		}
		p := pyramid.Part{
			Positions: shape.Positions, Normals: shape.Normals, UV: shape.UV[0], Colors: shape.Colors, Indices: shape.Indices,
		}
		var err error
		if p.Look, err = b.look(src.names[g].material); err != nil {
			return nil, err
		}
		if p.Look.Masked {
			p.Look.Cutoff = leafCutoff
		}
		p.Look.Emissive = [3]float32{} // a lamp glows in places only, which the model's look cannot tell
		if p.Bake, err = b.baked.look(b, m); err != nil {
			return nil, err
		}
		if isFoliage(m) && !p.Bake.Masked { // leaves that are blended have cards as well
			p.Bake.Masked, p.Bake.Cutoff = true, 0.5
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// buildNode makes a node out of what lies below it, and writes it. It returns nil where
// no triangle is left.
func (c *scenePlan) buildNode(b *tileBuilder, cell *nodeCell, below []above, jobs int) (*node, error) {
	n := &node{PyramidNode: manifest.PyramidNode{ID: cell.id, Level: cell.level}}
	children, cells := make([]pyramid.Child, len(below)), make([]geom.Box, len(below))
	highest := 0
	for i := range below {
		n.Children, children[i] = append(n.Children, below[i].id), below[i].Child
		cells[i] = below[i].cell
		highest = max(highest, below[i].level)
	}
	if n.Level == 0 {
		n.Level = highest + 1
	}
	fail := func(err error) error { return fmt.Errorf("%s: node %s of the pyramid: %w", c.path, n.ID, err) }
	box := around(below)
	side := c.nodeSide(n.Level, box)
	o := pyramid.Options{Triangles: nodeTriangles, Side: c.opts.texels(), Tolerance: side / borderParts, Flush: side / flushParts, LookSide: c.opts.lookSide, Jobs: jobs}
	if slices.ContainsFunc(below, func(a above) bool { return a.level == 0 }) {
		o.Samples, o.OcclusionRays = nodeSamples, nodeRays
	} else {
		o.CutLeast = side / cutParts
	}
	if c.opts.Clip && !c.opts.hasFloors() { // else nothing was cut there
		o.Cell = &box
	}
	var err error
	if n.model, err = pyramid.Build(pyramid.Join(children), o); err != nil {
		return nil, fail(err)
	}
	if n.model == nil {
		return nil, nil
	}
	if err := c.writeNode(b, n, cells, jobs); err != nil {
		return nil, fail(err)
	}
	return n, nil
}
