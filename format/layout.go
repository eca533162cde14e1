package format

import (
	"cmp"
	"io"
	"slices"

	"github.com/untoldkit/untold/format/records"
)

// span is a stored payload [off, end) of entry i.
type span struct {
	off, end uint64
	i        int
}

// spans returns the payloads that lie inside the file, by offset.
func (p *parser) spans() []span {
	var out []span
	for i, c := range p.chunks {
		if c.Offset <= p.size && c.CompressedSize <= p.size-c.Offset {
			out = append(out, span{c.Offset, c.Offset + c.CompressedSize, i})
		}
	}
	slices.SortFunc(out, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.end, b.end), cmp.Compare(a.i, b.i))
	})
	return out
}

// reachesOut reports whether a payload that does not end inside the file begins
// in [from, to): those bytes are what is left of it.
func (p *parser) reachesOut(from, to uint64) bool {
	return slices.ContainsFunc(p.chunks, func(c Chunk) bool {
		return c.Offset >= from && c.Offset < to && c.CompressedSize > p.size-c.Offset
	})
}

// checkTrailing accepts up to 15 zero bytes behind the last payload, which
// tools that patch texture references leave there.
func (p *parser) checkTrailing() {
	end := records.HeaderSize + uint64(len(p.chunks))*records.ChunkSize
	for _, s := range p.spans() {
		end = max(end, s.end)
	}
	if end >= p.size || p.reachesOut(0, p.size) {
		return
	}
	n := p.size - end
	if n < alignment {
		if b, err := p.bytes(end, n, nil); err == nil && allZero(b) {
			return
		}
	}
	p.report(codeTrailing, inFile(int64(end)), "%d bytes follow the last payload", n)
}

// checkLayout judges how the payloads lie in the file: order, overlaps, gaps
// and padding.
func (p *parser) checkLayout() {
	prev := uint64(records.HeaderSize) + uint64(len(p.chunks))*records.ChunkSize
	var last ChunkType
	for k, s := range p.spans() {
		c := &p.chunks[s.i]
		at := inChunk(c.Type, int64(s.off))
		switch {
		case s.off < prev && s.end > s.off && k > 0:
			p.report(codeChunkOverlap, at, "payload [%d, %d) overlaps bytes before %d that belong to another chunk", s.off, s.end, prev)
		case s.off > prev && p.reachesOut(prev, s.off):
		case s.off > prev && s.off-prev >= alignment:
			p.report(codeGap, inFile(int64(prev)), "%d bytes before %s belong to nothing", s.off-prev, c.Type)
		case s.off > prev:
			if b, err := p.bytes(prev, s.off-prev, nil); err == nil && !allZero(b) {
				p.report(codePadding, inFile(int64(prev)), "%d padding bytes before %s are not all zero", len(b), c.Type)
			}
		}
		if c.Type < last && s.end > s.off {
			p.report(codeChunkOrder, at, "%s is stored behind %s", c.Type, last)
		}
		if s.end > s.off {
			last = max(last, c.Type)
		}
		prev = max(prev, s.end)
	}
}

func allZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}

// ReadTable reads and checks the header and the chunk table of a container of
// size bytes, and nothing else. It tells who reads a file in parts where its
// tables lie and whether its geometry is compressed. Errors are of type *Error,
// as those of NewReader.
func ReadTable(src io.ReaderAt, size int64) (Header, []Chunk, error) {
	p := parser{src: src, size: uint64(max(0, size)), strict: true}
	for i := range p.index {
		p.index[i] = -1
	}
	if p.parseHeader() && !p.failed() && p.parseTable() && !p.failed() {
		p.checkChunks()
	}
	if p.err != nil {
		return Header{}, nil, p.err
	}
	return p.header, p.chunks, nil
}
