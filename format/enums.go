package format

import "strconv"

// FileType says what role a container plays in a streamed scene.
type FileType uint32

// The file types that hold static geometry. Type 5 (animation) exists in later
// generations of the format and is not supported.
const (
	FileTile   FileType = 1
	FileLOD    FileType = 2
	FileHLOD   FileType = 3
	FileShared FileType = 4
)

var fileTypeNames = [...]string{FileTile: "tile", FileLOD: "lod", FileHLOD: "hlod", FileShared: "shared"}

// String returns tile, lod, hlod or shared.
func (t FileType) String() string { return enumName(fileTypeNames[:], uint32(t)) }

// ParseFileType is the inverse of String.
func ParseFileType(s string) (FileType, bool) {
	for i, n := range fileTypeNames {
		if n == s && s != "" {
			return FileType(i), true
		}
	}
	return 0, false
}

// ChunkType names the content of a chunk.
type ChunkType uint32

// The seven chunk types of version 1, all required. Others are skipped, but
// they count for the content hash.
const (
	ChunkStrings   ChunkType = 1
	ChunkEntities  ChunkType = 2
	ChunkMeshes    ChunkType = 3
	ChunkMaterials ChunkType = 4
	ChunkTextures  ChunkType = 5
	ChunkVertices  ChunkType = 6
	ChunkIndices   ChunkType = 7

	chunkEdges ChunkType = 18 // of later writers

	firstRequiredChunk = ChunkStrings
	lastRequiredChunk  = ChunkIndices
)

var chunkNames = [...]string{
	1: "STRING_TABLE", 2: "ENTITY_TABLE", 3: "MESH_TABLE", 4: "MATERIAL_TABLE", 5: "TEXTURE_TABLE", 6: "VERTEX_DATA", 7: "INDEX_DATA",
	8: "SKELETON_TABLE", 9: "SKELETON_JOINT_TABLE", 10: "SKIN_TABLE", 11: "SKIN_JOINT_MAP", 12: "ANIMATION_CLIP_TABLE",
	13: "ANIMATION_CHANNEL_TABLE", 14: "TRANSLATION_KEYS", 15: "ROTATION_KEYS", 16: "JOINT_INDICES", 17: "JOINT_WEIGHTS",
	18: "EDGE_INDEX_DATA", 19: "LIGHT_TABLE", 20: "CAMERA_TABLE", 21: "COLOR_MANAGEMENT", 22: "COLOR_GRADE_LUT",
	23: "MORPH_TABLE", 24: "MORPH_DATA", 25: "GAUSSIAN_ASSET", 26: "MORPH_DRIVER", 27: "MUSCLE",
}

// String returns the name in capitals, such as VERTEX_DATA.
func (t ChunkType) String() string {
	if t >= 0x8000 {
		return "PLUGIN_" + strconv.FormatUint(uint64(t), 10)
	}
	return enumName(chunkNames[:], uint32(t))
}

// ParseChunkType accepts a chunk's name in any case or its number.
func ParseChunkType(s string) (ChunkType, bool) {
	for i, n := range chunkNames {
		if n != "" && equalFoldASCII(n, s) {
			return ChunkType(i), true
		}
	}
	n, err := strconv.ParseUint(s, 10, 32)
	return ChunkType(n), err == nil
}

func (t ChunkType) required() bool { return t >= firstRequiredChunk && t <= lastRequiredChunk }

// isGeometry tells the two payloads that may be compressed from the metadata.
func (t ChunkType) isGeometry() bool { return t == ChunkVertices || t == ChunkIndices }

// recordSize returns the bytes of one record in a table chunk, 0 for blobs.
func (t ChunkType) recordSize(version uint32) int {
	switch t {
	case ChunkEntities:
		return EntitySize
	case ChunkMeshes:
		return MeshSize
	case ChunkMaterials:
		return MaterialSize(version)
	case ChunkTextures:
		return TextureSize
	}
	return 0
}

// Compression says how a chunk is stored.
type Compression uint32

