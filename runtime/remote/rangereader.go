package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
)

const (
	// rangeBlock is the grain of range requests in bytes. Header, table and
	// records of a tile fit in one or two.
	rangeBlock = 32 << 10
	// rangeMemory is how many bytes of blocks a RangeReader keeps.
	rangeMemory = 64 << 20
)

// RangeReader reads parts of a remote file. It is an io.ReaderAt for
// format.NewReader and safe for concurrent use. Blocks that were read are kept,
// up to about 64 MiB.
type RangeReader struct {
	f      *Fetcher
	url    *url.URL
	size   int64
	ctx    context.Context
	cancel context.CancelCauseFunc
	unhook func() bool // from the Fetcher
	file   *os.File    // the whole file, where there is one
	// strong is what If-Range sends, "" when the server gave no strong
	// validator; etag and modified are compared in any case.
	strong, etag, modified string

	mu     sync.Mutex
	blocks map[int64][]byte
	order  []int64                 // blocks, the oldest first
	coming map[int64]chan struct{} // blocks under way; closed at their end
	stats  RangeStats
	closed bool
}

// RangeStats says what a RangeReader has fetched.
type RangeStats struct {
	Size     int64 `json:"size"`    // of the file
	Fetched  int64 `json:"fetched"` // bytes over the network
	Requests int64 `json:"requests"`
	Whole    bool  `json:"whole"` // the server knows no ranges, or the cache has the file
}

