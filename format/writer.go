package format

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math"

	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/format/vertex"
)

// WriteOptions chooses how a File is stored.
type WriteOptions struct {
	Compress CompressMode
	// Version is the format version of the file, 1 to MaxVersion; 0 is Version. From 2 on
	// newer engines take the emissive factor as it is, 3 adds the height map of
	// materials, 4 its remap.
	Version uint32
	// NoHash leaves contentHash zero, which readers take as "not computed".
	NoHash bool
}

// Encode returns the file's bytes: the version of opts, the seven chunks in ascending
// order, each at a multiple of 16 with zero padding between them and none
// behind the last. The bytes depend on the content and options alone.
func (f *File) Encode(opts WriteOptions) ([]byte, error) {
	e, err := f.layout(opts)
	if err != nil {
		return nil, err
	}
	return e.bytes(), nil
}

// WriteTo writes the bytes that Encode returns, without a second copy of the
// geometry. It returns the number of bytes written.
func (f *File) WriteTo(w io.Writer, opts WriteOptions) (int64, error) {
	e, err := f.layout(opts)
	if err != nil {
		return 0, err
	}
	var n int64
	put := func(b []byte) error {
		m, err := w.Write(b)
		n += int64(m)
		return err
	}
	if err := put(e.head); err != nil {
		return n, err
	}
	for i, b := range e.payloads {
		if err := put(zeros[:e.pad[i]]); err != nil {
			return n, err
		}
		if err := put(b); err != nil {
			return n, err
		}
	}
	return n, nil
}

var zeros [alignment]byte

// encoded is a file in pieces: header with table, then padding and payload by
// turns.
type encoded struct {
	head     []byte
	pad      []int
	payloads [][]byte
	size     uint64
}

func (f *File) layout(opts WriteOptions) (*encoded, error) {
	if err := f.checkCounts(); err != nil {
		return nil, err
	}
	if opts.Version == 0 {
		opts.Version = Version
	}
	if opts.Version > MaxVersion {
		return nil, fmt.Errorf("untold: format version %d cannot be written, only 1 to %d", opts.Version, MaxVersion)
	}
	chunks, payloads, err := f.chunks(opts)
	if err != nil {
		return nil, err
	}
	hdr := f.header(uint32(len(chunks)), opts.Version)
	return arrange(&hdr, chunks, payloads, !opts.NoHash), nil
}

// arrange finds the places of payloads, in the order of their chunks, and hashes them.
func arrange(hdr *Header, chunks []Chunk, payloads [][]byte, hash bool) *encoded {
	e := &encoded{payloads: payloads}
	pos := uint64(records.HeaderSize + len(chunks)*records.ChunkSize)
	h := sha256.New()
	for i := range chunks {
		start := align16(pos)
		e.pad = append(e.pad, int(start-pos))
		chunks[i].Offset = start
		pos = start + uint64(len(payloads[i]))
		h.Write(payloads[i])
	}
	e.size = pos
	hdr.ContentHash = [hashSize]byte{}
	if hash {
		h.Sum(hdr.ContentHash[:0])
	}
	e.head = appendHeader(make([]byte, 0, records.HeaderSize+len(chunks)*records.ChunkSize), hdr)
	for i := range chunks {
		e.head = appendChunk(e.head, &chunks[i])
	}
	return e
}

// bytes joins the pieces.
func (e *encoded) bytes() []byte {
	out := make([]byte, 0, e.size)
	out = append(out, e.head...)
	for i, b := range e.payloads {
		out = append(out, zeros[:e.pad[i]]...)
		out = append(out, b...)
	}
	return out
}

func (f *File) header(chunkCount, version uint32) Header {
	box, _ := f.Bounds()
	return Header{
		FormatVersion: version, FileType: f.Type, HeaderSize: records.HeaderSize, ChunkCount: chunkCount,
		MeshCount: uint32(len(f.Meshes)), MaterialCount: uint32(len(f.Materials)),
		TextureCount: uint32(len(f.Textures)), EntityCount: uint32(len(f.Entities)),
		VertexLayout: vertex.LayoutPBRStatic, WorldBounds: box, RootTransform: identity,
	}
}

// chunks serialises the seven payloads in ascending order of type. Metadata is
// never compressed.
func (f *File) chunks(opts WriteOptions) ([]Chunk, [][]byte, error) {
	material := func(b []byte, m *records.Material) []byte { return records.AppendMaterial(b, m, opts.Version) }
	tables := []struct {
		t ChunkType
		b []byte
		n int
	}{
		{ChunkStrings, f.Strings, 0},
		{ChunkEntities, appendTable(f.Entities, records.EntitySize, records.AppendEntity), len(f.Entities)},
		{ChunkMeshes, appendTable(f.Meshes, records.MeshSize, records.AppendMesh), len(f.Meshes)},
		{ChunkMaterials, appendTable(f.Materials, records.MaterialSize(opts.Version), material), len(f.Materials)},
		{ChunkTextures, appendTable(f.Textures, records.TextureSize, records.AppendTexture), len(f.Textures)},
		{ChunkVertices, f.Vertices, 0},
		{ChunkIndices, f.Indices, 0},
	}
	var chunks []Chunk
	var payloads [][]byte
	for _, t := range tables {
		c := Chunk{Type: t.t, UncompressedSize: uint64(len(t.b)), ElementCount: uint32(t.n)}
		stored := t.b
		if t.t.isGeometry() {
			var err error
			if stored, c.Compression, err = compress(t.b, t.t, opts.Compress); err != nil {
				return nil, nil, err
			}
		}
		c.CompressedSize = uint64(len(stored))
		chunks = append(chunks, c)
		payloads = append(payloads, stored)
	}
	return chunks, payloads, nil
}

func appendTable[T any](records []T, size int, put func([]byte, *T) []byte) []byte {
	b := make([]byte, 0, len(records)*size)
	for i := range records {
		b = put(b, &records[i])
	}
	return b
}

// checkCounts refuses what 32-bit counts and string offsets cannot say.
func (f *File) checkCounts() error {
	for _, c := range []struct {
		what string
		n    int
	}{
		{"entities", len(f.Entities)},
		{"meshes", len(f.Meshes)},
		{"materials", len(f.Materials)},
		{"textures", len(f.Textures)},
		{"string bytes", len(f.Strings)},
	} {
		if uint64(c.n) >= math.MaxUint32 {
			return fmt.Errorf("untold: %d %s do not fit into 32 bits", c.n, c.what)
		}
	}
	if f.Type < FileTile || f.Type > FileShared {
		return fmt.Errorf("untold: file type %d cannot be written", f.Type)
	}
	return nil
}

// ToFile loads everything into memory, for writing the file again. Fields of
// format versions after 1 are not carried over; a root transform is multiplied
// into the entities.
func (r *Reader) ToFile() (*File, error) {
	entities, _ := r.Placed()
	f := &File{
		Type: r.p.header.FileType, Strings: []byte(r.p.strings.data), Entities: entities,
		Meshes: r.p.meshes, Materials: r.p.materials, Textures: r.p.textures,
	}
	g, err := r.ReadGeometry(Geometry{})
	if err != nil {
		return nil, err
	}
	f.Vertices, f.Indices = g.Vertices, g.Indices
	return f, nil
}
