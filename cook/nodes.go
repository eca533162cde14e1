package cook

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"io"
	"math"
	"path"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/pyramid"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/workpool"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/partition"
)

// What a node of the pyramid may take. Leaves are not written: four of them are what
// a node of the first level is made of.
const (
	nodeTriangles = 4000
	nodeTexels    = 512 // along a side of its square of base colours
	leafTriangles = 4000
	leafTexels    = 512
	mostChildren  = 64  // of a node, as manifests have it
	leafParts     = 256 // side of a tile's cell in texels of what lies in its plane
	nodeRays      = 12  // for the light that a leaf takes from itself
	leafSamples   = 2   // along each side of a texel of a leaf
	// borderParts is the side of a tile's cell in parts of what its leaf's border may be
	// off, flushParts in parts of what may stand off a wall and be shown by its texture
	// alone. Both double with every level.
	borderParts = 1280
	flushParts  = 320
)

// nodeOptions bounds the models of a level, 0 for leaves. Neighbours have the same
// tolerances.
func (c *scenePlan) nodeOptions(level int) pyramid.Options {
	side := 0.0
	if len(c.planned.Tiles) > 0 {
		size := c.planned.Tiles[0].Cell.Size()
		side = math.Ldexp(max(size[0], size[2]), level)
	}
	return pyramid.Options{Triangles: nodeTriangles, Side: c.opts.texels(), Tolerance: side / borderParts, Flush: side / flushParts}
}

// node is a node of the pyramid, planned and then built.
type node struct {
	manifest.PyramidNode
	model    *pyramid.Model // until its parent is made
	textures []string
	scales   map[string]float64
	bytes    int64 // of the textures
	gpu      int64 // of them, video memory
}

// makesPyramid reports whether there is one: a scene that is wanted whole needs none.
func (c *scenePlan) makesPyramid() bool { return c.opts.Pyramid && !c.whole && !c.opts.DryRun }

// above is what stands for a part of the scene so far: a tile's leaf, or a node.
type above struct {
	id    string
	level int // 0: a tile
	x, z  int
	cell  geom.Box
	model *pyramid.Model
}

// buildPyramid makes the nodes level by level, children before their parents: four
// cells to one, until one is left. A node with one child is skipped above the first
// level.
func (c *scenePlan) buildPyramid(ctx context.Context, b *tileBuilder, payloads []payload) ([]node, error) {
	if !c.makesPyramid() {
		return nil, nil
	}
	var below []above
	for i := range payloads {
		if p := &payloads[i]; p.coord != nil && p.leaf != nil {
			below = append(below, above{id: p.tile, x: p.coord[0], z: p.coord[2], cell: c.planned.Tiles[i].Cell, model: p.leaf})
			p.leaf = nil
		}
	}
	if len(below) == 0 {
		return nil, nil
	}
	x, z := below[0].x, below[0].z
	for _, t := range below {
		x, z = min(x, t.x), min(z, t.z)
	}
	for i := range below {
		below[i].x, below[i].z = below[i].x-x, below[i].z-z
	}
	var out []node
	for level := 1; level == 1 || len(below) > 1; level++ {
		cells, err := cellsOf(below)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.path, err)
		}
		nodes := make([]*node, len(cells))
		errs := make([]error, len(cells))
		next := make([]above, len(cells))
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(c.opts.jobs())
		for i, cell := range cells {
			if len(cell) == 1 && level > 1 {
				next[i] = cell[0]
				next[i].x, next[i].z = cell[0].x/2, cell[0].z/2
				continue
			}
			g.Go(func() error {
				if errs[i] = ctx.Err(); errs[i] != nil {
					return errs[i]
				}
				nodes[i], errs[i] = c.buildNode(b, level, cell, max(1, c.opts.jobs()/len(cells)))
				if nodes[i] != nil {
					next[i] = above{nodes[i].ID, level, cell[0].x / 2, cell[0].z / 2, around(cell), nodes[i].model}
					nodes[i].model = nil
				}
				return errs[i]
			})
		}
		if err := workpool.FirstFailure(errs, g.Wait()); err != nil {
			return nil, err
		}
		for _, n := range nodes {
			if n != nil {
				out = append(out, *n)
			}
		}
		// A node of which nothing is left stands for nothing.
		below = slices.DeleteFunc(next, func(a above) bool { return a.model == nil })
	}
	return out, nil
}

