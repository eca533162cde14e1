package format

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/format/vertex"
)

// parser reads header, chunk table and record tables. It serves both sides:
// for a Reader it stops at the first error that is not lenient; for Validate
// it goes on as long as what follows still has a meaning.
type parser struct {
	src    io.ReaderAt
	mem    []byte // the whole file when it is addressable, else nil
	size   uint64
	limits Limits

	strict   bool
	err      *Error // strict: the first error
	findings []finding.Finding
	perCode  map[finding.Code]int
	maxCode  int // findings kept per code, 0 = all

	header    Header
	chunks    []Chunk
	index     [lastRequiredChunk + 1]int // chunk table index per required type, -1
	strings   stringTable
	entities  []records.Entity
	meshes    []records.Mesh
	materials []records.Material
	textures  []records.Texture
	byID      map[uint32]int              // entity id to its first record; dropped by a Reader
	usable    [lastRequiredChunk + 1]bool // the table was read
}

// report records a finding; arguments are formatted only when it is kept.
func (p *parser) report(code finding.Code, at place, msg string, args ...any) {
	r := rules[code]
	if p.strict && (r.severity != finding.Error || r.lenient || p.err != nil) {
		return
	}
	if !p.strict {
		p.perCode[code]++
		if p.maxCode > 0 && p.perCode[code] > p.maxCode {
			return
		}
	}
	f := at.finding(code, fmt.Sprintf(msg, args...))
	if p.strict {
		p.err = &Error{f}
		return
	}
	p.findings = append(p.findings, f)
}

// failed tells a strict parser to stop.
func (p *parser) failed() bool { return p.err != nil }

