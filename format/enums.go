package format

import (
	"strconv"

	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/internal/human"
)

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
func (t FileType) String() string { return human.EnumName(fileTypeNames[:], uint32(t)) }

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
	return human.EnumName(chunkNames[:], uint32(t))
}

func (t ChunkType) required() bool { return t >= firstRequiredChunk && t <= lastRequiredChunk }

// isGeometry tells the two payloads that may be compressed from the metadata.
func (t ChunkType) isGeometry() bool { return t == ChunkVertices || t == ChunkIndices }

// recordSize returns the bytes of one record in a table chunk, 0 for blobs.
func (t ChunkType) recordSize(version uint32) int {
	switch t {
	case ChunkEntities:
		return records.EntitySize
	case ChunkMeshes:
		return records.MeshSize
	case ChunkMaterials:
		return records.MaterialSize(version)
	case ChunkTextures:
		return records.TextureSize
	}
	return 0
}

// Compression says how a chunk is stored.
type Compression uint32

// The compression types: raw bytes, one raw LZ4 block (no frame, no size
// prefix), one Zstandard frame, and one of the differences of numbers with a byte in front
// that says of which.
const (
	CompressNone  Compression = 0
	CompressLZ4   Compression = 1
	CompressZstd  Compression = 2
	CompressDelta Compression = 3
)

// String returns none, lz4, zstd or delta.
func (c Compression) String() string {
	return human.EnumName([]string{"none", "lz4", "zstd", "delta"}, uint32(c))
}
