package levelcheck

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// coarser matches the names of parts of LOD groups that stand behind a finer one.
var coarser = regexp.MustCompile(`_LOD0*[1-9][0-9]*(\.[0-9]+)?$`)

// materialKey is a material as far as it is seen.
type materialKey struct {
	kind    int32
	texture string
}

// kindKey is a material without its texture, of which HLODs may have a smaller one.
type kindKey struct {
	name string
	look appearance.Material
}

// read returns the geometry of a container in world space; of LOD groups the
// finest level. Materials of triangles are numbers of c.materials.
func (c *checker) read(rel string) (*appearance.Mesh, error) {
	file, err := payloadpath.Resolve(c.dir, rel)
	if err != nil {
		return nil, err
	}
	r, err := format.Open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := r.ToFile()
	if err != nil {
		return nil, err
	}
	out := &appearance.Mesh{}
	materials := map[uint32]int32{}
	worlds := r.WorldTransforms()
	for i := range f.Entities {
		e := &f.Entities[i]
		if coarser.MatchString(r.String(e.NameOffset)) {
			continue
		}
		for k := e.FirstMesh; k < e.FirstMesh+e.MeshCount; k++ {
			m := &f.Meshes[k]
			number, ok := materials[m.Material]
			if !ok {
				if number, err = c.material(rel, r, f, m.Material); err != nil {
					return nil, err
				}
				materials[m.Material] = number
			}
			if err := appendMesh(out, f, m, (*geom.Mat4)(&worlds[i]), number); err != nil {
				return nil, fmt.Errorf("%s: mesh %d: %w", rel, k, err)
			}
		}
	}
	return out, nil
}

// appendMesh adds the triangles of a mesh record.
func appendMesh(to *appearance.Mesh, f *format.File, m *records.Mesh, world *geom.Mat4, material int32) error {
	packed := mesh.Packed{
		Vertices: f.Vertices[m.VertexOffset:][:m.VertexSize],
		Indices:  vertex.Indices(f.Indices[m.IndexOffset:][:m.IndexSize], m.IndexType),
	}
	var own mesh.Mesh
	packed.AppendTo(&own)
	if *world != geom.Identity() {
		own.Transform(world)
	}
	for _, p := range own.Positions {
		if l := p.Len(); !(l <= farthest) {
			return fmt.Errorf("the vertex at %v is not within %g m", p, farthest)
		}
	}
	for _, v := range own.Indices {
		if int(v) >= len(own.Positions) {
			return fmt.Errorf("vertex %d of %d", v, len(own.Positions))
		}
	}
	base := uint32(len(to.Positions))
	to.Positions = append(to.Positions, own.Positions...)
	to.Normals = append(to.Normals, own.Normals...)
	to.UV = append(to.UV, own.UV[0]...)
	to.Colors = append(to.Colors, own.Colors...)
	for i, v := range own.Indices {
		to.Indices = append(to.Indices, base+v)
		if i%3 == 0 {
			to.Materials = append(to.Materials, material)
		}
	}
	return nil
}

// farthest is beyond all that is drawn, in metres.
const farthest = 1e15

// material returns the number of a material record.
func (c *checker) material(rel string, r *format.Reader, f *format.File, record uint32) (int32, error) {
	kind := kindKey{look: appearance.Material{Color: [4]float32{1, 1, 1, 1}}}
	file := ""
	if record != records.NoIndex {
		m := &f.Materials[record]
		alpha := m.Flags & records.MaterialAlphaMask
		kind.name = r.String(m.NameOffset)
		kind.look = appearance.Material{
			Color: m.BaseColor, Emissive: m.Emissive, Cutoff: m.AlphaCutoff, Masked: alpha == 1, Transparent: alpha == 2,
			DoubleSided: m.Flags&records.MaterialDoubleSided != 0, Unlit: m.Flags&records.MaterialUnlit != 0,
		}
		if m.BaseColorTexture != records.NoIndex {
			file = path.Join(path.Dir(rel), r.String(f.Textures[m.BaseColorTexture].URIOffset))
		}
	}
	k, ok := c.kinds[kind]
	if !ok {
		k = int32(len(c.kinds))
		c.kinds[kind] = k
	}
	key := materialKey{k, file}
	if n, ok := c.known[key]; ok {
		return n, nil
	}
	look := kind.look
	if file != "" {
		var err error
		if look.Texture, err = c.texture(file); err != nil {
			return 0, err
		}
	}
	n := int32(len(c.materials))
	c.known[key], c.materials, c.kindOf = n, append(c.materials, look), append(c.kindOf, k)
	return n, nil
}

// texture reads a texture beside a container. One that cannot be drawn is left
// out on both sides of a comparison.
func (c *checker) texture(rel string) (*appearance.Texture, error) {
	if t, ok := c.textures[rel]; ok || !c.o.Look {
		return t, nil
	}
	file, err := payloadpath.Resolve(c.dir, filepath.FromSlash(rel))
	if err != nil {
		return nil, err
	}
	t, err := appearance.LoadTexture(file)
	if err != nil {
		return nil, err
	}
	c.textures[rel] = t
	return t, nil
}
