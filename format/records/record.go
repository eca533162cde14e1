// Package records holds the records of an .untold container's tables: entities, meshes,
// materials and textures, as they are stored in little-endian bytes.
package records

import (
	"encoding/binary"
	"math"

	"github.com/untoldkit/untold/format/vertex"
)

// Sizes in bytes, from the format's field lists, of a file's header, of an entry of
// its chunk table, and of records; MaterialSize tells that of a material.
const (
	HeaderSize  = 204
	ChunkSize   = 40
	EntitySize  = 136
	MeshSize    = 104
	TextureSize = 32
)

// MaterialSize returns the bytes of one material record in a format version:
// 88 in versions 1 and 2, 100 in 3, 108 in 4; 0 for any other version.
func MaterialSize(version uint32) int {
	switch version {
	case 1, 2:
		return 88
	case 3:
		return 100
	case 4:
		return 108
	}
	return 0
}

// Bounds is an axis-aligned box in metres.
type Bounds struct {
	Min [3]float32 `json:"min"`
	Max [3]float32 `json:"max"`
}

// union returns the box around both.
func (b Bounds) Union(o Bounds) Bounds {
	for i := range 3 {
		b.Min[i] = min(b.Min[i], o.Min[i])
		b.Max[i] = max(b.Max[i], o.Max[i])
	}
	return b
}

// Entity is one record of the entity table (136 bytes): a node that owns a
// contiguous range of mesh records.
type Entity struct {
	ID             uint32 // unique; 0, 1, 2, ... in files of ours
	ParentID       uint32 // NoIndex for none
	NameOffset     uint32
	FirstMesh      uint32
	MeshCount      uint32
	Flags          uint32 // none defined, 0
	LocalBounds    Bounds
	WorldBounds    Bounds
	LocalTransform [16]float32 // column-major, relative to the parent
}

// Mesh is one record of the mesh table (104 bytes): a triangle list with one
// material. Offsets and sizes refer to the uncompressed geometry chunks.
type Mesh struct {
	EntityID          uint32
	NameOffset        uint32
	Material          uint32 // NoIndex for none
	IndexType         vertex.IndexType
	VertexCount       uint32
	IndexCount        uint32
	VertexStride      uint32 // 32
	Flags             uint32 // none defined, 0
	VertexOffset      uint64
	IndexOffset       uint64
	VertexSize        uint64 // VertexCount * VertexStride
	IndexSize         uint64 // IndexCount * IndexType.Size()
	EstimatedGPUBytes uint64 // VertexSize + IndexSize (plus edges in later files)
	Reserved0         uint64 // later files: edge range
	LocalBounds       Bounds
}

// Material is one record of the material table (88 bytes in version 1). The
// height fields exist from version 3 and 4 on; they are kept, not used.
type Material struct {
	NameOffset        uint32
	Flags             uint32
	BaseColor         [4]float32 // linear
	Emissive          [3]float32 // linear
	NormalScale       float32
	Metallic          float32
	Roughness         float32
	OcclusionStrength float32
	AlphaCutoff       float32
	BaseColorTexture  uint32 // texture indices, NoIndex for none
	NormalTexture     uint32
	MetallicTexture   uint32
	RoughnessTexture  uint32
	EmissiveTexture   uint32
	OcclusionTexture  uint32
	HeightTexture     uint32     // version >= 3; NoIndex for none
	HeightScale       float32    // version >= 3
	HeightMidlevel    float32    // version >= 3
	HeightRemap       [2]float32 // version >= 4
	Reserved          [2]uint32  // [0]: roughness channel in bits 0-1, metallic in 2-3
}

// textureSlots returns the six texture indices in the order in which their
// strings are stored.
func (m *Material) TextureSlots() [6]uint32 {
	return [6]uint32{
		m.BaseColorTexture, m.NormalTexture, m.MetallicTexture,
		m.RoughnessTexture, m.EmissiveTexture, m.OcclusionTexture,
	}
}

// Texture is one record of the texture table (32 bytes).
type Texture struct {
	NameOffset uint32
	URIOffset  uint32
	Format     TextureFormat
	Flags      uint32
	Width      uint32 // pixels of the source
	Height     uint32
	MipCount   uint32
	Reserved0  uint32
}

func AppendEntity(b []byte, e *Entity) []byte {
	le := binary.LittleEndian
	for _, v := range [...]uint32{e.ID, e.ParentID, e.NameOffset, e.FirstMesh, e.MeshCount, e.Flags} {
		b = le.AppendUint32(b, v)
	}
	b = AppendBounds(b, e.LocalBounds)
	b = AppendBounds(b, e.WorldBounds)
	return AppendFloats(b, e.LocalTransform[:])
}

func DecodeEntity(b []byte) Entity {
	le := binary.LittleEndian
	e := Entity{
		ID:          le.Uint32(b),
		ParentID:    le.Uint32(b[4:]),
		NameOffset:  le.Uint32(b[8:]),
		FirstMesh:   le.Uint32(b[12:]),
		MeshCount:   le.Uint32(b[16:]),
		Flags:       le.Uint32(b[20:]),
		LocalBounds: ReadBounds(b[24:]),
		WorldBounds: ReadBounds(b[48:]),
	}
	ReadFloats(e.LocalTransform[:], b[72:])
	return e
}

