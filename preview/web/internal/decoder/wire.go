package decoder

import (
	"encoding/binary"
	"fmt"
	"math"
)

// form is the form of the messages: the first byte of each.
const form = 1

// Kinds of messages, the second byte.
const (
	// To a worker: a token, and what is asked for.
	kindLoad    = 1
	kindTexture = 2
	kindCancel  = 3
	// Of a worker.
	kindReady   = 4
	kindAsset   = 5 // a token, and the answer to kindLoad
	kindKept    = 6 // a token: the file is the one that is kept
	kindImage   = 7 // a token, and the answer to kindTexture
	kindFailure = 8 // a token, and the error that answers either
	kindPacked  = 9 // a token, and the packed vertices of the kindAsset that follows
)

// headBytes are the form, the kind, two bytes of padding and the token: 0 where there
// is none.
const headBytes = 12

// partAlign is the alignment of blocks in a message: what vertices, indices and texels
// have in their files.
const partAlign = 32

// writer writes a message, little-endian. Large blocks are not copied: a message is a
// list of parts.
type writer struct {
	parts [][]byte
	b     []byte // the last part
	n     int    // bytes of all parts before it
}

func newWriter(kind byte, token uint64) *writer {
	w := &writer{b: make([]byte, 0, 512)}
	w.b = append(w.b, form, kind, 0, 0)
	w.u64(token)
	return w
}

func (w *writer) u8(v uint8)    { w.b = append(w.b, v) }
func (w *writer) u32(v uint32)  { w.b = binary.LittleEndian.AppendUint32(w.b, v) }
func (w *writer) u64(v uint64)  { w.b = binary.LittleEndian.AppendUint64(w.b, v) }
func (w *writer) f32(v float32) { w.u32(math.Float32bits(v)) }

func (w *writer) text(s string) {
	w.u32(uint32(len(s)))
	w.b = append(w.b, s...)
}

// block adds bytes as a part of their own, at a multiple of partAlign.
func (w *writer) block(p []byte) {
	w.u64(uint64(len(p)))
	for (w.n+len(w.b))%partAlign != 0 {
		w.b = append(w.b, 0)
	}
	w.parts = append(w.parts, w.b, p)
	w.n += len(w.b) + len(p)
	w.b = make([]byte, 0, 256)
}

// message returns the parts, in order.
func (w *writer) message() [][]byte { return append(w.parts, w.b) }

// reader reads a message. After an error all else reads as zero.
type reader struct {
	all, b []byte // b: the rest
	err    error
}

// newReader reads the head of a message.
func newReader(message []byte) (r *reader, kind byte, token uint64) {
	r = &reader{all: message, b: message}
	if len(message) < headBytes || message[0] != form || message[2]|message[3] != 0 {
		r.fail("%d bytes begin with %x, want %x and a kind", len(message), message[:min(len(message), 4)], form)
		return r, 0, 0
	}
	r.b = r.b[4:]
	return r, message[1], r.u64()
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: at byte %d of %d: %s", ErrWire, len(r.all)-len(r.b), len(r.all), fmt.Sprintf(format, args...))
	}
	r.b = nil
}

// take returns the next n bytes, which are not copied; nil after an error.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail("%d bytes are wanted, %d are left", n, len(r.b))
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) u8() uint8 {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (r *reader) u32() uint32 {
	if p := r.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if p := r.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

func (r *reader) f32() float32 { return math.Float32frombits(r.u32()) }

func (r *reader) text() string { return string(r.take(uint64(r.u32()))) }

// length reads a number of at most most.
func (r *reader) length(most uint64) int {
	n := r.u64()
	if n > most {
		r.fail("%d, at most %d make sense", n, most)
		return 0
	}
	return int(n)
}

// size reads how many bytes a file is said to have, which is for comparisons: nothing may
// be allocated by it.
func (r *reader) size() int64 {
	n := r.u64()
	if n > math.MaxInt64 {
		r.fail("%d bytes of a file, at most %d make sense", n, int64(math.MaxInt64))
		return 0
	}
	return int64(n)
}

// finite reads a number, which is one.
func (r *reader) finite() float32 {
	v := r.f32()
	if v-v != 0 {
		r.fail("%g", v)
	}
	return v
}

// count reads how many records of a size follow: no more than there are bytes for.
func (r *reader) count(size int) int {
	n := r.u32()
	if uint64(n)*uint64(size) > uint64(len(r.b)) {
		r.fail("%d records of %d bytes, %d bytes are left", n, size, len(r.b))
		return 0
	}
	return int(n)
}

// block returns what writer.block has added, which is not copied.
func (r *reader) block() []byte {
	n := r.u64()
	for r.err == nil && (len(r.all)-len(r.b))%partAlign != 0 {
		if r.u8() != 0 {
			r.fail("padding that is not zero")
		}
	}
	return r.take(n)
}

// end returns the error of a message that has been read to its end.
func (r *reader) end() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail("%d bytes too many", len(r.b))
	}
	return r.err
}