// OpenRange opens the remote file at an address for reading in parts. A file
// that the cache has is read there. The first request brings the first block; a
// server without ranges answers with the whole file, which then goes to the
// cache. The requests end with ctx or Close; hashes are not compared, only the
// size of want and, from request to request, the ETag or Last-Modified.
func (f *Fetcher) OpenRange(ctx context.Context, rawURL string, want Want) (*RangeReader, error) {
	u, err := f.address(rawURL)
	if err != nil {
		return nil, err
	}
	if err := checkScheme(u, f.opts.AllowInsecureHTTP); err != nil {
		return nil, err
	}
	if f.base.Err() != nil {
		return nil, ErrClosed
	}
	r := &RangeReader{f: f, url: u, blocks: map[int64][]byte{}, coming: map[int64]chan struct{}{}}
	s := source{url: u, name: fileName(u), want: want}
	if _, ok := f.cached(s); ok {
		f.hit(s)
		return r, r.openWhole(s.name)
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.unhook = context.AfterFunc(f.base, func() { r.cancel(ErrClosed) })
	if err := r.begin(s); err != nil {
		r.unhook()
		r.cancel(nil)
		return nil, err
	}
	return r, nil
}

// openWhole reads from the cache.
func (r *RangeReader) openWhole(name string) error {
	file, err := os.Open(r.f.cache.path(name))
	if err != nil {
		return cacheError("open", err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return cacheError("open", err)
	}
	r.file, r.size, r.stats.Whole = file, info.Size(), true
	return nil
}

// begin does the first request, which says how large the file is and whether
// the server knows ranges.
func (r *RangeReader) begin(s source) error {
	var whole *staged
	var entry Entry
	err := r.f.attempts(r.ctx, r.url, func(ctx context.Context) error {
		return r.ask(ctx, 0, rangeBlock, func(resp *http.Response) (err error) {
			switch resp.StatusCode {
			case http.StatusPartialContent:
				return r.first(resp, s.want)
			case http.StatusRequestedRangeNotSatisfiable:
				if _, _, size, ok := contentRange(resp.Header.Get("Content-Range")); ok && size == 0 && s.want.Size == 0 {
					return nil // an empty file
				}
			case http.StatusOK:
				entry = Entry{Name: s.name, URL: shown(s.url), ETag: validator(resp, "ETag"), LastModified: validator(resp, "Last-Modified")}
				whole, err = r.f.receive(s, resp, new(unfinished))
				return err
			}
			return r.f.statusError(resp)
		})
	})
	if err != nil || whole == nil {
		return err
	}
	defer whole.abort()
	r.stats.Fetched = whole.size
	if _, err := whole.commit(entry); err != nil {
		return err
	}
	return r.openWhole(s.name)
}

// first takes the answer to the first request.
func (r *RangeReader) first(resp *http.Response, want Want) error {
	from, to, size, ok := contentRange(resp.Header.Get("Content-Range"))
	switch {
	case !ok || from != 0 || to != min(size, rangeBlock):
		return fmt.Errorf("%w: Content-Range %q for the first %d bytes", ErrMismatch, resp.Header.Get("Content-Range"), rangeBlock)
	case want.Size > 0 && size != want.Size:
		return fmt.Errorf("%w: the server has %d bytes, the manifest declares %d", errDeclared, size, want.Size)
	}
	block := make([]byte, to)
	if _, err := io.ReadFull(resp.Body, block); err != nil {
		return fmt.Errorf("the first %d bytes: %w", to, err)
	}
	r.size, r.etag, r.modified = size, validator(resp, "ETag"), validator(resp, "Last-Modified")
	if r.etag != "" && !strings.HasPrefix(r.etag, "W/") {
		r.strong = r.etag
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(0, block)
	r.stats.Fetched += to
	return nil
}

// ask sends a request for the bytes from, inclusive, to to, exclusive.
func (r *RangeReader) ask(ctx context.Context, from, to int64, read func(*http.Response) error) error {
	h := http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", from, to-1)}}
	if r.strong != "" {
		h.Set("If-Range", r.strong)
	}
	r.f.m.ranges.Add(1)
	r.mu.Lock()
	r.stats.Requests++
	r.mu.Unlock()
	return r.f.request(ctx, job{url: r.url, header: h}, read)
}

// contentRange reads "bytes from-to/size" (RFC 9110, section 14.4); to is
// exclusive here. "bytes */size" gives 0, 0 and the size.
func contentRange(v string) (from, to, size int64, ok bool) {
	v, ok = strings.CutPrefix(strings.TrimSpace(v), "bytes ")
	span, total, cut := strings.Cut(v, "/")
	size, err := strconv.ParseInt(total, 10, 64)
	if !ok || !cut || err != nil || size < 0 {
		return 0, 0, 0, false
	}
	if span == "*" {
		return 0, 0, size, true
	}
	a, b, cut := strings.Cut(span, "-")
	from, errFrom := strconv.ParseInt(a, 10, 64)
	to, errTo := strconv.ParseInt(b, 10, 64)
	if !cut || errFrom != nil || errTo != nil || from < 0 || to < from || to >= size {
		return 0, 0, 0, false
	}
	return from, to + 1, size, true
}

// Size returns the size of the whole file in bytes.
func (r *RangeReader) Size() int64 { return r.size }

// Stats returns what has been fetched.
func (r *RangeReader) Stats() RangeStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.Size = r.size
	return s
}

// ReadAt implements io.ReaderAt. A file that is replaced at the server fails
// with ErrChanged; open it anew then.
func (r *RangeReader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("remote: negative offset")
	}
	if r.file != nil {
		return r.file.ReadAt(p, off)
	}
	n := 0
	for n < len(p) && off < r.size {
		m, err := r.readSome(p[n:], off)
		if err != nil {
			return n, err
		}
		n, off = n+m, off+int64(m)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// readSome copies what is there at off, after fetching if nothing is.
func (r *RangeReader) readSome(p []byte, off int64) (int, error) {
	for {
		r.mu.Lock()
		if r.closed {
			r.mu.Unlock()
			return 0, ErrClosed
		}
		b := off / rangeBlock
		if data, ok := r.blocks[b]; ok {
			r.mu.Unlock()
			return copy(p, data[off-b*rangeBlock:]), nil
		}
		if wait, ok := r.coming[b]; ok {
			r.mu.Unlock()
			select {
			case <-wait:
			case <-r.ctx.Done():
				return 0, context.Cause(r.ctx)
			}
			continue
		}
		// All that is missing from here to the end of p, in one request.
		last := min(off+int64(len(p)), r.size)
		end := b
		done := make(chan struct{})
		for ; end*rangeBlock < last && r.blocks[end] == nil && r.coming[end] == nil && end-b < rangeMemory/2/rangeBlock; end++ {
			r.coming[end] = done
		}
		r.mu.Unlock()
		data, err := r.fetch(b*rangeBlock, min(end*rangeBlock, r.size))
		r.mu.Lock()
		for i := b; i < end; i++ {
			delete(r.coming, i)
			if err == nil {
				from := (i - b) * rangeBlock
				r.keep(i, data[from:min(from+rangeBlock, int64(len(data)))])
			}
		}
		r.mu.Unlock()
		close(done)
		if err != nil {
			return 0, err
		}
		return copy(p, data[off-b*rangeBlock:]), nil
	}
}

// keep adds a block and drops the oldest when there are too many.
func (r *RangeReader) keep(i int64, data []byte) {
	if _, ok := r.blocks[i]; !ok {
		r.order = append(r.order, i)
	}
	r.blocks[i] = data
	for len(r.order) > rangeMemory/rangeBlock {
		delete(r.blocks, r.order[0])
		r.order = r.order[1:]
	}
}

// fetch brings a part of the file.
func (r *RangeReader) fetch(from, to int64) (data []byte, err error) {
	err = r.f.attempts(r.ctx, r.url, func(ctx context.Context) error {
		return r.ask(ctx, from, to, func(resp *http.Response) error {
			switch resp.StatusCode {
			case http.StatusPartialContent:
			case http.StatusOK, http.StatusRequestedRangeNotSatisfiable:
				return final{fmt.Errorf("%w: the server has another version of %s", ErrChanged, shown(r.url))}
			default:
				return r.f.statusError(resp)
			}
			a, b, size, ok := contentRange(resp.Header.Get("Content-Range"))
			switch {
			case ok && size != r.size, validator(resp, "ETag") != r.etag, validator(resp, "Last-Modified") != r.modified:
				return final{fmt.Errorf("%w: the server has another version of %s", ErrChanged, shown(r.url))}
			case !ok || a != from || b != to:
				return fmt.Errorf("%w: Content-Range %q for the bytes %d to %d", ErrMismatch, resp.Header.Get("Content-Range"), from, to-1)
			}
			data = make([]byte, to-from)
			if _, err := io.ReadFull(resp.Body, data); err != nil {
				return fmt.Errorf("the bytes %d to %d: %w", from, to-1, err)
			}
			r.mu.Lock()
			r.stats.Fetched += int64(len(data))
			r.mu.Unlock()
			return nil
		})
	})
	return data, err
}

// Close ends requests under way and adds what was saved to the Fetcher's
// Metrics.
func (r *RangeReader) Close() error {
	r.mu.Lock()
	closed, stats := r.closed, r.stats
	r.closed = true
	r.mu.Unlock()
	if closed {
		return nil
	}
	if r.cancel != nil {
		r.unhook()
		r.cancel(ErrClosed)
	}
	if r.file != nil {
		return r.file.Close()
	}
	r.f.m.saved.Add(max(0, r.size-stats.Fetched))
	return nil
}
