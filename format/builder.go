package format

import (
	"fmt"
	"math"

	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/format/vertex"
)

// File is a whole container in memory, as it will be written: records whose
// string references point into Strings and whose geometry ranges point into
// Vertices and Indices.
type File struct {
	Type      FileType
	Strings   []byte
	Entities  []records.Entity
	Meshes    []records.Mesh
	Materials []records.Material
	Textures  []records.Texture
	Vertices  []byte // serialised vertices, 32 bytes each
	Indices   []byte
}

// Object is one entity with one mesh, the unit that a Builder takes.
type Object struct {
	Name     string // of the entity
	MeshName string
	Material uint32   // from AddMaterial, NoIndex for none
	Vertices []byte   // serialised by AppendVertices
	Indices  []uint32 // triangle list
	// Transform moves the vertices into the world, column-major; all zero is
	// the identity, for vertices that are in world space already.
	Transform [16]float32
}

// Builder collects objects, materials and textures and lays them out as the
// format's conventions want it: ids 0, 1, 2, ..., running offsets, strings in
// order of first use, tight boxes.
type Builder struct {
	typ       FileType
	textures  []namedTexture
	byURI     map[string]uint32
	materials []namedMaterial
	byValue   map[namedMaterial]uint32
	objects   []Object         // without geometry, which is in vertices and indices
	worlds    []records.Bounds // by objects
	meshes    []records.Mesh
	vertices  []byte
	indices   []byte
}

type namedTexture struct {
	name, uri string
	t         records.Texture
}

type namedMaterial struct {
	name string
	m    records.Material
}

// NewBuilder starts an empty container.
func NewBuilder(t FileType) *Builder {
	return &Builder{typ: t, byURI: map[string]uint32{}, byValue: map[namedMaterial]uint32{}}
}

// AddTexture adds a texture and returns its index. Textures are merged by uri;
// their flags are combined. Name and string offsets of t are ignored.
func (b *Builder) AddTexture(name, uri string, t records.Texture) uint32 {
	if i, ok := b.byURI[uri]; ok {
		b.textures[i].t.Flags |= t.Flags
		return i
	}
	i := uint32(len(b.textures))
	b.byURI[uri] = i
	b.textures = append(b.textures, namedTexture{name, uri, t})
	return i
}

// AddMaterial adds a material and returns its index. Materials that agree in
// name and all values are merged. The name offset of m is ignored.
func (b *Builder) AddMaterial(name string, m records.Material) uint32 {
	m.NameOffset = 0
	key := namedMaterial{name, m}
	if i, ok := b.byValue[key]; ok {
		return i
	}
	i := uint32(len(b.materials))
	b.byValue[key] = i
	b.materials = append(b.materials, key)
	return i
}

// AddObject appends an entity with a mesh. It checks what the file could not
// be read back without: whole vertices and triangles, indices in range, finite
// positions, counts that fit.
func (b *Builder) AddObject(o Object) error {
	n := len(o.Vertices) / vertex.Size
	switch {
	case len(o.Vertices)%vertex.Size != 0:
		return fmt.Errorf("untold: object %q: %d vertex bytes are not whole vertices", o.Name, len(o.Vertices))
	case len(o.Indices) == 0 || len(o.Indices)%3 != 0:
		return fmt.Errorf("untold: object %q: %d indices are not whole triangles", o.Name, len(o.Indices))
	case uint64(n) > math.MaxUint32 || uint64(len(o.Indices)) > math.MaxUint32 || uint64(len(b.objects)) >= uint64(records.NoIndex):
		return fmt.Errorf("untold: object %q: more than 2^32 elements", o.Name)
	case o.Material != records.NoIndex && int(o.Material) >= len(b.materials):
		return fmt.Errorf("untold: object %q: material %d of %d", o.Name, o.Material, len(b.materials))
	}
	for k, v := range o.Indices {
		if int(v) >= n {
			return fmt.Errorf("untold: object %q: index %d is %d, there are %d vertices", o.Name, k, v, n)
		}
	}
	box, _ := positionBounds(o.Vertices)
	if !allFinitePositions(o.Vertices) {
		return fmt.Errorf("untold: object %q: a position is not finite", o.Name)
	}
	t := vertex.IndexTypeFor(n)
	m := records.Mesh{
		EntityID: uint32(len(b.objects)), Material: o.Material, IndexType: t,
		VertexCount: uint32(n), IndexCount: uint32(len(o.Indices)), VertexStride: vertex.Size,
		VertexOffset: uint64(len(b.vertices)), IndexOffset: uint64(len(b.indices)),
		VertexSize: uint64(len(o.Vertices)), IndexSize: uint64(len(o.Indices) * t.Size()), LocalBounds: box,
	}
	m.EstimatedGPUBytes = m.VertexSize + m.IndexSize
	b.vertices = append(b.vertices, o.Vertices...)
	b.indices = vertex.AppendIndices(b.indices, t, o.Indices)
	return b.place(o, m)
}

// AddInstance appends an entity that shows the mesh of an earlier object once
// more: its record names the same vertex and index range. of is that object's
// number in the order of the Add calls; o.Vertices and o.Indices are ignored.
func (b *Builder) AddInstance(of int, o Object) error {
	if of < 0 || of >= len(b.meshes) {
		return fmt.Errorf("untold: instance %q: object %d of %d", o.Name, of, len(b.meshes))
	}
	if o.Material != records.NoIndex && int(o.Material) >= len(b.materials) {
		return fmt.Errorf("untold: instance %q: material %d of %d", o.Name, o.Material, len(b.materials))
	}
	m := b.meshes[of]
	m.EntityID, m.Material = uint32(len(b.objects)), o.Material
	return b.place(o, m)
}

