package format

import (
	"cmp"
	"encoding/binary"
	"sync"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/format/vertex"
)

// Geometry is the decoded content of the two geometry chunks, ready for
// upload: vertices of 32 bytes and index ranges at the offsets that the mesh
// records name (an index range may start at any even offset).
type Geometry struct{ Vertices, Indices []byte }

// cachedChunk keeps a compressed chunk's decoded bytes for reads by mesh.
type cachedChunk struct {
	mu   sync.Mutex
	data []byte
	ok   bool
}

// ReadGeometry returns both geometry chunks, decoded, with every index of
// every mesh checked against its vertex count. The bytes are views of the file
// when it is in memory or mapped and uncompressed; otherwise they are read
// into dst's slices, which grow when needed: keep a Geometry for the next file
// and nothing is allocated. The caller must not write into the result.
func (r *Reader) ReadGeometry(dst Geometry) (Geometry, error) {
	if r.p.chunk(ChunkIndices).UncompressedSize < concurrentBytes {
		i, err := r.readIndices(dst.Indices)
		if err != nil {
			return dst, err
		}
		g := Geometry{dst.Vertices, i}
		g.Vertices, err = r.p.geometryChunk(ChunkVertices, dst.Vertices)
		return g, err
	}
	// Indices are a quarter of the bytes, and their check runs at memory speed:
	// where a processor is idle both hide behind the vertices.
	var i []byte
	var indexErr error
	indices := sync.OnceFunc(func() { i, indexErr = r.readIndices(dst.Indices) })
	go indices()
	v, err := r.p.geometryChunk(ChunkVertices, dst.Vertices)
	indices()
	if err := cmp.Or(indexErr, err); err != nil {
		return dst, err
	}
	return Geometry{v, i}, nil
}

// readIndices returns the index chunk, decoded and checked.
func (r *Reader) readIndices(dst []byte) ([]byte, error) {
	i, err := r.p.geometryChunk(ChunkIndices, dst)
	if err != nil {
		return nil, err
	}
	return i, r.p.checkIndices(i)
}

// concurrentBytes is where a goroutine starts to pay.
const concurrentBytes = 1 << 20

// MeshVertices returns the serialised vertices of mesh i, as a view where
// possible, else in dst[:0]. An uncompressed chunk is read by range; a
// compressed one is decoded once and kept until dropGeometry.
func (r *Reader) MeshVertices(i int, dst []byte) ([]byte, error) {
	m := &r.p.meshes[i]
	return r.meshRange(ChunkVertices, m.VertexOffset, m.VertexSize, dst)
}

// MeshIndices returns the serialised indices of mesh i (see Mesh.IndexType),
// each checked against the vertex count.
func (r *Reader) MeshIndices(i int, dst []byte) ([]byte, error) {
	m := &r.p.meshes[i]
	b, err := r.meshRange(ChunkIndices, m.IndexOffset, m.IndexSize, dst)
	if err != nil {
		return nil, err
	}
	if indicesExceed(b, m.IndexType, m.VertexCount) {
		return nil, r.p.indexError(i, b)
	}
	return b, nil
}

// dropGeometry forgets the decoded chunks that reads by mesh have kept.
func (r *Reader) dropGeometry() {
	for i := range r.cached {
		c := &r.cached[i]
		c.mu.Lock()
		c.data, c.ok = nil, false
		c.mu.Unlock()
	}
}

func (r *Reader) meshRange(t ChunkType, off, n uint64, dst []byte) ([]byte, error) {
	c := r.p.chunk(t)
	if c.Compression == CompressNone {
		b, err := r.p.bytes(c.Offset+off, n, dst)
		if err != nil {
			return nil, r.p.payloadError(t, err)
		}
		return b, nil
	}
	k := &r.cached[t-ChunkVertices]
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ok {
		b, err := r.p.geometryChunk(t, nil)
		if err != nil {
			return nil, err
		}
		k.data, k.ok = b, true
	}
	return k.data[off : off+n : off+n], nil
}

// geometryChunk is payload with the error as a Reader returns it.
func (p *parser) geometryChunk(t ChunkType, buf []byte) ([]byte, error) {
	b, err := p.payload(t, buf)
	if err != nil {
		return nil, p.payloadError(t, err)
	}
	return b, nil
}

// payloadError wraps an error of payload without touching the parser's state,
// which concurrent readers share.
func (p *parser) payloadError(t ChunkType, err error) error {
	q := parser{strict: true, chunks: p.chunks, index: p.index}
	q.reportPayload(t, err)
	return q.err
}

