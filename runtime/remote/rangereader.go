package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
)

const (
	// rangeBlock is the grain of a RangeReader in bytes. Header, table and records of a
	// tile fit in one or two.
	rangeBlock = 32 << 10
	// rangeMemory is how many bytes of blocks a RangeReader keeps.
	rangeMemory = 64 << 20
)

// RangeReader reads a remote file by ranges. It is an io.ReaderAt for
// format.NewReader and safe for concurrent use. Blocks that were read are kept,
// up to about 64 MiB.
type RangeReader struct {
	f      *Fetcher
	ranges *rangeFile // or
	whole  *os.File   // the whole file, where there is one
	stats  RangeStats // when it was opened
	ctx    context.Context
	cancel context.CancelCauseFunc

	closed atomic.Bool
}

// RangeStats says what a RangeReader has fetched.
type RangeStats struct {
	Size     int64 `json:"size"`    // of the file
	Fetched  int64 `json:"fetched"` // bytes over the network
	Requests int64 `json:"requests"`
	Whole    bool  `json:"whole"` // the server knows no ranges, or the cache has the file
}

// OpenRange opens the remote file at an address for reading by ranges. A file that the
// cache has is read there. The first request brings the first block; a server without
// ranges answers with the whole file, which then goes to the cache. The requests end
// with ctx or Close. Hashes are not compared, only the expected size and, from request
// to request, the ETag or Last-Modified.
func (f *Fetcher) OpenRange(ctx context.Context, rawURL string, expected Expected) (*RangeReader, error) {
	u, err := f.http.address(rawURL)
	if err != nil {
		return nil, err
	}
	if err := checkScheme(u, f.opts.AllowInsecureHTTP); err != nil {
		return nil, err
	}
	if f.base.Err() != nil {
		return nil, ErrClosed
	}
	r := &RangeReader{f: f}
	s := source{url: u, name: diskcache.Name(u), expected: expected}
	if _, ok := f.fresh(s); ok {
		f.hit(s)
		return r, r.openWhole(s.name)
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	if err := r.begin(s); err != nil {
		r.cancel(nil)
		return nil, err
	}
	return r, nil
}

// openWhole reads from the cache.
func (r *RangeReader) openWhole(name string) error {
	file, err := os.Open(r.f.cache.Path(name))
	if err != nil {
		return fmt.Errorf("%w: open: %w", ErrCache, err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return fmt.Errorf("%w: open: %w", ErrCache, err)
	}
	r.whole, r.stats.Size, r.stats.Whole = file, info.Size(), true
	return nil
}

// begin does the first request.
func (r *RangeReader) begin(s source) error {
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.f.base, func() { cancel(ErrClosed) })()
	h, err := r.f.firstRange(ctx, s, rangeBlock, func(resp *http.Response, h *rangeHead) error {
		if resp.StatusCode == http.StatusPartialContent && !h.sound {
			return fmt.Errorf("%w: Content-Range %q for the first %d bytes", ErrMismatch, resp.Header.Get("Content-Range"), rangeBlock)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.stats.Requests = h.requests
	if h.whole == nil {
		r.stats.Size, r.stats.Fetched = h.version.size, int64(len(h.bytes))
		r.ranges = newRangeFile(r.f, s, h.version, newMemoryBlocks(h.version.size), 0)
		return storeHead(r.ranges.store, h.bytes, nil)
	}
	defer h.whole.Abort()
	r.stats.Fetched = h.whole.Size()
	if _, err := h.whole.Commit(s.entry(h.version)); err != nil {
		return err
	}
	return r.openWhole(s.name)
}

// Size returns the size of the whole file in bytes.
func (r *RangeReader) Size() int64 { return r.stats.Size }

// Stats returns what has been fetched.
func (r *RangeReader) Stats() RangeStats {
	s := r.stats
	if r.ranges != nil {
		r.ranges.mu.Lock()
		defer r.ranges.mu.Unlock()
		s.Fetched += r.ranges.fetched
		s.Requests += r.ranges.requests
	}
	return s
}

// ReadAt implements io.ReaderAt. A file that is replaced at the server fails
// with ErrChanged; open it anew then.
func (r *RangeReader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("remote: negative offset")
	}
	if r.whole != nil {
		return r.whole.ReadAt(p, off)
	}
	n := 0
	for n < len(p) && off < r.Size() {
		m, err := r.readSome(p[n:min(len(p), n+rangeMemory/2)], off)
		if n, off = n+m, off+int64(m); err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// readSome reads what the memory has room for.
func (r *RangeReader) readSome(p []byte, off int64) (int, error) {
	if r.closed.Load() {
		return 0, ErrClosed
	}
	return (&rangeSource{ctx: r.ctx, file: r.ranges}).ReadAt(p, off)
}

// Close ends requests under way and adds what was saved to the Fetcher's
// Metrics.
func (r *RangeReader) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	if r.cancel != nil {
		r.cancel(ErrClosed)
	}
	if r.whole != nil {
		return r.whole.Close()
	}
	r.f.m.saved.Add(max(0, r.Size()-r.Stats().Fetched))
	return nil
}

// memoryBlocks keeps blocks in memory, up to rangeMemory; the oldest go. Nobody else
// uses them, so that there is nothing to follow or to complete.
type memoryBlocks struct {
	size int64

	mu     sync.Mutex
	blocks map[int64][]byte
	order  []int64 // of the blocks, the oldest first
}

func newMemoryBlocks(size int64) *memoryBlocks {
	return &memoryBlocks{size: size, blocks: map[int64][]byte{}}
}

func (m *memoryBlocks) Size() int64                        { return m.size }
func (m *memoryBlocks) BlockSize() int64                   { return rangeBlock }
func (m *memoryBlocks) Use()                               {}
func (m *memoryBlocks) Refresh()                           {}
func (m *memoryBlocks) TakeWhole() bool                    { return false }
func (m *memoryBlocks) Complete() error                    { return nil }
func (m *memoryBlocks) Discard() error                     { return nil }
func (m *memoryBlocks) Prepare(int64, int64) (bool, error) { return false, nil }

func (m *memoryBlocks) Has(block int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.blocks[block] != nil
}

func (m *memoryBlocks) Forget(from, to int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	touched := func(b int64) bool { return b*rangeBlock < to && (b+1)*rangeBlock > from }
	maps.DeleteFunc(m.blocks, func(b int64, _ []byte) bool { return touched(b) })
	m.order = slices.DeleteFunc(m.order, touched)
}

// ReadAt copies what lies within the file.
func (m *memoryBlocks) ReadAt(p []byte, off int64) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n < len(p) {
		at := off + int64(n)
		data := m.blocks[at/rangeBlock]
		if data == nil {
			return 0, diskcache.ErrNotHere
		}
		n += copy(p[n:], data[at%rangeBlock:])
	}
	return n, nil
}

// Write reads whole blocks, and drops the oldest when there are too many.
func (m *memoryBlocks) Write(from, end int64, body io.Reader, _ []byte) (n int64, keep func() error, err error) {
	var blocks [][]byte
	keep = func() error { m.keep(from, blocks); return nil }
	for b := from; b < end; b++ {
		block := make([]byte, min(rangeBlock, m.size-b*rangeBlock))
		if _, err := io.ReadFull(body, block); err != nil {
			return int64(len(blocks)), keep, err
		}
		blocks = append(blocks, block)
	}
	return int64(len(blocks)), keep, nil
}

func (m *memoryBlocks) keep(from int64, blocks [][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, data := range blocks {
		b := from + int64(i)
		if m.blocks[b] == nil {
			m.order = append(m.order, b)
		}
		m.blocks[b] = data
	}
	for len(m.order) > rangeMemory/rangeBlock {
		delete(m.blocks, m.order[0])
		m.order = m.order[1:]
	}
}
