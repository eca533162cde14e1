package format

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"slices"
)

// hashBlock is how much is read at a time when a file is not in memory.
const hashBlock = 256 << 10

// VerifyHash compares the header's contentHash with the SHA-256 of all stored
// payloads in ascending chunk type. A header hash of 32 zero bytes means "not
// computed" and passes. The error matches Code("hash-mismatch").
func (r *Reader) VerifyHash() error {
	if r.p.header.ContentHash == [hashSize]byte{} {
		return nil
	}
	sum, err := r.p.contentHash()
	if err != nil {
		return fmt.Errorf("untold: hashing: %w", err)
	}
	if sum != r.p.header.ContentHash {
		q := parser{strict: true}
		q.report(codeHashMismatch, inFile(hashOffset), "stored hash %x, content hash %x", r.p.header.ContentHash, sum)
		return q.err
	}
	return nil
}

// contentHash hashes the stored bytes of every chunk, known or not. Chunks of
// one type keep their order in the table.
func (p *parser) contentHash() (sum [hashSize]byte, err error) {
	h := sha256.New()
	for _, c := range chunksByType(p.chunks) {
		if err := p.hashRange(h, c.Offset, c.CompressedSize); err != nil {
			return sum, err
		}
	}
	h.Sum(sum[:0])
	return sum, nil
}

func (p *parser) hashRange(h hash.Hash, off, n uint64) error {
	if p.mem != nil {
		h.Write(p.mem[off : off+n])
		return nil
	}
	buf := scratch.get(hashBlock)
	defer scratch.put(buf)
	m, err := io.CopyBuffer(struct{ io.Writer }{h}, io.NewSectionReader(p.src, int64(off), int64(n)), (*buf)[:hashBlock])
	if err == nil && uint64(m) < n {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// chunksByType returns the entries ordered as the hash takes them.
func chunksByType(chunks []Chunk) []Chunk {
	sorted := slices.Clone(chunks)
	slices.SortStableFunc(sorted, func(a, b Chunk) int { return cmp.Compare(a.Type, b.Type) })
	return sorted
}
