package vertex

import (
	"encoding/binary"
	"slices"

	"github.com/untoldkit/untold/internal/human"
)

// IndexType is the width of the indices of a mesh. The values are 1 and 2, not
// 0 and 1.
type IndexType uint32

// The index types.
const (
	Index16 IndexType = 1
	Index32 IndexType = 2
)

// String returns uint16 or uint32.
func (t IndexType) String() string {
	return human.EnumName([]string{"", "uint16", "uint32"}, uint32(t))
}

// Size returns the bytes of one index, 0 for an invalid type.
func (t IndexType) Size() int {
	switch t {
	case Index16:
		return 2
	case Index32:
		return 4
	}
	return 0
}

// IndexTypeFor returns the type to write for a mesh of n vertices: 16 bits up
// to 65,535 vertices.
func IndexTypeFor(n int) IndexType {
	if n <= 65535 {
		return Index16
	}
	return Index32
}

// AppendIndices appends indices in the given width; the caller has chosen it by
// IndexTypeFor, so that every value fits.
func AppendIndices(dst []byte, t IndexType, indices []uint32) []byte {
	n := len(dst)
	size := len(indices) * t.Size()
	dst = slices.Grow(dst, size)[:n+size]
	out := dst[n:]
	le := binary.LittleEndian
	if t == Index16 {
		for i, v := range indices {
			le.PutUint16(out[2*i:], uint16(v))
		}
		return dst
	}
	for i, v := range indices {
		le.PutUint32(out[4*i:], v)
	}
	return dst
}

// Indices decodes serialised indices.
func Indices(b []byte, t IndexType) []uint32 {
	if t.Size() == 0 {
		return nil
	}
	out := make([]uint32, len(b)/t.Size())
	for i := range out {
		out[i] = IndexAt(b, t, i)
	}
	return out
}

// indexAt reads index k of a serialised index range.
func IndexAt(b []byte, t IndexType, k int) uint32 {
	if t == Index16 {
		return uint32(binary.LittleEndian.Uint16(b[2*k:]))
	}
	return binary.LittleEndian.Uint32(b[4*k:])
}
