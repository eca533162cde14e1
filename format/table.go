package format

import "io"

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