// maxRangeOverlap bounds the work of checking index ranges: a hostile file may
// let a million records name the same big range, each a little shifted.
const maxRangeOverlap = 4

type indexRange struct {
	off, size uint64
	t         vertex.IndexType
}

// checkIndices checks every distinct index range once, against the smallest
// vertex count that uses it.
func (p *parser) checkIndices(data []byte) error {
	var shared map[indexRange]uint32
	var end, work uint64
	for i := range p.meshes {
		m := &p.meshes[i]
		if m.IndexOffset < end { // not simply behind the previous range
			if shared == nil {
				shared = make(map[indexRange]uint32)
			}
			if n, ok := shared[indexRangeOf(m)]; ok && n <= m.VertexCount {
				continue
			}
		}
		end = max(end, m.IndexOffset+m.IndexSize)
		if work += m.IndexSize; work > maxRangeOverlap*uint64(len(data))+1<<20 {
			e := &Error{place{ChunkMeshes, i, -1}.finding(codeRangeOverlap, "the index ranges of the meshes overlap many times over")}
			e.Severity = finding.Error // a Reader stops here
			return e
		}
		b := data[m.IndexOffset : m.IndexOffset+m.IndexSize]
		if indicesExceed(b, m.IndexType, m.VertexCount) {
			return p.indexError(i, b)
		}
		if shared != nil {
			shared[indexRangeOf(m)] = m.VertexCount
		}
	}
	return nil
}

func indexRangeOf(m *records.Mesh) indexRange {
	return indexRange{m.IndexOffset, m.IndexSize, m.IndexType}
}

// indexError names the first index of mesh i that is out of range.
func (p *parser) indexError(i int, b []byte) error {
	m := &p.meshes[i]
	q := parser{strict: true}
	c := p.chunk(ChunkIndices)
	for k := range len(b) / m.IndexType.Size() {
		v := vertex.IndexAt(b, m.IndexType, k)
		if v < m.VertexCount {
			continue
		}
		at := place{ChunkMeshes, i, -1}
		if c.Compression == CompressNone {
			at.offset = int64(c.Offset) + int64(m.IndexOffset) + int64(k*m.IndexType.Size())
		}
		q.report(codeIndexValue, at, "index %d is %d, the mesh has %d vertices", k, v, m.VertexCount)
		return q.err
	}
	return nil
}

// indicesExceed reports whether any index is n or more. It looks at eight
// bytes at a time.
func indicesExceed(b []byte, t vertex.IndexType, n uint32) bool {
	if t == vertex.Index16 {
		return n <= 0xffff && exceeds16(b, uint64(n))
	}
	return exceeds32(b, n)
}

// exceeds16 compares four 16-bit lanes at once. Up to 2^15 vertices a lane is too
// large when its top bit is set, or is after the addition of 2^15 - n; a carry
// comes only out of lanes that are too large anyway. Beyond, its top bit has to be
// set, and the low 15 bits tell.
func exceeds16(b []byte, n uint64) bool {
	const lanes, high = 0x0001000100010001, 0x8000800080008000
	var any uint64
	if n <= 1<<15 {
		add := (1<<15 - n) * lanes
		for len(b) >= 32 {
			x, y := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
			z, w := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
			any |= x | (x + add) | y | (y + add) | z | (z + add) | w | (w + add)
			b = b[32:]
		}
	} else {
		add := (1<<16 - n) * lanes
		for len(b) >= 32 {
			x, y := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
			z, w := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
			any |= x&(x&^high+add) | y&(y&^high+add) | z&(z&^high+add) | w&(w&^high+add)
			b = b[32:]
		}
	}
	if any&high != 0 {
		return true
	}
	for ; len(b) >= 2; b = b[2:] {
		if uint64(binary.LittleEndian.Uint16(b)) >= n {
			return true
		}
	}
	return false
}

func exceeds32(b []byte, n uint32) bool {
	if len(b) == 0 {
		return false
	}
	var m0, m1, m2, m3 uint32
	for len(b) >= 16 {
		x, y := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		m0, m1 = max(m0, uint32(x)), max(m1, uint32(x>>32))
		m2, m3 = max(m2, uint32(y)), max(m3, uint32(y>>32))
		b = b[16:]
	}
	m := max(m0, m1, m2, m3)
	for ; len(b) >= 4; b = b[4:] {
		m = max(m, binary.LittleEndian.Uint32(b))
	}
	return m >= n
}
