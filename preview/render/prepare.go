package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
)

// mesh is one mesh record as it is drawn. Ranges are relative to the bundle's
// until Upload moves them into a page.
type mesh struct {
	center, half [3]float64 // box in the space of the scene
	object       int32      // 0: vertices are in scene space; else rep.objects[object-1]
	material     int32      // in rep, then in the material buffer
	record       int32      // of the asset
	bundle       int32      // of rep
	part         uint64     // children of a node of the pyramid that it stands in for
	firstIndex   uint32     // in indices of its type
	indexCount   uint32
	baseVertex   int32
	wide         bool // 32-bit indices
	mirrored     bool // the entity's transform mirrors
	kind         surfaceKind
	set          *textureSet
	entity       texture.Entity // 0: without textures
}

// prepared is an asset as it goes to the GPU, in bundles. Vertices and indices are views of
// the asset's bytes unless their layout had to change, and some bundles are views of these.
type prepared struct {
	box               geom.Box
	vertices, indices []byte
	bundles           []bundle
	meshes            []mesh
	objects           []geom.Mat4
	materials         []records.Material // those that the meshes use
	made              *Packed
}

// Prepare lays an asset out for Upload, which takes milliseconds for large ones and is to
// be done where they are read (payload.FileLoader.Prepare); Upload does it otherwise. It may
// be called from any goroutine. What the asset breaks, Upload tells.
func Prepare(a *payload.Asset) {
	if p, err := prepare(a, nil); err == nil {
		a.Ready = p
	}
}

// readyOf takes what Prepare has made of an asset over, or Pack, or makes it.
func readyOf(a *payload.Asset) (*prepared, error) {
	p, ok := a.Ready.(*prepared)
	if !ok {
		made, _ := a.Ready.(*Packed)
		a.Ready = nil
		return prepare(a, made)
	}
	a.Ready = nil
	if parts := a.ChildParts(); parts != nil { // which are known since
		for i := range p.meshes {
			m := &p.meshes[i]
			m.part = parts[a.Meshes[m.record].EntityID]
		}
	}
	return p, nil
}

// prepare checks what drawing relies on and lays the asset out, with what Pack has made of
// it, or nil. The index values themselves were checked when the file was read.
func prepare(a *payload.Asset, made *Packed) (*prepared, error) {
	p := &prepared{
		box:      geom.EmptyBox(),
		vertices: a.Geometry.Vertices, indices: a.Geometry.Indices,
		meshes: make([]mesh, 0, len(a.Meshes)),
	}
	if err := p.checkRanges(a.Meshes); err != nil {
		return nil, err
	}
	offsets := p.layOut(a.Meshes)
	transforms := worldTransforms(a.Entities)
	objects := map[uint32]int32{}                  // by entity id
	materials := make([]int32, len(a.Materials)+1) // in p, counted from 1
	parts := a.ChildParts()
	for i := range a.Meshes {
		rec := &a.Meshes[i]
		if rec.IndexCount == 0 {
			continue
		}
		m := mesh{
			firstIndex: uint32(offsets[i].index / rec.IndexType.Size()), indexCount: rec.IndexCount - rec.IndexCount%3,
			baseVertex: int32(offsets[i].vertex / vertex.Size), wide: rec.IndexType == vertex.Index32,
			material: p.material(a.Materials, rec.Material, materials), record: int32(i), part: parts[rec.EntityID],
		}
		m.kind = kindOf(&p.materials[m.material])
		world, ok := transforms[rec.EntityID]
		if ok && world != geom.Identity() {
			if objects[rec.EntityID] == 0 {
				p.objects = append(p.objects, world)
				objects[rec.EntityID] = int32(len(p.objects))
			}
			m.object, m.mirrored = objects[rec.EntityID], world.Det3() < 0
		} else {
			world = geom.Identity()
		}
		box := meshBox(rec.LocalBounds, &world)
		m.center, m.half = [3]float64(box.Center()), [3]float64(box.Size().Scale(0.5))
		p.box = p.box.Union(box)
		p.meshes = append(p.meshes, m)
	}
	p.pack(a.Meshes, made)
	// Instances of the same geometry beside each other: one command draws them.
	slices.SortStableFunc(p.meshes, func(a, b mesh) int {
		return cmp.Or(cmp.Compare(a.bundle, b.bundle), cmp.Compare(a.firstIndex, b.firstIndex), cmp.Compare(a.baseVertex, b.baseVertex))
	})
	return p, nil
}

// material returns the index in p of material i of the asset, or of the default
// one when there is no such. A part of a tile uses few of the tile's materials,
// so they are taken over as they are met.
func (p *prepared) material(all []records.Material, i uint32, known []int32) int32 {
	i = min(i, uint32(len(all)))
	if known[i] == 0 {
		m := defaultMaterial()
		if i < uint32(len(all)) {
			m = all[i]
		}
		p.materials = append(p.materials, m)
		known[i] = int32(len(p.materials))
	}
	return known[i] - 1
}