// The compression types: raw bytes, one raw LZ4 block (no frame, no size
// prefix), one Zstandard frame.
const (
	CompressNone Compression = 0
	CompressLZ4  Compression = 1
	CompressZstd Compression = 2
)

// String returns none, lz4 or zstd.
func (c Compression) String() string { return enumName([]string{"none", "lz4", "zstd"}, uint32(c)) }

// VertexLayout names the layout of a vertex.
type VertexLayout uint32

// LayoutPBRStatic is UNT_VERTEX_LAYOUT_PBR_STATIC_V1: 32 bytes, see [Vertex].
const LayoutPBRStatic VertexLayout = 1

// String returns the layout's name.
func (l VertexLayout) String() string {
	return enumName([]string{"", "PBR_STATIC_V1"}, uint32(l))
}

// IndexType is the width of the indices of a mesh. The values are 1 and 2, not
// 0 and 1.
type IndexType uint32

// The index types.
const (
	Index16 IndexType = 1
	Index32 IndexType = 2
)

// String returns uint16 or uint32.
func (t IndexType) String() string { return enumName([]string{"", "uint16", "uint32"}, uint32(t)) }

// Size returns the bytes of one index, 0 for an invalid type.
func (t IndexType) Size() int {
	switch t {
	case Index16:
		return 2
	case Index32:
		return 4
	}
	return 0
}

// IndexTypeFor returns the type to write for a mesh of n vertices: 16 bits up
// to 65,535 vertices.
func IndexTypeFor(n int) IndexType {
	if n <= 65535 {
		return Index16
	}
	return Index32
}

// TextureFormat describes the file behind a texture reference.
type TextureFormat uint32

// The texture formats. Unknown is right for PNG and JPEG; the ASTC and float
// formats mean a cooked texture container.
const (
	TextureUnknown     TextureFormat = 0
	TextureRGBA8       TextureFormat = 1
	TextureBC7         TextureFormat = 2
	TextureBC5         TextureFormat = 3
	TextureASTC4x4     TextureFormat = 4
	TextureASTC5x5     TextureFormat = 5
	TextureASTC6x6     TextureFormat = 6
	TextureASTC8x8     TextureFormat = 7
	TextureRGBA16Float TextureFormat = 8
	TextureR16Unorm    TextureFormat = 9
)

// String returns the format's name in lower case.
func (f TextureFormat) String() string {
	return enumName([]string{
		"unknown", "rgba8", "bc7", "bc5", "astc4x4", "astc5x5", "astc6x6", "astc8x8",
		"rgba16Float", "r16Unorm",
	}, uint32(f))
}

// Bits of Texture.Flags. Several uses of one texture are combined.
const (
	TextureSRGB      uint32 = 1 << 0
	TextureNormalMap uint32 = 1 << 1
	TextureColorLUT  uint32 = 1 << 2 // later generations
	TextureHeight    uint32 = 1 << 3 // later generations
	TextureEmissive  uint32 = 1 << 6
	TextureOcclusion uint32 = 1 << 7
)

// Bits of Material.Flags: the alpha mode in bits 0 and 1, then two bits of
// ours that the reference engine ignores.
const (
	MaterialAlphaMask   uint32 = 3
	MaterialOpaque      uint32 = 0
	MaterialCutout      uint32 = 1
	MaterialBlend       uint32 = 2
	MaterialDoubleSided uint32 = 1 << 2
	MaterialUnlit       uint32 = 1 << 3
)

// ChannelsMetalRough is Material.Reserved0 for glTF's combined texture:
// roughness in green (bits 0-1 = 1), metallic in blue (bits 2-3 = 2).
const ChannelsMetalRough uint32 = 9

// NoIndex is the sentinel for "no string", "no parent", "no material" and "no
// texture".
const NoIndex = ^uint32(0)

func enumName(names []string, v uint32) string {
	if v < uint32(len(names)) && names[v] != "" {
		return names[v]
	}
	return strconv.FormatUint(uint64(v), 10)
}

func equalFoldASCII(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		x, y := a[i], b[i]
		if 'a' <= y && y <= 'z' {
			y -= 'a' - 'A'
		}
		if x != y {
			return false
		}
	}
	return true
}
