package format

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/filemap"
	"github.com/untoldkit/untold/internal/plainfile"
)

// Reader gives access to one container. Its records are read and checked when
// it is opened, its geometry on demand. All methods may be called
// concurrently, but no view may be used after Close.
type Reader struct {
	p      parser
	cached [2]cachedChunk // decoded VERTEX_DATA and INDEX_DATA
	close  func() error
	opts   readerOptions
}

type readerOptions struct {
	limits  Limits
	hash    bool
	mapping bool
}

// ReaderOption changes how a file is opened.
type ReaderOption func(*readerOptions)

// VerifyOnOpen compares the content hash while opening, which reads the whole
// file (about 2 GB/s). Without it call [Reader.VerifyHash] where it suits.
func VerifyOnOpen() ReaderOption { return func(o *readerOptions) { o.hash = true } }

// WithLimits replaces the default allocation limits for compressed chunks.
func WithLimits(l Limits) ReaderOption { return func(o *readerOptions) { o.limits = l } }

// WithMapping makes Open map the file into memory, so that uncompressed
// geometry is read without a copy. Where mapping is not to be had the file is
// read as without the option. A mapped file that is truncated by another
// process while it is open kills the program on access (as everywhere):
// replace files by renaming.
func WithMapping() ReaderOption { return func(o *readerOptions) { o.mapping = true } }

// Open opens the file at path. Errors of the content are of type *Error.
func Open(path string, opts ...ReaderOption) (*Reader, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	r, err := openFile(f, opts)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// openRegular opens a plain file; to open a pipe would block.
func openRegular(path string) (*os.File, error) {
	f, _, err := plainfile.Open(path)
	if errors.Is(err, plainfile.ErrNotPlain) {
		err = fmt.Errorf("untold: %w", err)
	}
	return f, err
}

func openFile(f *os.File, opts []ReaderOption) (*Reader, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("untold: not a regular file")
	}
	o := applyOptions(opts)
	if o.mapping && st.Size() > 0 {
		if mem, unmap, err := filemap.Whole(f, st.Size()); err == nil {
			r, err := newReader(nil, mem, st.Size(), o)
			if err != nil {
				return nil, errors.Join(err, unmap())
			}
			r.close = func() error { return errors.Join(unmap(), f.Close()) }
			return r, nil
		}
	}
	r, err := newReader(f, nil, st.Size(), o)
	if err == nil {
		r.close = f.Close
	}
	return r, err
}

// NewReader opens a container of size bytes behind src: a file, a section of
// one, or a remote file that answers range requests. src must stay valid and
// safe for concurrent ReadAt calls.
func NewReader(src io.ReaderAt, size int64, opts ...ReaderOption) (*Reader, error) {
	return newReader(src, nil, size, applyOptions(opts))
}

// NewBytesReader opens a container in memory; geometry of uncompressed chunks
// is returned as views of b.
func NewBytesReader(b []byte, opts ...ReaderOption) (*Reader, error) {
	return newReader(nil, b, int64(len(b)), applyOptions(opts))
}

func applyOptions(opts []ReaderOption) readerOptions {
	var o readerOptions
	for _, f := range opts {
		f(&o)
	}
	return o
}

func newReader(src io.ReaderAt, mem []byte, size int64, o readerOptions) (*Reader, error) {
	if size < 0 {
		return nil, fmt.Errorf("untold: negative size %d", size)
	}
	r := &Reader{opts: o}
	r.p = parser{src: src, mem: mem, size: uint64(size), limits: o.limits, strict: true}
	if mem == nil && src == nil {
		r.p.mem = []byte{}
	}
	if r.p.parse(); r.p.err == nil {
		r.p.checkTrailing()
	}
	if r.p.err != nil {
		return nil, r.p.err
	}
	if o.hash {
		if err := r.VerifyHash(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Close releases the file or mapping. Views handed out before are invalid
// afterwards.
func (r *Reader) Close() error {
	r.dropGeometry()
	f := r.close
	r.close = nil
	if f != nil {
		return f()
	}
	return nil
}

// Header returns the header as stored. Its counts are informative; the tables'
// lengths count.
func (r *Reader) Header() Header { return r.p.header }

// Size returns the bytes of the file.
func (r *Reader) Size() int64 { return int64(r.p.size) }

// Chunks returns the chunk table. The slice must not be changed.
func (r *Reader) Chunks() []Chunk { return r.p.chunks }

// Chunk returns the table entry of a type; of required types exactly one
// exists in every file that opens.
func (r *Reader) Chunk(t ChunkType) (Chunk, bool) {
	for _, c := range r.p.chunks {
		if c.Type == t {
			return c, true
		}
	}
	return Chunk{}, false
}

// Entities returns the entity table. The slice must not be changed.
func (r *Reader) Entities() []records.Entity { return r.p.entities }

// Meshes returns the mesh table. The slice must not be changed.
func (r *Reader) Meshes() []records.Mesh { return r.p.meshes }

// Materials returns the material table. The slice must not be changed.
func (r *Reader) Materials() []records.Material { return r.p.materials }

// Textures returns the texture table. The slice must not be changed.
func (r *Reader) Textures() []records.Texture { return r.p.textures }

// String returns the string at an offset of the string table; "" for NoIndex.
func (r *Reader) String(offset uint32) string { return r.p.strings.get(offset) }

// ChunkData returns a chunk's decoded bytes, read into buf where a copy is
// needed. Chunks of unknown types are returned as stored when uncompressed.
func (r *Reader) ChunkData(c Chunk, buf []byte) ([]byte, error) {
	for i := range r.p.chunks {
		if r.p.chunks[i] == c {
			return r.p.chunkData(&c, buf)
		}
	}
	return nil, fmt.Errorf("untold: no such chunk: %v at %d", c.Type, c.Offset)
}
