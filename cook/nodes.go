package cook

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/pyramid"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/workpool"
	"github.com/untoldkit/untold/manifest"
)

// What a node of the pyramid may take. Leaves are not written: they are what nodes
// above tiles are made of.
const (
	nodeTriangles = 4000
	nodeTexels    = 512 // along a side of its square of base colours
	leafTriangles = 4000
	leafTexels    = 256
	leafParts     = 256 // side of a tile's cell in texels of what lies in its plane
	nodeRays      = 12  // for the light that a leaf takes from itself
	leafSamples   = 2   // along each side of a texel of a leaf
	// borderParts is the side of a tile's cell in parts of what its leaf's border may be
	// off, flushParts in parts of what may stand off a wall and be shown by its texture
	// alone. Both double with every level.
	borderParts = 1280
	flushParts  = 320
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
	model    *pyramid.Model // until its parent is made
	textures []string
	scales   map[string]float64
	files    []texture.Cooked // of the textures
}

// makesPyramid reports whether there is one: a scene that is wanted whole needs none.
func (c *scenePlan) makesPyramid() bool { return c.opts.Pyramid && !c.whole && !c.opts.DryRun }

// above is what stands for a part of the scene so far: a tile's leaf, or a node.
type above struct {
	id    string
	level int // 0: a tile
	cell  geom.Box
	model *pyramid.Model
}

// buildPyramid makes the nodes round by round, children before their parents.
func (c *scenePlan) buildPyramid(ctx context.Context, b *tileBuilder, payloads []payload) ([]node, error) {
	var tiles []int
	for i := range payloads {
		if payloads[i].leaf != nil {
			tiles = append(tiles, i)
		}
	}
	if len(tiles) == 0 {
		return nil, nil
	}
	cells, err := c.nodeCells(tiles)
	if err != nil {
		return nil, err
	}
	var out []node
	made := make([]above, len(cells)) // without a model: nothing is left there
	for _, round := range rounds(cells) {
		nodes := make([]*node, len(round))
		errs := make([]error, len(round))
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(c.opts.jobs())
		for i, k := range round {
			below := c.below(&cells[k], payloads, made)
			if len(below) == 1 && !(cells[k].alone && below[0].level == 0) {
				made[k] = below[0]
			}
			if len(below) == 0 || made[k].model != nil {
				continue
			}
			g.Go(func() error {
				if errs[i] = ctx.Err(); errs[i] != nil {
					return errs[i]
				}
				nodes[i], errs[i] = c.buildNode(b, &cells[k], below, max(1, c.opts.jobs()/len(round)))
				if n := nodes[i]; n != nil {
					made[k] = above{n.ID, n.Level, around(below), n.model}
					n.model = nil
				}
				return errs[i]
			})
		}
		if err := workpool.FirstFailure(errs, g.Wait()); err != nil {
			return nil, err
		}
		for i, k := range round {
			if nodes[i] != nil {
				out = append(out, *nodes[i])
			}
			for _, child := range cells[k].cells {
				made[child].model = nil
			}
		}
	}
	return out, nil
}

// rounds lists the cells by what must be there before them: those of a round need
// earlier ones alone.
func rounds(cells []nodeCell) [][]int {
	var out [][]int
	at := make([]int, len(cells))
	for i := range cells {
		for _, child := range cells[i].cells {
			at[i] = max(at[i], at[child]+1)
		}
		for len(out) <= at[i] {
			out = append(out, nil)
		}
		out[at[i]] = append(out[at[i]], i)
	}
	return out
}

// below lists what stands for the parts of a cell, and takes the tiles' leaves.
func (c *scenePlan) below(cell *nodeCell, payloads []payload, made []above) []above {
	var out []above
	for _, t := range cell.tiles {
		p := &payloads[t]
		out = append(out, above{id: p.tile, cell: c.planned.Tiles[t].Cell, model: p.leaf})
		p.leaf = nil
	}
	for _, k := range cell.cells {
		if made[k].model != nil {
			out = append(out, made[k])
		}
	}
	return out
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

// leaf makes what stands for a tile in the first level of the pyramid.
func (c *scenePlan) leaf(b *tileBuilder, src *levelSource, border *geom.Box) (*pyramid.Model, error) {
	shapes := src.take(src.mesh())
	var parts []pyramid.Part
	for g, shape := range shapes {
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
		p.Look.Emissive = [3]float32{} // a lamp glows in places only, which the model's look cannot tell
		if p.Bake, err = b.baked.look(b, m); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	side := c.nodeSide(0, src.joint.Bounds())
	return pyramid.Build(pyramid.Leaf(parts), pyramid.Options{
		Triangles: leafTriangles, Side: min(leafTexels, c.opts.texels()), Texel: side / leafParts, OcclusionRays: nodeRays, Samples: leafSamples,
		Cell: border, Tolerance: side / borderParts, Flush: side / flushParts, Jobs: 1,
	})
}

// buildNode makes a node out of what lies below it, and writes it. It returns nil where
// no triangle is left.
func (c *scenePlan) buildNode(b *tileBuilder, cell *nodeCell, below []above, jobs int) (*node, error) {
	n := &node{PyramidNode: manifest.PyramidNode{ID: cell.id, Level: cell.level}}
	models := make([]*pyramid.Model, len(below))
	highest := 0
	for i := range below {
		n.Children, models[i] = append(n.Children, below[i].id), below[i].model
		highest = max(highest, below[i].level)
	}
	if n.Level == 0 {
		n.Level = highest + 1
	}
	fail := func(err error) error { return fmt.Errorf("%s: node %s of the pyramid: %w", c.path, n.ID, err) }
	s := pyramid.Join(models)
	box := around(below)
	side := c.nodeSide(n.Level, box)
	o := pyramid.Options{Triangles: nodeTriangles, Side: c.opts.texels(), Tolerance: side / borderParts, Flush: side / flushParts, Jobs: jobs}
	if c.opts.Clip && !c.opts.hasFloors() { // else nothing was cut there
		o.Cell = &box
	}
	var err error
	if n.model, err = pyramid.Build(s, o); err != nil {
		return nil, fail(err)
	}
	if n.model == nil {
		return nil, nil
	}
	if err := c.writeNode(b, n); err != nil {
		return nil, fail(err)
	}
	return n, nil
}