// texels is the side of a node's square of base colours.
func (o *Options) texels() int {
	if o.nodeTexels > 0 {
		return o.nodeTexels
	}
	return nodeTexels
}

// cellsOf gathers four cells each into one, in the order of z, then x.
func cellsOf(below []above) ([][]above, error) {
	sorted := slices.Clone(below)
	slices.SortStableFunc(sorted, func(a, b above) int {
		return cmp.Or(cmp.Compare(a.z/2, b.z/2), cmp.Compare(a.x/2, b.x/2))
	})
	var out [][]above
	for _, t := range sorted {
		if n := len(out); n > 0 && out[n-1][0].x/2 == t.x/2 && out[n-1][0].z/2 == t.z/2 {
			out[n-1] = append(out[n-1], t)
		} else {
			out = append(out, []above{t})
		}
	}
	for _, cell := range out {
		if len(cell) > mostChildren {
			return nil, fmt.Errorf("%d tiles stand above each other in one place, and a node of the pyramid has %d children at most: give tiles more height (--tile-size-y)", len(cell)/4, mostChildren)
		}
	}
	return out, nil
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
	o := c.nodeOptions(0)
	o.Triangles, o.Side, o.OcclusionRays, o.Samples, o.Jobs, o.Cell = leafTriangles, min(leafTexels, o.Side), nodeRays, leafSamples, 1, border
	o.Texel = float64(o.Tolerance*borderParts) / leafParts
	return pyramid.Build(pyramid.Leaf(parts), o)
}

