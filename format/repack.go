package format

import (
	"errors"

	"github.com/untoldkit/untold/format/records"
)

// ErrPlain: the geometry is stored as it is, so that readers can fetch the meshes of the
// file one by one.
var ErrPlain = errors.New("untold: the geometry is not compressed")

// Repack returns the file with its geometry compressed by another mode. Everything else
// stays as it is stored: tables, chunks of unknown types, the version. The content hash is
// that of the new bytes, or zero where there was none. A file without any compressed
// geometry matches ErrPlain.
func (r *Reader) Repack(m CompressMode) ([]byte, error) {
	chunks := chunksByType(r.p.chunks)
	payloads := make([][]byte, len(chunks))
	plain := true
	for i := range chunks {
		plain = plain && (!chunks[i].Type.isGeometry() || chunks[i].Compression == CompressNone)
	}
	if plain {
		return nil, ErrPlain
	}
	for i := range chunks {
		c := &chunks[i]
		var err error
		if !c.Type.isGeometry() {
			payloads[i], err = r.p.bytes(c.Offset, c.CompressedSize, nil)
		} else if payloads[i], err = r.p.chunkData(c, nil); err == nil {
			payloads[i], c.Compression, err = compress(payloads[i], c.Type, m)
		}
		if err != nil {
			return nil, err
		}
		c.CompressedSize = uint64(len(payloads[i]))
	}
	hdr := r.p.header
	hdr.HeaderSize, hdr.ChunkCount = records.HeaderSize, uint32(len(chunks))
	return arrange(&hdr, chunks, payloads, r.p.header.ContentHash != [hashSize]byte{}).bytes(), nil
}
