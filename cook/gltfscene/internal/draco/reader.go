package draco

import (
	"encoding/binary"
	"fmt"
	"math"
)

// reader reads a stream. Its first error sticks: from then on it returns
// zeros, so that only loops and allocations need to look at err.
type reader struct {
	data   []byte // what is left
	err    error
	budget int64 // bytes that may still be allocated
}

func (r *reader) set(kind error, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))
		r.data = nil
	}
}

func (r *reader) fail(format string, args ...any)        { r.set(ErrMalformed, format, args...) }
func (r *reader) unsupported(format string, args ...any) { r.set(ErrUnsupported, format, args...) }
func (r *reader) tooLarge(format string, args ...any)    { r.set(ErrTooLarge, format, args...) }

// alloc returns n zeros, nil if that exceeds the budget.
func alloc[T uint8 | int32 | uint32 | bool](r *reader, n int) []T {
	if r.err != nil {
		return nil
	}
	size := int64(4)
	switch any((*T)(nil)).(type) {
	case *uint8, *bool:
		size = 1
	}
	if n < 0 || int64(n) > r.budget/size {
		r.tooLarge("a table of %d entries", n)
		return nil
	}
	r.budget -= size * int64(n)
	return make([]T, n)
}

// take returns the next n bytes, nil if there are fewer.
func (r *reader) take(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.data)) {
		r.fail("is cut off: %d bytes wanted, %d left", n, len(r.data))
		return nil
	}
	b := r.data[:n:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) u8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if b := r.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) i32() int32   { return int32(r.u32()) }
func (r *reader) f32() float32 { return math.Float32frombits(r.u32()) }

// varint64 reads an unsigned number, seven bits per byte, lowest first.
func (r *reader) varint64() (v uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := r.u8()
		v |= uint64(b&0x7F) << shift
		if b < 0x80 {
			return v
		}
	}
	r.fail("a number has too many bytes")
	return 0
}

// varint is varint64 for numbers of 32 bits.
func (r *reader) varint() uint32 {
	v := r.varint64()
	if v > math.MaxUint32 {
		r.fail("a number exceeds 32 bits")
		return 0
	}
	return uint32(v)
}

// count reads a number that must not exceed most.
func (r *reader) count(what string, most int) int {
	v := r.varint()
	if uint64(v) > uint64(most) {
		r.fail("%d %s, at most %d are possible", v, what, most)
		return 0
	}
	return int(v)
}

// bitReader reads bits of whole bytes, lowest first.
type bitReader struct {
	data []byte
	pos  int // in bits
}

// get reads n <= 32 bits; ok is false at the end.
func (b *bitReader) get(n int) (v uint32, ok bool) {
	if n > 8*len(b.data)-b.pos {
		return 0, false
	}
	for i := 0; i < n; {
		have := 8 - b.pos&7
		k := min(have, n-i)
		part := uint32(b.data[b.pos>>3]) >> (b.pos & 7) & (1<<k - 1)
		v |= part << i
		i += k
		b.pos += k
	}
	return v, true
}

// bytes returns how many bytes have been begun.
func (b *bitReader) bytes() uint64 { return uint64(b.pos+7) / 8 }