// checkRanges checks the ranges of the mesh records.
func (p *prepared) checkRanges(meshes []records.Mesh) error {
	inside := func(off, n, size uint64) bool { return off <= size && n <= size-off }
	for i := range meshes {
		m := &meshes[i]
		size := uint64(m.IndexType.Size())
		switch {
		case size == 0:
			return fmt.Errorf("render: mesh %d: index type %d", i, m.IndexType)
		case m.VertexSize != uint64(m.VertexCount)*vertex.Size || m.IndexSize != uint64(m.IndexCount)*size:
			return fmt.Errorf("render: mesh %d: sizes and counts disagree", i)
		case !inside(m.VertexOffset, m.VertexSize, uint64(len(p.vertices))), !inside(m.IndexOffset, m.IndexSize, uint64(len(p.indices))):
			return fmt.Errorf("render: mesh %d: its range is outside the geometry", i)
		}
	}
	if len(p.vertices) > math.MaxInt32 || len(p.indices) > math.MaxInt32 {
		return fmt.Errorf("render: geometry of %d + %d bytes is too large for one buffer", len(p.vertices), len(p.indices))
	}
	return nil
}

// offset is where a mesh's ranges begin, in bytes.
type offset struct{ vertex, index int }

// layOut returns where the ranges begin. Packed files may start a 32-bit range
// at an odd multiple of two, which no draw call can name: then the indices are
// copied with padding between, every distinct range once.
func (p *prepared) layOut(meshes []records.Mesh) []offset {
	out := make([]offset, len(meshes))
	oddVertices, oddIndices := false, false
	for i := range meshes {
		m := &meshes[i]
		out[i] = offset{int(m.VertexOffset), int(m.IndexOffset)}
		oddVertices = oddVertices || m.VertexOffset%vertex.Size != 0
		oddIndices = oddIndices || m.IndexOffset%uint64(m.IndexType.Size()) != 0
	}
	if oddVertices {
		p.vertices = repack(p.vertices, meshes, func(i int) (*int, int) { return &out[i].vertex, int(meshes[i].VertexSize) })
	}
	if oddIndices {
		p.indices = repack(p.indices, meshes, func(i int) (*int, int) { return &out[i].index, int(meshes[i].IndexSize) })
	}
	return out
}

// repack copies the ranges to multiples of 32 and changes their offsets.
func repack(src []byte, meshes []records.Mesh, at func(i int) (*int, int)) []byte {
	type place struct{ off, n int }
	moved := map[place]int{}
	var dst []byte
	for i := range meshes {
		off, n := at(i)
		from := place{*off, n}
		to, ok := moved[from]
		if !ok {
			to = (len(dst) + 31) &^ 31
			dst = append(append(dst, make([]byte, to-len(dst))...), src[*off:*off+n]...)
			moved[from] = to
		}
		*off = to
	}
	return dst
}

// worldTransforms returns the transforms of the entities that have one that is
// not the identity, by id. What hangs on a cycle stays where it is.
func worldTransforms(entities []records.Entity) map[uint32]geom.Mat4 {
	plain := true
	for i := range entities {
		plain = plain && isIdentity(&entities[i].LocalTransform)
	}
	if plain {
		return nil
	}
	byID := make(map[uint32]int, len(entities))
	for i := range entities {
		byID[entities[i].ID] = i
	}
	out := make(map[uint32]geom.Mat4, len(entities))
	for i := range entities {
		world := geom.Identity()
		at, ok := i, true
		for depth := 0; ok && depth <= len(entities); depth++ {
			local := widen(&entities[at].LocalTransform)
			world = local.Mul(world)
			if entities[at].ParentID == records.NoIndex {
				break
			}
			at, ok = byID[entities[at].ParentID]
		}
		if world.IsFinite() {
			out[entities[i].ID] = world
		}
	}
	return out
}

func isIdentity(m *[16]float32) bool {
	return *m == [16]float32{0: 1, 5: 1, 10: 1, 15: 1}
}

func widen(m *[16]float32) (out geom.Mat4) {
	for i, v := range m {
		out[i] = float64(v)
	}
	return out
}

// hugeBox stands for a box that makes no sense, so that nothing is culled
// wrongly.
const hugeBox = 1e7

// meshBox returns the box of a mesh in scene space.
func meshBox(b records.Bounds, world *geom.Mat4) geom.Box {
	box := geom.Box{Min: geom.FromF32(b.Min), Max: geom.FromF32(b.Max)}
	if !box.Min.IsFinite() || !box.Max.IsFinite() || box.IsEmpty() {
		return geom.Box{Min: geom.Vec3{-hugeBox, -hugeBox, -hugeBox}, Max: geom.Vec3{hugeBox, hugeBox, hugeBox}}
	}
	return box.Transform(world)
}
