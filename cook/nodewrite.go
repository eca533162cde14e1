package cook

import (
	"bytes"
	"image"
	"io"
	"path"
	"sync"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/pyramid"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/partition"
)

// writeNode writes a node's textures and its container, an entity for each child, whose cells
// are given.
func (c *scenePlan) writeNode(b *tileBuilder, n *node, cells []geom.Box, jobs int) error {
	shown := n.model.Shown()
	step := gridStep(shown.Visual, nodeGridParts)
	own, err := c.nodeMaterial(b, n, shown, jobs)
	if err != nil {
		return err
	}
	var all []drawable
	for g, shape := range splitGroups(shown, len(n.Children)) {
		if shape == nil {
			continue
		}
		toGrid(shape, step, cells...)
		packed, err := shape.Pack(mesh.PackOptions{DirectionBits: nodeDirectionBits})
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
	n.TriangleCount, n.textures, n.scales = triangles(f), texturesOf(f), map[string]float64{}
	for _, name := range n.textures {
		n.scales[name] = lowest(scaleBin(shown.TextureScale()))
	}
	n.GeometryBytes = int64(len(f.Vertices) + len(f.Indices))
	n.EstimatedMemoryBytes = n.GeometryBytes
	for i := range n.files {
		n.EstimatedMemoryBytes += n.files[i].GPU
	}
	n.GeometricError, n.VisualError = shown.Geometric+gridError(step), shown.Visual
	bounds, _ := f.Bounds()
	n.Bounds = boundsOf(bounds)
	n.Path = path.Join(c.opts.PayloadDir, partition.TileFile(n.ID))
	w, err := b.out.write(n.Path, func(w io.Writer) error {
		_, err := f.WriteTo(w, c.opts.containers())
		return err
	})
	n.FileSizeBytes, n.SHA256 = w.size, w.sha256
	n.written = append(n.written, fileRecord{n.Path, w.size, w.sha256})
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
func (c *scenePlan) nodeMaterial(b *tileBuilder, n *node, shown *pyramid.Model, jobs int) (*atlasMaterial, error) {
	a := shown.Atlas
	m := defaultMaterial()
	m.Name, m.DoubleSided = n.ID, shown.DoubleSided
	m.Metallic, m.Roughness, m.Emissive = a.Metallic, a.Roughness, a.EmissiveColor
	color := texture.Role{Use: texture.Color}
	if a.Coverage {
		m.AlphaMode, m.AlphaCutoff = gltfscene.AlphaMask, 0.5
		color.Alpha, color.Cutoff = texture.AlphaMasked, 0.5
	}
	own := &atlasMaterial{material: m}
	o := &own.material
	for _, t := range []struct {
		img    *image.NRGBA
		role   texture.Role
		suffix string
		slots  []*gltfscene.TextureRef
	}{
		{a.Color, color, "", []*gltfscene.TextureRef{&o.BaseColorTex}},
		{a.ORM, texture.Role{Use: texture.Data}, "_orm", []*gltfscene.TextureRef{&o.MetalRoughTex, &o.OcclusionTex}},
		{a.Normal, texture.Role{Use: texture.Normal}, "_normal", []*gltfscene.TextureRef{&o.NormalTex}},
		{a.Emissive, texture.Role{Use: texture.Color}, "_emissive", []*gltfscene.TextureRef{&o.EmissiveTex}},
	} {
		if t.img == nil {
			continue
		}
		t.role.Edges, t.role.Atlas = [2]texture.Edge{texture.EdgeClamp, texture.EdgeClamp}, true
		file, written, err := c.nodeTexture(b, t.img, t.role, t.suffix, jobs)
		if err != nil {
			return nil, err
		}
		n.written = append(n.written, written)
		n.files = append(n.files, file)
		for _, slot := range t.slots {
			slot.Image = len(own.staged)
		}
		s := texture.Staged{File: file.File, Width: file.Width, Height: file.Height, Size: file.Size}
		s.Cooked[t.role.Use] = &file
		own.staged = append(own.staged, s)
	}
	return own, nil
}

// nodeTextures are the files of the pyramid's textures that have been written.
type nodeTextures struct {
	mu    sync.Mutex
	known map[string]bool
}

// nodeTexture writes a texture of a node. Its name follows from its content, so that
// nodes which look alike share a file whichever comes first. Where images stay what they are it
// is compressed all the same: it is no copy of anything, the reference engine skips nodes, and
// blocks take a quarter of the GPU's memory and come by mips, the small ones first.
func (c *scenePlan) nodeTexture(b *tileBuilder, img *image.NRGBA, role texture.Role, suffix string, jobs int) (texture.Cooked, fileRecord, error) {
	var data bytes.Buffer
	var file texture.Cooked
	var err error
	if mode := c.opts.Textures; mode == texture.ModeCopy || mode == texture.ModeResize {
		file, err = texture.WritePacked(&data, "", img, role, c.opts.ASTC, jobs)
	} else {
		file, err = texture.EncodeOne(&data, "", img, role, mode, c.opts.ASTC)
	}
	if err != nil {
		return file, fileRecord{}, err
	}
	ext := path.Ext(file.File)
	hash := hashOf(data.Bytes())
	file.File = freeStem("hlod_"+hash[:nameDigits]+suffix, ext, b.small, b.staged) + ext
	file.Size = int64(data.Len())
	written := fileRecord{path.Join(c.opts.PayloadDir, texture.Folder, file.File), file.Size, hash}
	b.nodeTextures.mu.Lock()
	defer b.nodeTextures.mu.Unlock()
	if b.nodeTextures.known[file.File] {
		return file, written, nil
	}
	if b.nodeTextures.known == nil {
		b.nodeTextures.known = map[string]bool{}
	}
	b.nodeTextures.known[file.File] = true
	_, err = b.out.write(written.Name, func(w io.Writer) error {
		_, err := w.Write(data.Bytes())
		return err
	})
	return file, written, err
}

// nameDigits are so many of a content's hash that no two of a scene share them.
const nameDigits = 24

// countNodes adds what the nodes take, and tells of each of their textures once.
func (r *Result) countNodes(nodes []node, each func(*texture.Cooked)) {
	known := map[string]bool{}
	for i := range nodes {
		n := &nodes[i]
		r.PyramidNodes++
		r.PyramidTriangles += n.TriangleCount
		r.PyramidBytes += n.FileSizeBytes
		for k := range n.files {
			if f := &n.files[k]; !known[f.File] {
				known[f.File] = true
				each(f)
			}
		}
	}
}