// buildNode makes a node out of what lies below it, and writes it. It returns nil where
// no triangle is left.
func (c *scenePlan) buildNode(b *tileBuilder, level int, cell []above, jobs int) (*node, error) {
	n := &node{PyramidNode: manifest.PyramidNode{ID: fmt.Sprintf("hlod_%d_%d_%d", level, cell[0].x/2, cell[0].z/2), Level: level}}
	models := make([]*pyramid.Model, len(cell))
	for i := range cell {
		n.Children, models[i] = append(n.Children, cell[i].id), cell[i].model
	}
	fail := func(err error) error { return fmt.Errorf("%s: node %s of the pyramid: %w", c.path, n.ID, err) }
	s := pyramid.Join(models)
	o := c.nodeOptions(level)
	o.Jobs = jobs
	if c.opts.Clip {
		box := around(cell)
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

// writeNode writes a node's textures and its container, an entity for each child.
func (c *scenePlan) writeNode(b *tileBuilder, n *node) error {
	own, err := c.nodeMaterial(b, n)
	if err != nil {
		return err
	}
	var all []drawable
	for g, shape := range splitGroups(n.model, len(n.Children)) {
		if shape == nil {
			continue
		}
		packed, err := shape.Pack(mesh.PackOptions{})
		if err != nil {
			return err
		}
		if len(packed.Indices) > 0 {
			all = append(all, drawable{name: n.Children[g], meshName: n.ID, identity: true, packed: packed, atlas: own})
		}
	}
	var order orderStats
	f, err := b.write(format.FileHLOD, all, nil, &order)
	if err != nil {
		return err
	}
	n.TriangleCount, n.textures, n.scales = triangles(f), texturesOf(f), textureScales(f)
	n.EstimatedMemoryBytes = int64(len(f.Vertices)+len(f.Indices)) + n.gpu
	n.GeometricError, n.VisualError = n.model.Geometric, n.model.Visual
	bounds, _ := f.Bounds()
	n.Bounds = boundsOf(bounds)
	n.Path = path.Join(c.opts.PayloadDir, partition.TileFile(n.ID))
	w, err := b.out.write(n.Path, func(w io.Writer) error {
		_, err := f.WriteTo(w, format.WriteOptions{Compress: c.opts.Compress})
		return err
	})
	n.FileSizeBytes, n.SHA256 = w.size, w.sha256
	return err
}

// splitGroups returns the mesh of each group; nil where there is none.
func splitGroups(m *pyramid.Model, n int) []*mesh.Mesh {
	all := &m.Mesh
	byGroup := make([][]uint32, n)
	for t, g := range m.Groups {
		byGroup[g] = append(byGroup[g], all.Indices[3*t:3*t+3]...)
	}
	out := make([]*mesh.Mesh, n)
	for g, indices := range byGroup {
		if len(indices) == 0 {
			continue
		}
		at := map[uint32]uint32{}
		var used []uint32
		for i, v := range indices {
			k, ok := at[v]
			if !ok {
				k = uint32(len(used))
				at[v], used = k, append(used, v)
			}
			indices[i] = k
		}
		out[g] = &mesh.Mesh{
			Positions: pick(all.Positions, used), Normals: pick(all.Normals, used), Tangents: pick(all.Tangents, used),
			UV: [2][][2]float32{pick(all.UV[0], used)}, Indices: indices,
		}
	}
	return out
}

// nodeMaterial writes the textures of a node and returns the material that shows
// them.
func (c *scenePlan) nodeMaterial(b *tileBuilder, n *node) (*atlasMaterial, error) {
	a := n.model.Atlas
	m := defaultMaterial()
	m.Name, m.DoubleSided = n.ID, n.model.DoubleSided
	m.Metallic, m.Roughness, m.Emissive = a.Metallic, a.Roughness, a.EmissiveColor
	if a.Coverage {
		m.AlphaMode, m.AlphaCutoff = gltfscene.AlphaMask, 0.5
	}
	own := &atlasMaterial{material: m}
	add := func(img *image.NRGBA, use texture.Use, suffix string, slots ...*gltfscene.TextureRef) error {
		if img == nil {
			return nil
		}
		role := texture.Role{Use: use, Edges: [2]texture.Edge{texture.EdgeClamp, texture.EdgeClamp}}
		if use == texture.Color && suffix == "" && a.Coverage {
			role.Alpha, role.Cutoff = texture.AlphaMasked, 0.5
		}
		ext := texture.OneExt(c.opts.Textures)
		stem := atlasStem(n.ID+suffix, ext, b.small, b.staged)
		var file texture.Cooked
		w, err := b.out.write(path.Join(c.opts.PayloadDir, texture.Folder, stem+ext), func(w io.Writer) error {
			var err error
			file, err = texture.EncodeOne(w, stem, img, role, c.opts.Textures)
			return err
		})
		if err != nil {
			return err
		}
		file.Size = w.size
		n.bytes, n.gpu = n.bytes+file.Size, n.gpu+file.GPU
		s := texture.Staged{File: file.File, Width: file.Width, Height: file.Height, Size: file.Size}
		s.Cooked[use] = &file
		for _, t := range slots {
			t.Image = len(own.staged)
		}
		own.staged = append(own.staged, s)
		return nil
	}
	o := &own.material
	for _, err := range []error{
		add(a.Color, texture.Color, "", &o.BaseColorTex),
		add(a.ORM, texture.Data, "_orm", &o.MetalRoughTex, &o.OcclusionTex),
		add(a.Normal, texture.Normal, "_normal", &o.NormalTex),
		add(a.Emissive, texture.Color, "_emissive", &o.EmissiveTex),
	} {
		if err != nil {
			return nil, err
		}
	}
	return own, nil
}
