package payload

import (
	"math"
	"os"
	"slices"
	"sync/atomic"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
)

// Asset is a decoded representation, ready for upload. The slices are shared
// and must not be changed; after Release they must not be read.
type Asset struct {
	Type format.FileType
	// Dir is the folder that the URIs of Textures are relative to; they are not
	// to be trusted.
	Dir       string
	Bounds    records.Bounds   // world box of the geometry
	Entities  []records.Entity // with the root transform of the file in those that have no parent
	Meshes    []records.Mesh
	Materials []records.Material
	Textures  []records.Texture
	// Level is the place of a view among the levels of its LOD group, 0 the
	// finest, and Levels how many there are; without a group both are 0.
	Level, Levels int
	// Strings resolves name and uri offsets of the records.
	Strings func(offset uint32) string
	// Geometry holds vertices of vertex.Size bytes and indices at the
	// offsets that Meshes name.
	Geometry format.Geometry
	// Parts is set when there is no Geometry yet: it is loaded mesh by mesh. Such
	// an asset is not for a Device.
	Parts PartLoader
	// Children names, of a node of the pyramid, the entities that stand in for its
	// children, in their order; nil for others.
	Children []string
	// Error is the visual error of a node of the pyramid in metres, which its textures need not
	// be finer than; 0 for others.
	Error float64
	// Ready is what a Loader has made of the asset for the Device in advance. It belongs to
	// this handle: views and other handles have none.
	Ready any
	// Version is the content hash as the file's header has it, 0 when unknown.
	Version [32]byte

	file     os.FileInfo // that it was read from, by a FileLoader
	buffers  *buffers
	released atomic.Bool
	layout   *Layout // made when first asked for
}

// buffers counts who holds the geometry of an asset and its views.
type buffers struct {
	holders atomic.Int32
	release func()
}