// place records an object with its mesh and computes its box in the world.
func (b *Builder) place(o Object, m records.Mesh) error {
	if o.Transform == ([16]float32{}) {
		o.Transform = identity
	}
	world := m.LocalBounds
	if o.Transform != identity {
		if !finite(o.Transform[:]...) {
			return fmt.Errorf("untold: object %q: its transform is not finite", o.Name)
		}
		w := widen(&o.Transform)
		world = transformedBounds(b.vertices[m.VertexOffset:][:m.VertexSize], &w)
		if !finite(world.Min[:]...) || !finite(world.Max[:]...) {
			return fmt.Errorf("untold: object %q: its transform moves vertices out of range", o.Name)
		}
	}
	o.Vertices, o.Indices = nil, nil
	b.meshes = append(b.meshes, m)
	b.objects = append(b.objects, o)
	b.worlds = append(b.worlds, world)
	return nil
}

// File returns the container. The Builder must not be used afterwards.
func (b *Builder) File() *File {
	f := &File{Type: b.typ, Meshes: b.meshes, Vertices: b.vertices, Indices: b.indices}
	for _, m := range b.materials {
		f.Materials = append(f.Materials, m.m)
	}
	for _, t := range b.textures {
		f.Textures = append(f.Textures, t.t)
	}
	var s stringBuilder
	usedMaterial := make([]bool, len(b.materials))
	usedTexture := make([]bool, len(b.textures))
	for i := range b.objects {
		o := &b.objects[i]
		if o.Material != records.NoIndex && !usedMaterial[o.Material] {
			usedMaterial[o.Material] = true
			b.nameMaterial(f, &s, o.Material, usedTexture)
		}
		f.Meshes[i].NameOffset = s.add(o.MeshName)
		f.Entities = append(f.Entities, records.Entity{
			ID: uint32(i), ParentID: records.NoIndex, NameOffset: s.add(o.Name), FirstMesh: uint32(i), MeshCount: 1,
			LocalBounds: f.Meshes[i].LocalBounds, WorldBounds: b.worlds[i], LocalTransform: o.Transform,
		})
	}
	for i := range b.materials {
		if !usedMaterial[i] {
			b.nameMaterial(f, &s, uint32(i), usedTexture)
		}
	}
	for i := range b.textures {
		if !usedTexture[i] {
			b.nameTexture(f, &s, uint32(i))
		}
	}
	f.Strings = s.data
	return f
}

func (b *Builder) nameMaterial(f *File, s *stringBuilder, i uint32, named []bool) {
	for _, t := range f.Materials[i].TextureSlots() {
		if t != records.NoIndex && int(t) < len(named) && !named[t] {
			named[t] = true
			b.nameTexture(f, s, t)
		}
	}
	f.Materials[i].NameOffset = s.add(b.materials[i].name)
}

func (b *Builder) nameTexture(f *File, s *stringBuilder, i uint32) {
	f.Textures[i].NameOffset = s.add(b.textures[i].name)
	f.Textures[i].URIOffset = s.add(b.textures[i].uri)
}

// stringBuilder lays out a string table: each string once, in order of first
// insertion, followed by a zero byte.
type stringBuilder struct {
	data []byte
	at   map[string]uint32
}

// add returns the offset of s, NoIndex for the empty string, which is never
// stored. A zero byte inside s would end it: the string is cut there.
func (b *stringBuilder) add(s string) uint32 {
	for i := range len(s) {
		if s[i] == 0 {
			s = s[:i]
			break
		}
	}
	if s == "" {
		return records.NoIndex
	}
	if off, ok := b.at[s]; ok {
		return off
	}
	if b.at == nil {
		b.at = map[string]uint32{}
	}
	off := uint32(len(b.data))
	b.at[s] = off
	b.data = append(append(b.data, s...), 0)
	return off
}

// Bounds returns the union of the world boxes of all entities that have
// geometry, and whether there is one.
func (f *File) Bounds() (records.Bounds, bool) {
	var box records.Bounds
	ok := false
	for i := range f.Entities {
		e := &f.Entities[i]
		switch {
		case e.MeshCount == 0:
		case ok:
			box = box.Union(e.WorldBounds)
		default:
			box, ok = e.WorldBounds, true
		}
	}
	return box, ok
}

func allFinitePositions(vertices []byte) bool {
	for ; len(vertices) >= vertex.Size; vertices = vertices[vertex.Size:] {
		if !finite(records.Float(vertices), records.Float(vertices[4:]), records.Float(vertices[8:])) {
			return false
		}
	}
	return true
}

// positionBounds returns the exact box of the positions of serialised vertices;
// ok is false when there is none.
func positionBounds(vertices []byte) (b records.Bounds, ok bool) {
	inf := float32(math.Inf(1))
	b = records.Bounds{Min: [3]float32{inf, inf, inf}, Max: [3]float32{-inf, -inf, -inf}}
	for ; len(vertices) >= vertex.Size; vertices = vertices[vertex.Size:] {
		x, y, z := records.Float(vertices), records.Float(vertices[4:]), records.Float(vertices[8:])
		b.Min[0], b.Max[0] = min(b.Min[0], x), max(b.Max[0], x)
		b.Min[1], b.Max[1] = min(b.Min[1], y), max(b.Max[1], y)
		b.Min[2], b.Max[2] = min(b.Min[2], z), max(b.Max[2], z)
		ok = true
	}
	return b, ok
}
