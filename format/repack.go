package format

import (
	"errors"
	"math"

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
	if r.plain() {
		return nil, ErrPlain
	}
	chunks := chunksByType(r.p.chunks)
	payloads := make([][]byte, len(chunks))
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

// plain reports whether no geometry is compressed.
func (r *Reader) plain() bool {
	for i := range r.p.chunks {
		if c := &r.p.chunks[i]; c.Type.isGeometry() && c.Compression != CompressNone {
			return false
		}
	}
	return true
}

// repackBuffers are how many buffers of a chunk's decoded size are in use at a time at most:
// the bytes and the planes that they are decoded from, or those that they are compressed to,
// where the compressor writes, and the smallest that it has written. Two of them may have
// references too.
const repackBuffers = 4

// RepackMemory returns how many bytes are in use at most while Repack runs by any mode, its
// result included, the source and what compressors take in any case aside; 0 of a file that
// matches ErrPlain. What the chunk table says decides, before anything is decoded.
func (r *Reader) RepackMemory() int64 {
	if r.plain() {
		return 0
	}
	const most = math.MaxInt64 / 16 // of what a chunk declares that is none of the seven
	var kept, working uint64
	for _, c := range chunksByType(r.p.chunks) {
		if !c.Type.isGeometry() {
			kept = min(kept+c.CompressedSize, most)
			continue
		}
		size := min(c.UncompressedSize, most)
		working = max(working, kept+c.CompressedSize+repackBuffers*size+2*referencesOf(size))
		kept = min(kept+size, most)
	}
	// The payloads and the file that is made of them.
	return int64(max(working, 2*kept) + uint64(len(r.p.chunks))*(records.ChunkSize+alignment) + records.HeaderSize)
}

// DecodeMemory returns how many bytes are in use at most while all geometry of the file is
// decoded and kept, the source aside.
func (r *Reader) DecodeMemory() int64 {
	const most = math.MaxInt64 / 16
	var kept, working uint64
	for i := range r.p.chunks {
		c := &r.p.chunks[i]
		if !c.Type.isGeometry() {
			continue
		}
		size := min(c.UncompressedSize, most)
		kept = min(kept+size, most)
		if c.Compression != CompressNone {
			working = max(working, c.CompressedSize+size+referencesOf(size)) // what is read, and planes
		}
	}
	return int64(kept + working)
}