func AppendMesh(b []byte, m *Mesh) []byte {
	le := binary.LittleEndian
	for _, v := range [...]uint32{
		m.EntityID, m.NameOffset, m.Material, uint32(m.IndexType),
		m.VertexCount, m.IndexCount, m.VertexStride, m.Flags,
	} {
		b = le.AppendUint32(b, v)
	}
	for _, v := range [...]uint64{
		m.VertexOffset, m.IndexOffset, m.VertexSize, m.IndexSize, m.EstimatedGPUBytes, m.Reserved0,
	} {
		b = le.AppendUint64(b, v)
	}
	return AppendBounds(b, m.LocalBounds)
}

func DecodeMesh(b []byte) Mesh {
	le := binary.LittleEndian
	return Mesh{
		EntityID:          le.Uint32(b),
		NameOffset:        le.Uint32(b[4:]),
		Material:          le.Uint32(b[8:]),
		IndexType:         vertex.IndexType(le.Uint32(b[12:])),
		VertexCount:       le.Uint32(b[16:]),
		IndexCount:        le.Uint32(b[20:]),
		VertexStride:      le.Uint32(b[24:]),
		Flags:             le.Uint32(b[28:]),
		VertexOffset:      le.Uint64(b[32:]),
		IndexOffset:       le.Uint64(b[40:]),
		VertexSize:        le.Uint64(b[48:]),
		IndexSize:         le.Uint64(b[56:]),
		EstimatedGPUBytes: le.Uint64(b[64:]),
		Reserved0:         le.Uint64(b[72:]),
		LocalBounds:       ReadBounds(b[80:]),
	}
}

// AppendMaterial writes the record of a version.
func AppendMaterial(b []byte, m *Material, version uint32) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, m.NameOffset)
	b = le.AppendUint32(b, m.Flags)
	b = AppendFloats(b, m.BaseColor[:])
	b = AppendFloats(b, m.Emissive[:])
	b = AppendFloats(b, []float32{m.NormalScale, m.Metallic, m.Roughness, m.OcclusionStrength, m.AlphaCutoff})
	for _, t := range m.TextureSlots() {
		b = le.AppendUint32(b, t)
	}
	if version >= 3 {
		b = AppendFloats(le.AppendUint32(b, m.HeightTexture), []float32{m.HeightScale, m.HeightMidlevel})
	}
	if version >= 4 {
		b = AppendFloats(b, m.HeightRemap[:])
	}
	b = le.AppendUint32(b, m.Reserved[0])
	return le.AppendUint32(b, m.Reserved[1])
}

// decodeMaterial reads a record of the given version; b holds at least
// MaterialSize(version) bytes.
func DecodeMaterial(b []byte, version uint32) Material {
	le := binary.LittleEndian
	m := Material{
		NameOffset:        le.Uint32(b),
		Flags:             le.Uint32(b[4:]),
		NormalScale:       Float(b[36:]),
		Metallic:          Float(b[40:]),
		Roughness:         Float(b[44:]),
		OcclusionStrength: Float(b[48:]),
		AlphaCutoff:       Float(b[52:]),
		BaseColorTexture:  le.Uint32(b[56:]),
		NormalTexture:     le.Uint32(b[60:]),
		MetallicTexture:   le.Uint32(b[64:]),
		RoughnessTexture:  le.Uint32(b[68:]),
		EmissiveTexture:   le.Uint32(b[72:]),
		OcclusionTexture:  le.Uint32(b[76:]),
		HeightTexture:     NoIndex,
	}
	ReadFloats(m.BaseColor[:], b[8:])
	ReadFloats(m.Emissive[:], b[24:])
	rest := b[80:]
	if version >= 3 {
		m.HeightTexture = le.Uint32(rest)
		m.HeightScale = Float(rest[4:])
		m.HeightMidlevel = Float(rest[8:])
		rest = rest[12:]
	}
	if version >= 4 {
		ReadFloats(m.HeightRemap[:], rest)
		rest = rest[8:]
	}
	m.Reserved[0] = le.Uint32(rest)
	m.Reserved[1] = le.Uint32(rest[4:])
	return m
}

func AppendTexture(b []byte, t *Texture) []byte {
	le := binary.LittleEndian
	for _, v := range [...]uint32{
		t.NameOffset, t.URIOffset, uint32(t.Format), t.Flags, t.Width, t.Height, t.MipCount, t.Reserved0,
	} {
		b = le.AppendUint32(b, v)
	}
	return b
}

func DecodeTexture(b []byte) Texture {
	le := binary.LittleEndian
	return Texture{
		NameOffset: le.Uint32(b),
		URIOffset:  le.Uint32(b[4:]),
		Format:     TextureFormat(le.Uint32(b[8:])),
		Flags:      le.Uint32(b[12:]),
		Width:      le.Uint32(b[16:]),
		Height:     le.Uint32(b[20:]),
		MipCount:   le.Uint32(b[24:]),
		Reserved0:  le.Uint32(b[28:]),
	}
}

func appendF32(b []byte, v float32) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
}

func AppendFloats(b []byte, v []float32) []byte {
	for _, f := range v {
		b = appendF32(b, f)
	}
	return b
}

func AppendBounds(b []byte, v Bounds) []byte {
	return AppendFloats(AppendFloats(b, v.Min[:]), v.Max[:])
}

func Float(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

func ReadFloats(dst []float32, b []byte) {
	for i := range dst {
		dst[i] = Float(b[4*i:])
	}
}

func ReadBounds(b []byte) Bounds {
	var v Bounds
	ReadFloats(v.Min[:], b)
	ReadFloats(v.Max[:], b[12:])
	return v
}
