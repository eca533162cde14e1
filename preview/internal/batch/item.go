package batch

import (
	"encoding/binary"
	"math"
	"path/filepath"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/runtime/payload"
)

// Ref names a mesh: a mesh record of an uploaded representation.
type Ref struct {
	payload.Key
	Mesh int32 // index in Asset.Meshes
}

// Item describes a mesh for batching.
type Item struct {
	// Static says that the mesh may be merged: it is opaque or cut out, does not
	// move, and its vertices are in the space of the scene.
	Static   bool
	Bounds   records.Bounds // in the space of the scene; its centre decides the cell
	Material uint64         // meshes of equal numbers are drawn alike
	Channels uint32         // mask of the passes that draw it
	Level    int32          // of a LOD group, within the representation
	Vertices uint32
	Indices  uint32
}

// Items describes the meshes of an asset, in the order of its records.
// material returns the number of a material, by its index or -1 for a mesh
// without one, and whether it may be merged: blended ones have to be sorted and
// may not. Meshes whose ranges do not hold, or that an entity's transform moves,
// are not static.
func Items(a *payload.Asset, material func(index int) (number uint64, ok bool)) []Item {
	if a == nil {
		return nil
	}
	moved := movedEntities(a.Entities)
	out := make([]Item, len(a.Meshes))
	for i := range a.Meshes {
		m := &a.Meshes[i]
		index := -1
		if uint64(m.Material) < uint64(len(a.Materials)) {
			index = int(m.Material)
		}
		number, ok := material(index)
		out[i] = Item{
			Static: ok && !moved[m.EntityID] && sound(m, &a.Geometry) && finite(m.LocalBounds),
			Bounds: m.LocalBounds, Material: number, Level: int32(a.Level), Vertices: m.VertexCount, Indices: m.IndexCount,
		}
	}
	return out
}

// sound reports whether a mesh is a list of triangles within the geometry.
func sound(m *records.Mesh, g *format.Geometry) bool {
	size := m.IndexType.Size()
	return size > 0 && m.IndexCount > 0 && m.IndexCount%3 == 0 && m.VertexCount > 0 &&
		m.VertexSize == uint64(m.VertexCount)*vertex.Size && m.IndexSize == uint64(m.IndexCount)*uint64(size) &&
		inside(m.VertexOffset, m.VertexSize, g.Vertices) && inside(m.IndexOffset, m.IndexSize, g.Indices)
}

func inside(off, n uint64, data []byte) bool {
	size := uint64(len(data))
	return off <= size && n <= size-off
}

// movedEntities returns the entities whose transform, with those above, is not
// the identity, by id.
func movedEntities(entities []records.Entity) map[uint32]bool {
	identity := [16]float32{0: 1, 5: 1, 10: 1, 15: 1}
	plain := true
	for i := range entities {
		plain = plain && entities[i].LocalTransform == identity
	}
	if plain {
		return nil
	}
	byID := make(map[uint32]int, len(entities))
	for i := range entities {
		byID[entities[i].ID] = i
	}
	out := make(map[uint32]bool, len(entities))
	for i := range entities {
		out[entities[i].ID] = isMoved(entities, byID, i)
	}
	return out
}

// maxDepth is how far up an entity is followed; deeper ones count as moved.
const maxDepth = 64

func isMoved(entities []records.Entity, byID map[uint32]int, at int) bool {
	identity := [16]float32{0: 1, 5: 1, 10: 1, 15: 1}
	for range maxDepth {
		e := &entities[at]
		if e.LocalTransform != identity {
			return true
		}
		up, ok := byID[e.ParentID]
		if e.ParentID == records.NoIndex || !ok {
			return false
		}
		at = up
	}
	return true
}

func finite(b records.Bounds) bool {
	for i := range 3 {
		if math.IsNaN(float64(b.Min[i]-b.Min[i])) || math.IsNaN(float64(b.Max[i]-b.Max[i])) || b.Min[i] > b.Max[i] {
			return false
		}
	}
	return true
}

// Materials numbers materials by what they look like: parameters and resolved
// texture paths. It is not safe for concurrent use.
type Materials struct {
	numbers map[string]uint64
	key     []byte
}

// NewMaterials returns an empty table.
func NewMaterials() *Materials { return &Materials{numbers: map[string]uint64{}} }

// Of returns the function that Items takes, for the materials of an asset.
func (m *Materials) Of(a *payload.Asset) func(index int) (number uint64, ok bool) {
	return func(index int) (uint64, bool) {
		if index < 0 {
			return m.number([]byte{0}), true
		}
		r := &a.Materials[index]
		switch r.Flags & records.MaterialAlphaMask {
		case 0, records.MaterialCutout:
		default:
			return 0, false
		}
		m.key = appendMaterial(m.key[:0], a, r)
		return m.number(m.key), true
	}
}

func (m *Materials) number(key []byte) uint64 {
	n, ok := m.numbers[string(key)]
	if !ok {
		n = uint64(len(m.numbers)) + 1
		m.numbers[string(key)] = n
	}
	return n
}

// appendMaterial appends all of a material but its name.
func appendMaterial(b []byte, a *payload.Asset, r *records.Material) []byte {
	b = append(b, 1)
	b = binary.LittleEndian.AppendUint32(b, r.Flags)
	for _, v := range [...]float32{
		r.BaseColor[0], r.BaseColor[1], r.BaseColor[2], r.BaseColor[3],
		r.Emissive[0], r.Emissive[1], r.Emissive[2],
		r.NormalScale, r.Metallic, r.Roughness, r.OcclusionStrength, r.AlphaCutoff,
		r.HeightScale, r.HeightMidlevel, r.HeightRemap[0], r.HeightRemap[1],
	} {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	b = binary.LittleEndian.AppendUint32(b, r.Reserved[0])
	for _, t := range [...]uint32{
		r.BaseColorTexture, r.NormalTexture, r.MetallicTexture, r.RoughnessTexture,
		r.EmissiveTexture, r.OcclusionTexture, r.HeightTexture,
	} {
		if uint64(t) < uint64(len(a.Textures)) && a.Strings != nil {
			b = append(b, filepath.Join(a.Dir, filepath.FromSlash(a.Strings(a.Textures[t].URIOffset)))...)
		}
		b = append(b, 0)
	}
	return b
}