// bytes returns n bytes at off, as a view when the file is in memory, else
// read into buf (grown as needed). The caller has checked the range.
func (p *parser) bytes(off, n uint64, buf []byte) ([]byte, error) {
	if p.mem != nil {
		return p.mem[off : off+n : off+n], nil
	}
	buf = slices.Grow(buf[:0], int(n))[:n]
	if m, err := p.src.ReadAt(buf, int64(off)); m < len(buf) {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return buf, nil
}

// parse runs all stages. It returns false when nothing behind the failing
// stage can be looked at.
func (p *parser) parse() bool {
	for i := range p.index {
		p.index[i] = -1
	}
	if !p.parseHeader() || p.failed() {
		return false
	}
	if !p.parseTable() || p.failed() {
		return false
	}
	for _, stage := range []func(){
		p.checkChunks, p.readTables, p.checkEntities, p.checkMeshes, p.checkMaterials, p.checkTextures,
	} {
		if stage(); p.failed() {
			return false
		}
	}
	return true
}

// parseHeader checks magic and version before the enums (the reference engine
// does it the other way round).
func (p *parser) parseHeader() bool {
	if p.size < records.HeaderSize {
		if p.size >= uint64(len(magic)) {
			if b, err := p.bytes(0, uint64(len(magic)), nil); err == nil && string(b) != magic {
				p.report(codeMagic, inFile(0), "the first 8 bytes are %q instead of %q", b, magic)
				return false
			}
		}
		p.report(codeTruncated, inFile(int64(p.size)), "%d bytes are fewer than the header's %d", p.size, records.HeaderSize)
		return false
	}
	b, err := p.bytes(0, records.HeaderSize, nil)
	if err != nil {
		p.report(codeReadFailed, inFile(0), "reading the header: %v", err)
		return false
	}
	if string(b[:8]) != magic {
		p.report(codeMagic, inFile(0), "the first 8 bytes are %q instead of %q", b[:8], magic)
		return false
	}
	h := decodeHeader(b)
	p.header = h
	if records.MaterialSize(h.FormatVersion) == 0 {
		p.report(codeVersion, inFile(8), "format version %d, supported are 1 to %d", h.FormatVersion, MaxVersion)
		return false
	}
	if h.FileType < FileTile || h.FileType > FileShared {
		p.report(codeFileType, inFile(12), "file type %d, supported are 1 to 4", uint32(h.FileType))
	}
	if h.VertexLayout != vertex.LayoutPBRStatic {
		p.report(codeVertexLayout, inFile(44), "vertex layout %d, supported is 1", uint32(h.VertexLayout))
	}
	return true
}

// parseTable reads the chunk table, which has to lie inside the file before
// anything is allocated for it.
func (p *parser) parseTable() bool {
	n := uint64(p.header.ChunkCount)
	if room := (p.size - records.HeaderSize) / records.ChunkSize; n > room {
		p.report(codeTableTruncated, inFile(24), "%d chunk entries do not fit into %d bytes", n, p.size)
		if n = room; p.strict {
			return false
		}
	}
	b, err := p.bytes(records.HeaderSize, n*records.ChunkSize, nil)
	if err != nil {
		p.report(codeReadFailed, inFile(records.HeaderSize), "reading the chunk table: %v", err)
		return false
	}
	p.chunks = make([]Chunk, n)
	for i := range p.chunks {
		p.chunks[i] = decodeChunk(b[i*records.ChunkSize:])
	}
	return true
}

// entryOffset returns where chunk i's table entry begins.
func entryOffset(i int) int64 { return records.HeaderSize + int64(i)*records.ChunkSize }

// checkChunks judges every entry and finds the required ones.
func (p *parser) checkChunks() {
	for i := range p.chunks {
		c := &p.chunks[i]
		at := func(field int64) place { return inChunk(c.Type, entryOffset(i)+field) }
		ok := true
		if c.Compression > CompressDelta {
			p.report(codeCompression, at(4), "compression type %d", uint32(c.Compression))
			ok = false
		}
		if c.Offset%alignment != 0 {
			p.report(codeMisaligned, at(8), "payload offset %d is not a multiple of %d", c.Offset, alignment)
		}
		tableEnd := records.HeaderSize + uint64(len(p.chunks))*records.ChunkSize
		if c.Offset > p.size || c.CompressedSize > p.size-c.Offset || c.Offset < tableEnd {
			p.report(codeChunkBounds, at(8), "payload [%d, +%d) does not lie between the table's end %d and the file's end %d",
				c.Offset, c.CompressedSize, tableEnd, p.size)
			ok = false
		}
		if c.Compression == CompressNone && c.CompressedSize != c.UncompressedSize {
			p.report(codeChunkSize, at(16), "uncompressed chunk with stored size %d and raw size %d", c.CompressedSize, c.UncompressedSize)
			ok = false
		}
		if c.Type.required() {
			if p.index[c.Type] >= 0 {
				p.report(codeDuplicateChunk, at(0), "a second %s chunk; the first one counts", c.Type)
				continue
			}
			p.index[c.Type] = i
			p.usable[c.Type] = ok && p.checkTableSize(c, at)
		}
	}
	for t := firstRequiredChunk; t <= lastRequiredChunk; t++ {
		if p.index[t] < 0 {
			p.report(codeMissingChunk, place{t, -1, -1}, "the required chunk %s is missing", t)
		}
	}
}

// checkTableSize checks that a table's declared size is exactly its records,
// and that a compressed chunk keeps to the limits.
func (p *parser) checkTableSize(c *Chunk, at func(int64) place) bool {
	if rec := c.Type.recordSize(p.header.FormatVersion); rec > 0 && uint64(c.ElementCount)*uint64(rec) != c.UncompressedSize {
		p.report(codeTableSize, at(24), "%d records of %d bytes are not %d bytes", c.ElementCount, rec, c.UncompressedSize)
		return false
	}
	if c.Compression != CompressNone {
		if err := p.limits.check(c); err != nil {
			p.report(codeTooLarge, at(24), "%v", err)
			return false
		}
	}
	return true
}

// chunk returns the entry of a required chunk; only for types that are usable.
func (p *parser) chunk(t ChunkType) *Chunk { return &p.chunks[p.index[t]] }

// payload returns a chunk's decoded bytes. A zero-copy view is returned when
// the bytes are in memory and uncompressed.
func (p *parser) payload(t ChunkType, buf []byte) ([]byte, error) {
	return p.chunkData(p.chunk(t), buf)
}

// chunkData is payload for any entry of the table, also of unknown types.
func (p *parser) chunkData(c *Chunk, buf []byte) ([]byte, error) {
	if c.Compression == CompressNone {
		return p.bytes(c.Offset, c.CompressedSize, buf)
	}
	if err := p.limits.check(c); err != nil {
		return nil, fmt.Errorf("untold: %s: %w", c.Type, err)
	}
	if p.mem != nil {
		return decode(buf, p.mem[c.Offset:c.Offset+c.CompressedSize], c.Compression, int(c.UncompressedSize))
	}
	if l, ok := p.src.(Lender); ok && c.CompressedSize >= lendBytes {
		if b, err := decodeLent(l, c, buf); !errors.Is(err, errors.ErrUnsupported) {
			return b, err
		}
	}
	stored := scratch.get(int(c.CompressedSize))
	defer scratch.put(stored)
	src, err := p.bytes(c.Offset, c.CompressedSize, *stored)
	if err != nil {
		return nil, err
	}
	return decode(buf, src, c.Compression, int(c.UncompressedSize))
}

// table returns a metadata chunk's bytes and whether it can be looked at.
func (p *parser) table(t ChunkType) ([]byte, bool) {
	if p.index[t] < 0 || !p.usable[t] {
		return nil, false
	}
	b, err := p.payload(t, nil)
	if err != nil {
		p.reportPayload(t, err)
		p.usable[t] = false
		return nil, false
	}
	return b, true
}

// reportPayload turns an error of payload into a finding.
func (p *parser) reportPayload(t ChunkType, err error) {
	c := p.chunk(t)
	at := inChunk(t, int64(c.Offset))
	switch {
	case isDecodedSize(err):
		p.report(codeDecodedSize, at, "%v", err)
	case c.Compression != CompressNone:
		p.report(codeDecode, at, "%v", err)
	default:
		p.report(codeReadFailed, at, "%v", err)
	}
}

// readTables decodes the tables that can be read; a strict parser stops at the
// first that cannot.
func (p *parser) readTables() {
	v := p.header.FormatVersion
	for t := ChunkStrings; t <= ChunkTextures && !p.failed(); t++ {
		b, ok := p.table(t)
		if !ok {
			continue
		}
		switch t {
		case ChunkStrings:
			p.strings = newStringTable(b)
		case ChunkEntities:
			p.entities = decodeTable(b, records.EntitySize, records.DecodeEntity)
		case ChunkMeshes:
			p.meshes = decodeTable(b, records.MeshSize, records.DecodeMesh)
		case ChunkMaterials:
			p.materials = decodeTable(b, records.MaterialSize(v), func(b []byte) records.Material { return records.DecodeMaterial(b, v) })
		case ChunkTextures:
			p.textures = decodeTable(b, records.TextureSize, records.DecodeTexture)
		}
	}
}

func decodeTable[T any](b []byte, size int, dec func([]byte) T) []T {
	out := make([]T, len(b)/size)
	for i := range out {
		out[i] = dec(b[i*size:])
	}
	return out
}

// recordAt returns the place of a field of a record. Offsets inside compressed
// tables have no place in the file.
func (p *parser) recordAt(t ChunkType, i, field int) place {
	c := p.chunk(t)
	if c.Compression != CompressNone {
		return place{t, i, -1}
	}
	return place{t, i, int64(c.Offset) + int64(i)*int64(t.recordSize(p.header.FormatVersion)) + int64(field)}
}

// checkString judges one string reference. Without a usable table there is
// nothing to compare with.
func (p *parser) checkString(off uint32, what string, at func(int) place, field int) {
	if off == records.NoIndex || !p.usable[ChunkStrings] {
		return
	}
	switch p.strings.check(off) {
	case codeStringBounds:
		p.report(codeStringBounds, at(field), "%s at offset %d of a string table of %d bytes", what, off, len(p.strings.data))
	case codeStringUnterminated:
		p.report(codeStringUnterminated, at(field), "%s at offset %d has no terminator", what, off)
	case codeStringUTF8:
		p.report(codeStringUTF8, at(field), "%s at offset %d is not valid UTF-8", what, off)
	}
}

func (p *parser) checkEntities() {
	p.byID = make(map[uint32]int, len(p.entities))
	for i := range p.entities {
		e := &p.entities[i]
		at := func(f int) place { return p.recordAt(ChunkEntities, i, f) }
		if first, dup := p.byID[e.ID]; dup {
			p.report(codeEntityDuplicate, at(0), "entity id %d is also that of record %d", e.ID, first)
		} else {
			p.byID[e.ID] = i
		}
		p.checkString(e.NameOffset, "entity name", at, 8)
		if p.usable[ChunkMeshes] && uint64(e.FirstMesh)+uint64(e.MeshCount) > uint64(len(p.meshes)) {
			p.report(codeEntityMeshRange, at(12), "meshes [%d, +%d) of %d", e.FirstMesh, e.MeshCount, len(p.meshes))
		}
	}
	p.checkHierarchy()
	if p.strict {
		p.byID = nil
	}
}

// checkHierarchy looks for missing parents and cycles, in linear time.
func (p *parser) checkHierarchy() {
	parent := make([]int, len(p.entities))
	for i := range p.entities {
		e := &p.entities[i]
		parent[i] = -1
		if e.ParentID == records.NoIndex {
			continue
		}
		j, ok := p.byID[e.ParentID]
		if !ok {
			p.report(codeEntityParent, p.recordAt(ChunkEntities, i, 4), "parent id %d does not exist", e.ParentID)
			continue
		}
		if parent[i] = j; j > i {
			p.report(codeEntityOrder, p.recordAt(ChunkEntities, i, 4), "the parent is record %d", j)
		}
	}
	const unseen, open, done = 0, 1, 2
	state := make([]uint8, len(p.entities))
	var path []int
	for i := range parent {
		path = path[:0]
		j := i
		for j >= 0 && state[j] == unseen {
			state[j] = open
			path = append(path, j)
			j = parent[j]
		}
		if j >= 0 && state[j] == open {
			p.report(codeEntityCycle, p.recordAt(ChunkEntities, j, 4), "entity %d is its own ancestor", p.entities[j].ID)
		}
		for _, k := range path {
			state[k] = done
		}
	}
}

func (p *parser) checkMeshes() {
	for i := range p.meshes {
		m := &p.meshes[i]
		at := func(f int) place { return p.recordAt(ChunkMeshes, i, f) }
		p.checkString(m.NameOffset, "mesh name", at, 4)
		if m.Material != records.NoIndex && p.usable[ChunkMaterials] && uint64(m.Material) >= uint64(len(p.materials)) {
			p.report(codeMeshMaterial, at(8), "material %d of %d", m.Material, len(p.materials))
		}
		if m.VertexStride != vertex.Size {
			p.report(codeVertexStride, at(24), "vertex stride %d instead of %d", m.VertexStride, vertex.Size)
		}
		if m.IndexType.Size() == 0 {
			p.report(codeIndexType, at(12), "index type %d", uint32(m.IndexType))
		} else if want := uint64(m.IndexCount) * uint64(m.IndexType.Size()); m.IndexSize != want {
			p.report(codeIndexSize, at(56), "%d index bytes, %d indices need %d", m.IndexSize, m.IndexCount, want)
		}
		if want := uint64(m.VertexCount) * vertex.Size; m.VertexSize != want {
			p.report(codeVertexSize, at(48), "%d vertex bytes, %d vertices need %d", m.VertexSize, m.VertexCount, want)
		}
		p.checkRange(ChunkVertices, codeVertexRange, m.VertexOffset, m.VertexSize, at(32))
		p.checkRange(ChunkIndices, codeIndexRange, m.IndexOffset, m.IndexSize, at(40))
		if m.IndexCount%3 != 0 {
			p.report(codeIndexTriangles, at(20), "%d indices are not whole triangles", m.IndexCount)
		}
	}
}

// checkRange checks [off, off+n) against a geometry chunk without overflow.
func (p *parser) checkRange(t ChunkType, code finding.Code, off, n uint64, at place) {
	if p.index[t] < 0 {
		return
	}
	if size := p.chunk(t).UncompressedSize; off > size || n > size-off {
		p.report(code, at, "[%d, +%d) exceeds the %d bytes of %s", off, n, size, t)
	}
}

func (p *parser) checkMaterials() {
	for i := range p.materials {
		m := &p.materials[i]
		at := func(f int) place { return p.recordAt(ChunkMaterials, i, f) }
		p.checkString(m.NameOffset, "material name", at, 0)
		if !p.usable[ChunkTextures] {
			continue
		}
		for s, t := range m.TextureSlots() {
			if t != records.NoIndex && uint64(t) >= uint64(len(p.textures)) {
				p.report(codeMaterialTexture, at(56+4*s), "%s texture %d of %d", slotNames[s], t, len(p.textures))
			}
		}
	}
}

var slotNames = [...]string{"base color", "normal", "metallic", "roughness", "emissive", "occlusion"}

func (p *parser) checkTextures() {
	for i := range p.textures {
		t := &p.textures[i]
		at := func(f int) place { return p.recordAt(ChunkTextures, i, f) }
		p.checkString(t.NameOffset, "texture name", at, 0)
		p.checkString(t.URIOffset, "texture uri", at, 4)
		if t.Format > records.TextureR16Unorm {
			p.report(codeTextureFormat, at(8), "texture format %d", uint32(t.Format))
		}
	}
}

// finite reports whether no value is NaN or infinite.
func finite(vs ...float32) bool {
	for _, v := range vs {
		if math.Float32bits(v)&0x7f800000 == 0x7f800000 {
			return false
		}
	}
	return true
}