// retain adds a holder, unless there are none any more.
func (b *buffers) retain() bool {
	for {
		n := b.holders.Load()
		if n <= 0 {
			return false
		}
		if b.holders.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (b *buffers) drop() {
	if b.holders.Add(-1) == 0 && b.release != nil {
		b.release()
	}
}

// NewAsset returns an asset whose buffers go back by release, which may be nil.
func NewAsset(release func()) *Asset {
	b := &buffers{release: release}
	b.holders.Store(1)
	return &Asset{buffers: b}
}

// Release gives the buffers back; views of the asset keep them until they are
// released as well. It may be called on a nil Asset, from any goroutine and more
// than once.
func (a *Asset) Release() {
	if a == nil || a.released.Swap(true) {
		return
	}
	a.Geometry = format.Geometry{}
	if a.buffers != nil {
		a.buffers.drop()
	}
}

// View returns an asset that holds only the given entities, as ascending indices
// of Entities, with their meshes; the entities that they hang on come along for
// their transforms, without meshes. All else is shared: the geometry is a part of
// the asset's, with the meshes' offsets changed accordingly, and the buffers go
// back when the asset and its views are all released. It is nil when the asset has been
// released already, and must not run at the same time as its Release.
func (a *Asset) View(entities ...int) *Asset {
	if a.released.Load() || a.buffers != nil && !a.buffers.retain() {
		return nil
	}
	v := &Asset{
		Type: a.Type, Dir: a.Dir, Materials: a.Materials, Textures: a.Textures, Strings: a.Strings,
		Geometry: a.Geometry, buffers: a.buffers,
	}
	n := a.Layout()
	v.Entities = make([]records.Entity, 0, len(entities)+2)
	box := geom.EmptyBox()
	for _, at := range entities {
		e := a.Entities[at]
		v.Entities = a.appendAncestors(v.Entities, n, at)
		meshes := a.MeshesOf(&e)
		e.FirstMesh, e.MeshCount = uint32(len(v.Meshes)), uint32(len(meshes))
		v.Meshes = append(v.Meshes, meshes...)
		v.Entities = append(v.Entities, e)
		box = box.Union(BoxOf(e.WorldBounds))
	}
	v.Bounds = BoundsOf(box)
	v.narrow()
	return v
}

// PartView is View for one entity of an asset whose geometry is loaded in parts:
// its meshes, and the buffers with their geometry, are those of part.
func (a *Asset) PartView(entity int, part *Asset) *Asset {
	v := part.Retain()
	if v == nil {
		return nil
	}
	e := a.Entities[entity]
	v.Type, v.Dir, v.Materials, v.Textures, v.Strings, v.layout = a.Type, a.Dir, a.Materials, a.Textures, a.Strings, nil
	v.Entities = a.appendAncestors(make([]records.Entity, 0, 2), a.Layout(), entity)
	e.FirstMesh, e.MeshCount = 0, uint32(len(part.Meshes))
	v.Entities = append(v.Entities, e)
	v.Meshes = slices.Clone(part.Meshes)
	v.Bounds = BoundsOf(BoxOf(e.WorldBounds))
	v.narrow()
	return v
}

// narrow cuts the geometry down to what the meshes use, without a copy, so that
// a device that uploads all of it uploads no more. Ranges outside the geometry
// are left for the device to refuse.
func (a *Asset) narrow() {
	if len(a.Meshes) == 0 {
		a.Geometry = format.Geometry{}
		return
	}
	const align = 32 // keeps every alignment that the file has
	vertices, indices := span{from: math.MaxUint64}, span{from: math.MaxUint64}
	for i := range a.Meshes {
		m := &a.Meshes[i]
		vertices.add(m.VertexOffset, m.VertexSize)
		indices.add(m.IndexOffset, m.IndexSize)
	}
	if !vertices.inside(a.Geometry.Vertices) || !indices.inside(a.Geometry.Indices) {
		return
	}
	v, n := vertices.from&^(align-1), indices.from&^(align-1)
	a.Geometry.Vertices = a.Geometry.Vertices[v:vertices.to:vertices.to]
	a.Geometry.Indices = a.Geometry.Indices[n:indices.to:indices.to]
	for i := range a.Meshes {
		a.Meshes[i].VertexOffset -= v
		a.Meshes[i].IndexOffset -= n
	}
}

// span is a range of bytes.
type span struct{ from, to uint64 }

// add widens the span; sums that overflow end up outside everything.
func (s *span) add(from, size uint64) {
	to := from + size
	if to < from {
		to = math.MaxUint64
	}
	s.from, s.to = min(s.from, from), max(s.to, to)
}

func (s *span) inside(b []byte) bool { return s.from <= s.to && s.to <= uint64(len(b)) }

// Retain returns another handle on the same asset, nil when it has been
// released already.
func (a *Asset) Retain() *Asset {
	if a == nil || a.released.Load() || a.buffers != nil && !a.buffers.retain() {
		return nil
	}
	return &Asset{
		Type: a.Type, Dir: a.Dir, Bounds: a.Bounds, Entities: a.Entities, Meshes: a.Meshes, Materials: a.Materials,
		Textures: a.Textures, Level: a.Level, Levels: a.Levels, Strings: a.Strings, Geometry: a.Geometry, Parts: a.Parts, Version: a.Version,
		file: a.file, buffers: a.buffers, layout: a.layout,
	}
}

// ChildParts returns, of a node of the pyramid, which of Children each entity stands in for, by
// its ID: the bit with the child's index. It is nil for others.
func (a *Asset) ChildParts() map[uint32]uint64 {
	if len(a.Children) == 0 {
		return nil
	}
	parts := make(map[uint32]uint64, len(a.Entities))
	for i := range a.Entities {
		e := &a.Entities[i]
		if bit := slices.Index(a.Children, a.Strings(e.NameOffset)); bit >= 0 {
			parts[e.ID] = 1 << bit
		}
	}
	return parts
}

// Shares reports whether an asset is a handle on the same buffers as another one, or a
// view of them.
func (a *Asset) Shares(o *Asset) bool {
	return a != nil && o != nil && a.buffers != nil && a.buffers == o.buffers
}

// appendAncestors appends the entities above one, unless they are there. Files
// are checked for parents that exist, not for cycles: the walk is bounded.
func (a *Asset) appendAncestors(dst []records.Entity, n *Layout, at int) []records.Entity {
	for range a.Entities {
		up := n.parent(at)
		if up < 0 {
			return dst
		}
		for i := range dst {
			if dst[i].ID == a.Entities[up].ID {
				return dst
			}
		}
		e := a.Entities[up]
		e.FirstMesh, e.MeshCount = 0, 0
		dst = append(dst, e)
		at = up
	}
	return dst
}

// MeshesOf returns the mesh records of an entity, as far as there are such.
func (a *Asset) MeshesOf(e *records.Entity) []records.Mesh {
	n := uint64(len(a.Meshes))
	from := min(uint64(e.FirstMesh), n)
	to := min(from+uint64(e.MeshCount), n)
	return a.Meshes[from:to:to]
}

// bytesOf returns the GPU memory of an entity's meshes: their ranges, or what
// the records estimate when they have none.
func (a *Asset) bytesOf(e *records.Entity) int64 {
	const most = 1 << 50
	sum := uint64(0)
	meshes := a.MeshesOf(e)
	for i := range meshes {
		m := &meshes[i]
		size := min(m.VertexSize, most) + min(m.IndexSize, most)
		if size == 0 {
			size = m.EstimatedGPUBytes
		}
		sum = min(sum+min(size, most), most)
	}
	return int64(sum)
}

// CPUBytes returns the main memory that the decoded asset takes: its buffers, or
// how far the records reach into them, or else what the records estimate.
func (a *Asset) CPUBytes() int64 {
	if a.Parts != nil {
		return 0 // each part counts when it comes
	}
	if n := int64(len(a.Geometry.Vertices) + len(a.Geometry.Indices)); n > 0 {
		return n
	}
	const most = math.MaxInt64 / 4
	vertices, indices := uint64(0), uint64(0)
	for i := range a.Meshes {
		m := &a.Meshes[i]
		vertices = max(vertices, min(m.VertexOffset, most)+min(m.VertexSize, most))
		indices = max(indices, min(m.IndexOffset, most)+min(m.IndexSize, most))
	}
	if vertices+indices > 0 {
		return int64(min(vertices, most/2) + min(indices, most/2))
	}
	sum := int64(0)
	for i := range a.Entities {
		sum = min(sum+a.bytesOf(&a.Entities[i]), math.MaxInt64/4)
	}
	return sum
}

// BoxOf returns bounds in double precision.
func BoxOf(b records.Bounds) (box geom.Box) {
	for i := range 3 {
		box.Min[i], box.Max[i] = float64(b.Min[i]), float64(b.Max[i])
	}
	return box
}

// BoundsOf returns a box in single precision; an empty one becomes zeros.
func BoundsOf(box geom.Box) (b records.Bounds) {
	if box.IsEmpty() {
		return b
	}
	for i := range 3 {
		b.Min[i], b.Max[i] = float32(box.Min[i]), float32(box.Max[i])
	}
	return b
}
