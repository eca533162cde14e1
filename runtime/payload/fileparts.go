package payload

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
)

// readRecords opens a payload that comes in parts: its tables are there.
func (l *FileLoader) readRecords(req Request) (*Asset, error) {
	src := req.Local.Ranges
	if req.Size > 0 && src.Size() != req.Size {
		return nil, fmt.Errorf("%w: it has %d bytes, %d are declared: cook the scene again", ErrMismatch, src.Size(), req.Size)
	}
	r, err := format.NewReader(src, src.Size())
	if err != nil {
		return nil, err
	}
	vertices, ok := r.Chunk(format.ChunkVertices)
	indices, both := r.Chunk(format.ChunkIndices)
	if !ok || !both || vertices.Compression != format.CompressNone || indices.Compression != format.CompressNone {
		return nil, errors.New("a file in parts must not be compressed")
	}
	a := RecordsOf(r)
	a.Dir = textureDir(req)
	a.Parts = &fileParts{l, src, r.Meshes(), vertices, indices}
	return a, nil
}

// fileParts is the PartLoader of such a file.
type fileParts struct {
	l                 *FileLoader
	src               Ranges
	meshes            []records.Mesh // checked against the chunks when the file was opened
	vertices, indices format.Chunk
}

// LoadParts brings the ranges of some meshes and reads them, in a goroutine of
// its own: as it waits for the network, it takes none of the loader's workers.
func (p *fileParts) LoadParts(req Request, meshes []int) {
	if !p.l.pool.Beside(func() {
		a, err := p.load(req, meshes)
		if err != nil {
			err = fmt.Errorf("tile %s: %w", req.TileID, err)
		}
		req.Done.Loaded(req.Token, Result{Asset: a, Err: err})
	}) {
		refuse(req)
	}
}

// load brings and reads. What was brought may be evicted before it is read, once
// or twice.
func (p *fileParts) load(req Request, meshes []int) (*Asset, error) {
	v, i := p.runs(meshes)
	spans := make([]Span, 0, len(v)+len(i))
	for _, s := range v {
		spans = append(spans, Span{int64(p.vertices.Offset + s.from), int64(p.vertices.Offset + s.to)})
	}
	for _, s := range i {
		spans = append(spans, Span{int64(p.indices.Offset + s.from), int64(p.indices.Offset + s.to)})
	}
	const tries = 3
	for try := 1; ; try++ {
		if err := p.src.Bring(req.Context, spans); err != nil {
			return nil, err
		}
		a, err := p.read(meshes, v, i)
		if errors.Is(err, ErrPayload) {
			p.src.Distrust(spans)
		}
		if err == nil || try == tries || errors.Is(err, ErrPayload) {
			return a, err
		}
	}
}

// runs returns the ranges of the chunks that some meshes use, in order and
// disjoint: together they are not larger than the chunks, whatever the records
// say.
func (p *fileParts) runs(meshes []int) (vertices, indices []span) {
	for _, k := range meshes {
		m := &p.meshes[k]
		vertices = append(vertices, span{m.VertexOffset, m.VertexOffset + m.VertexSize})
		indices = append(indices, span{m.IndexOffset, m.IndexOffset + m.IndexSize})
	}
	return mergeSpans(vertices), mergeSpans(indices)
}

// mergeSpans sorts ranges and joins those that touch.
func mergeSpans(list []span) []span {
	list = slices.DeleteFunc(list, func(s span) bool { return s.from == s.to })
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := list[:0]
	for _, s := range list {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// read makes the asset of some meshes: their ranges lie one behind the other.
func (p *fileParts) read(meshes []int, vertices, indices []span) (*Asset, error) {
	v, err := p.gather(p.vertices.Offset, vertices)
	if err != nil {
		return nil, err
	}
	i, err := p.gather(p.indices.Offset, indices)
	if err != nil {
		return nil, err
	}
	a := NewAsset(nil)
	a.Geometry = format.Geometry{Vertices: v, Indices: i}
	a.Meshes = make([]records.Mesh, len(meshes))
	work := uint64(0)
	for n, k := range meshes {
		m := p.meshes[k]
		m.VertexOffset, m.IndexOffset = moved(vertices, m.VertexOffset), moved(indices, m.IndexOffset)
		a.Meshes[n] = m
		// A hostile file may let many meshes name the same large range.
		if work += m.IndexSize; work > 4*uint64(len(i))+1<<20 {
			return nil, fmt.Errorf("%w: the index ranges of the meshes overlap many times over", ErrPayload)
		}
		if at, ok := indexBeyond(i[m.IndexOffset:m.IndexOffset+m.IndexSize], m.IndexType, m.VertexCount); ok {
			return nil, fmt.Errorf("%w: index %d of mesh %d is not below %d, the number of its vertices", ErrPayload, at, k, m.VertexCount)
		}
	}
	return a, nil
}

// partAlign keeps the alignment that ranges have in a file.
const partAlign = 32

// gather reads ranges of a chunk one behind the other.
func (p *fileParts) gather(chunk uint64, list []span) ([]byte, error) {
	total := uint64(0)
	for _, s := range list {
		total = placeOf(total, s) + s.to - s.from
	}
	out := make([]byte, total)
	at := uint64(0)
	for _, s := range list {
		at = placeOf(at, s)
		n := s.to - s.from
		if _, err := p.src.ReadAt(out[at:at+n], int64(chunk+s.from)); err != nil {
			return nil, err
		}
		at += n
	}
	return out, nil
}

// placeOf returns the first place from at on that is aligned as a range is.
func placeOf(at uint64, s span) uint64 { return at + (s.from-at)%partAlign }

// moved returns where an offset of the chunk has gone.
func moved(list []span, offset uint64) uint64 {
	at := uint64(0)
	for _, s := range list {
		at = placeOf(at, s)
		if offset >= s.from && offset < s.to {
			return at + offset - s.from
		}
		at += s.to - s.from
	}
	return 0 // of an empty range
}

// indexBeyond finds the first index that is n or more.
func indexBeyond(b []byte, t vertex.IndexType, n uint32) (at int, ok bool) {
	if t == vertex.Index16 {
		for at = 0; 2*at+2 <= len(b); at++ {
			if uint32(binary.LittleEndian.Uint16(b[2*at:])) >= n {
				return at, true
			}
		}
		return 0, false
	}
	for at = 0; 4*at+4 <= len(b); at++ {
		if binary.LittleEndian.Uint32(b[4*at:]) >= n {
			return at, true
		}
	}
	return 0, false
}
