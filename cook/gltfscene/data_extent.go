package gltfscene

import (
	"io"
	"os"
	"sync"

	"github.com/untoldkit/untold/internal/meshopt"
	"github.com/untoldkit/untold/internal/scratch"
)

// store gives the bytes of one thing: of a buffer, or of what a stream decodes to. It is
// a pointer, so that stores can be compared.
type store interface {
	// reader returns what reads the bytes by ranges, and what ends it.
	reader() (ranges, func(), error)
}

// ranges reads bytes by ranges. Exactly one of its fields is set.
type ranges struct {
	all []byte      // all bytes
	at  io.ReaderAt // a file
}

// slice returns n bytes from off on. They lie in buf unless all bytes are in memory, and
// must not be modified.
func (r ranges) slice(off, n int, buf *[]byte) ([]byte, error) {
	if r.at == nil {
		if off > len(r.all) || n > len(r.all)-off { // of a stream that is not what it was
			return nil, changed("(compressed data)")
		}
		return r.all[off:][:n:n], nil
	}
	if cap(*buf) < n {
		*buf = make([]byte, n)
	}
	b := (*buf)[:n]
	if got, err := r.at.ReadAt(b, int64(off)); got < n {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b, nil
}

// extent is where some bytes lie. The zero value stands for none.
type extent struct {
	store  store
	off, n int
}

// part returns a part of the extent, which the caller knows to lie within it.
func (x extent) part(off, n int) extent { return extent{x.store, x.off + off, n} }

// bytes returns a copy of the bytes, or the bytes where they are in memory: they must not
// be modified.
func (x extent) bytes() ([]byte, error) {
	if x.store == nil || x.n == 0 {
		return []byte{}, nil
	}
	r, end, err := x.store.reader()
	if err != nil {
		return nil, err
	}
	defer end()
	var buf []byte
	return r.slice(x.off, x.n, &buf)
}

// inMemory is a store of bytes that are there.
type inMemory struct{ data []byte }

func (m *inMemory) reader() (ranges, func(), error) { return ranges{all: m.data}, func() {}, nil }

func memoryExtent(data []byte) extent { return extent{&inMemory{data}, 0, len(data)} }

// inFile is a part of a file that stays open.
type inFile struct {
	at   io.ReaderAt
	name string
}

func (f *inFile) reader() (ranges, func(), error) {
	return ranges{at: namedReader{f.at, f.name}}, func() {}, nil
}

// namedReader puts the name of a file into the errors of reading it.
type namedReader struct {
	io.ReaderAt
	name string
}

func (n namedReader) ReadAt(b []byte, off int64) (int, error) {
	got, err := n.ReaderAt.ReadAt(b, off)
	if err != nil && got < len(b) {
		if err == io.EOF {
			return got, changed(n.name)
		}
		err = openError(n.name, err)
	}
	return got, err
}

// unpacked is what a meshopt stream decodes to. It is decoded when it is needed and kept as
// long as the cache has room.
type unpacked struct {
	cache  *cache
	packed extent
	layout meshopt.Layout
	size   int // of what it decodes to
}

// spilled is what a stream has been decoded to.
type spilled struct {
	inFile
	from *unpacked
}

func (u *unpacked) reader() (ranges, func(), error) {
	data, err := cached(u.cache, u, func() ([]byte, int64, error) {
		data, err := u.decode()
		return data, int64(len(data)), err
	})
	return ranges{all: data}, func() {}, err
}

// spill writes bytes to a temporary file, which is gone when it is closed.
func spill(data []byte) (*os.File, error) {
	f, err := scratch.File("untold-view-")
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(data); err != nil {
		scratch.Close(f)
		return nil, err
	}
	return f, nil
}

// pieceBytes is how much of a file is read at a time.
const pieceBytes = 1 << 20

// pieces are buffers to read into.
var pieces = sync.Pool{New: func() any { return new([]byte) }}
