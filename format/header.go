package format

import (
	"encoding/binary"

	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/format/vertex"
)

const (
	// alignment is the multiple at which every chunk payload starts.
	alignment = 16

	// Version is the version that this package writes.
	Version = 1
	// MaxVersion is the newest version that this package reads.
	MaxVersion = 4

	hashOffset = 140
	hashSize   = 32
)

// magic is "UNTOLD" and two zero bytes.
const magic = "UNTOLD\x00\x00"

// Header is the first 204 bytes of a file.
type Header struct {
	FormatVersion uint32
	FileType      FileType
	Flags         uint32 // none defined, 0
	HeaderSize    uint32 // 204
	ChunkCount    uint32
	MeshCount     uint32
	MaterialCount uint32
	TextureCount  uint32
	EntityCount   uint32
	VertexLayout  vertex.Layout
	Reserved0     uint32
	WorldBounds   records.Bounds
	RootTransform [16]float32 // column-major, identity in all known files
	ContentHash   [hashSize]byte
	Reserved1     [32]byte
}

// Chunk is one entry of the chunk table.
type Chunk struct {
	Type             ChunkType
	Compression      Compression
	Offset           uint64 // from the start of the file, a multiple of 16
	CompressedSize   uint64 // stored bytes
	UncompressedSize uint64
	ElementCount     uint32 // records of a table, 0 for blobs
	Reserved0        uint32
}

// identity is the column-major identity matrix.
var identity = [16]float32{0: 1, 5: 1, 10: 1, 15: 1}

func appendHeader(b []byte, h *Header) []byte {
	le := binary.LittleEndian
	b = append(b, magic...)
	for _, v := range [...]uint32{
		h.FormatVersion, uint32(h.FileType), h.Flags, h.HeaderSize, h.ChunkCount, h.MeshCount,
		h.MaterialCount, h.TextureCount, h.EntityCount, uint32(h.VertexLayout), h.Reserved0,
	} {
		b = le.AppendUint32(b, v)
	}
	b = records.AppendBounds(b, h.WorldBounds)
	b = records.AppendFloats(b, h.RootTransform[:])
	b = append(b, h.ContentHash[:]...)
	return append(b, h.Reserved1[:]...)
}

// decodeHeader reads everything behind the magic; b holds records.HeaderSize bytes.
func decodeHeader(b []byte) Header {
	le := binary.LittleEndian
	h := Header{
		FormatVersion: le.Uint32(b[8:]),
		FileType:      FileType(le.Uint32(b[12:])),
		Flags:         le.Uint32(b[16:]),
		HeaderSize:    le.Uint32(b[20:]),
		ChunkCount:    le.Uint32(b[24:]),
		MeshCount:     le.Uint32(b[28:]),
		MaterialCount: le.Uint32(b[32:]),
		TextureCount:  le.Uint32(b[36:]),
		EntityCount:   le.Uint32(b[40:]),
		VertexLayout:  vertex.Layout(le.Uint32(b[44:])),
		Reserved0:     le.Uint32(b[48:]),
		WorldBounds:   records.ReadBounds(b[52:]),
	}
	records.ReadFloats(h.RootTransform[:], b[76:])
	copy(h.ContentHash[:], b[hashOffset:])
	copy(h.Reserved1[:], b[172:])
	return h
}

func appendChunk(b []byte, c *Chunk) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(c.Type))
	b = le.AppendUint32(b, uint32(c.Compression))
	b = le.AppendUint64(b, c.Offset)
	b = le.AppendUint64(b, c.CompressedSize)
	b = le.AppendUint64(b, c.UncompressedSize)
	b = le.AppendUint32(b, c.ElementCount)
	return le.AppendUint32(b, c.Reserved0)
}

func decodeChunk(b []byte) Chunk {
	le := binary.LittleEndian
	return Chunk{
		Type:             ChunkType(le.Uint32(b)),
		Compression:      Compression(le.Uint32(b[4:])),
		Offset:           le.Uint64(b[8:]),
		CompressedSize:   le.Uint64(b[16:]),
		UncompressedSize: le.Uint64(b[24:]),
		ElementCount:     le.Uint32(b[32:]),
		Reserved0:        le.Uint32(b[36:]),
	}
}

// align16 rounds up to a multiple of 16; callers pass file positions, far from
// overflow.
func align16(n uint64) uint64 { return (n + alignment - 1) &^ (alignment - 1) }
