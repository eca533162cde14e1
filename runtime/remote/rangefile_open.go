package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
)

// minRangeFile is the size in bytes from which a file is worth more requests than
// one.
const minRangeFile = 256 << 10

// errNoRanges: the server gives no ranges of the file, or none whose version can be
// told.
var errNoRanges = errors.New("remote: the server gives no parts of files")

// openRanges opens a payload to be read by ranges, if that pays and the server can:
// nil without an error says that the whole file is to be fetched. The records have
// come then, and what they say of the textures is returned.
func (f *Fetcher) openRanges(ctx context.Context, req payload.Request, s source) (*rangeFile, []namedTexture, error) {
	if req.Split == nil || f.opts.Ranges == RangesOff || s.expected.Size > 0 && s.expected.Size < minRangeFile || !f.ranges.probing(req.Dir) {
		return nil, nil, nil
	}
	if err := checkScheme(s.url, f.opts.AllowInsecureHTTP); err != nil {
		return nil, nil, err
	}
	if _, ok := f.fresh(s); ok || f.ranges.replacedTooOften(s.name) {
		return nil, nil, nil
	}
	file, err := f.beginRanges(ctx, s)
	if errors.Is(err, errNoRanges) {
		f.ranges.probed(req.Dir, enoughProbes, false)
		return nil, nil, nil
	}
	if err != nil || file == nil {
		return nil, nil, err
	}
	src := &rangeSource{ctx: ctx, file: file}
	fit := src.bringTables()
	if src.err == nil {
		f.ranges.probed(req.Dir, 1, fit)
	}
	var r *format.Reader
	if fit {
		r, err = format.NewReader(src, file.Size())
	}
	switch {
	case src.err != nil && !errors.Is(src.err, ErrChanged):
		return nil, nil, src.err
	case !fit, err != nil, !req.Split.Admits(payload.RecordsOf(r).Layout()):
		return nil, nil, nil // the reader of the whole file says what is wrong, if anything
	}
	f.m.partial.Add(1)
	f.ranges.note(file)
	return file, texturesOf(r), nil
}

// bringTables brings all but the geometry of a container, in one request if the
// first one was not enough. It is false when meshes cannot be read from it one by
// one, or hardly anything would be saved.
func (s *rangeSource) bringTables() bool {
	_, chunks, err := format.ReadTable(s, s.file.Size())
	if err != nil {
		return false
	}
	var spans []payload.Span
	size := uint64(0)
	for _, c := range chunks {
		if c.Type != format.ChunkVertices && c.Type != format.ChunkIndices {
			size += c.CompressedSize // at most the file, as each was checked to lie in it
			spans = append(spans, payload.Span{From: int64(c.Offset), To: int64(c.Offset + c.CompressedSize)})
		} else if c.Compression != format.CompressNone {
			return false
		}
		if size > uint64(s.file.Size()/2) {
			return false
		}
	}
	s.err = s.file.Bring(s.ctx, spans)
	return s.err == nil
}

// beginRanges returns the range file of a source: the one that is open, one of the
// partial file in the cache, or a new one after the first request. nil without an
// error says that the server has sent the whole file, which is in the cache now.
func (f *Fetcher) beginRanges(ctx context.Context, s source) (*rangeFile, error) {
	for {
		if r := f.openRangeFile(s); r != nil {
			return r, nil
		}
		_, joined, err := f.downloads.do(ctx, f.base, "ranges "+s.name, f.spawn, func(ctx context.Context) (cachedFile, error) {
			return cachedFile{}, f.requestHead(ctx, s)
		})
		if err != nil {
			return nil, err
		}
		if r := f.openRangeFile(s); r != nil || !joined {
			return r, nil
		}
		if _, ok := f.fresh(s); ok {
			return nil, nil
		}
	}
}

// knownRangeFile returns the range file that is open or that the cache has the
// beginning of, if it is of the expected version.
func (f *Fetcher) knownRangeFile(s source) *rangeFile {
	if r := f.openRangeFile(s); r != nil {
		return r
	}
	p, ok := f.cache.Partial(s.name, f.completed(s))
	if !ok {
		return nil
	}
	if e := p.Entry(); !s.expected.fitsPartial(e) || e.Old && s.expected.SHA256 == "" && !s.texture { // of textures the server is asked: see renew
		_ = p.Discard() // an error leaves it to eviction
		return nil
	}
	if !s.texture {
		f.m.partsCached.Add(1)
	}
	return f.addRangeFile(s, p)
}

// openRangeFile returns the range file that is open, if it is of the expected
// version.
func (f *Fetcher) openRangeFile(s source) *rangeFile {
	r := f.ranges.get(s.name)
	if r == nil {
		return nil
	}
	if r.err() != nil || !s.expected.fitsPartial(r.partial.Entry()) {
		f.ranges.remove(r, false)
		return nil
	}
	return r
}

func (f *Fetcher) addRangeFile(s source, p *diskcache.Partial) *rangeFile {
	r := newRangeFile(f, s, entryVersion(p.Entry()), p, gapBytes)
	r.partial = p
	if s.texture { // what lies behind a level is a finer one, which may never be wanted
		r.gap, r.line = 0, 1
	}
	return f.ranges.add(r)
}

// completed returns what is done when a file has become whole.
func (f *Fetcher) completed(s source) func() {
	return func() { f.ranges.forgetReplacements(s.name) }
}

// fitsPartial reports whether a partial file is of the expected version. Without
// declared hashes its size decides, and the server at every request.
func (x Expected) fitsPartial(e Entry) bool {
	return (x.Size <= 0 || x.Size == e.Whole) && x.SHA256 == e.SHA256
}

// requestHead does the first request for a file by ranges, unless the cache has the
// beginning of the file. It starts the partial file with the head that the server
// sends, or stores the whole file, which a server sends that knows no ranges.
func (f *Fetcher) requestHead(ctx context.Context, s source) error {
	if f.knownRangeFile(s) != nil {
		return nil
	}
	asked := int64(headBytes)
	if s.head > 0 {
		asked = s.head
	}
	if s.expected.Size > 0 {
		asked = min(asked, s.expected.Size)
	}
	if !s.texture {
		f.m.misses.Add(1)
	}
	h, err := f.firstRange(ctx, s, asked, func(resp *http.Response, h *rangeHead) error {
		switch {
		case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
			return final{errNoRanges}
		case !h.sound:
			return final{fmt.Errorf("%w: Content-Range %q for the first %d bytes", errNoRanges, resp.Header.Get("Content-Range"), asked)}
		case h.version.size > f.opts.MaxBody:
			return final{fmt.Errorf("%w: %d bytes, %d are allowed (Options.MaxBody)", ErrTooLarge, h.version.size, f.opts.MaxBody)}
		case !strongETag(h.version.etag) && h.version.modified == "":
			return final{fmt.Errorf("%w: it has neither ETag nor Last-Modified", errNoRanges)}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if h.whole != nil {
		defer h.whole.Abort()
		_, err := h.whole.Commit(s.entry(h.version))
		return err
	}
	return f.startPartial(s, h)
}

// startPartial makes the partial file with its head.
func (f *Fetcher) startPartial(s source, h rangeHead) error {
	p, err := f.cache.CreatePartial(h.version.partialEntry(s), f.completed(s))
	if err != nil {
		return err
	}
	buf := f.buffers.Get().(*[]byte)
	defer f.buffers.Put(buf)
	err = storeHead(p, h.bytes, *buf)
	if err != nil && !errors.Is(err, diskcache.ErrGone) {
		return err
	}
	f.addRangeFile(s, p)
	return nil
}

// storeHead writes the first bytes of a file to a store, as far as they are whole
// blocks.
func storeHead(store blockStore, head, buf []byte) error {
	n := int64(len(head)) / store.BlockSize()
	if int64(len(head)) == store.Size() {
		n = (int64(len(head)) + store.BlockSize() - 1) / store.BlockSize()
	}
	_, keep, err := store.Write(0, n, bytes.NewReader(head), buf)
	if err != nil {
		return err
	}
	return keep()
}

// rangeHead is the answer to the first request for a file by ranges.
type rangeHead struct {
	requests int64
	sound    bool // the answer is the range that was asked for
	version  version
	bytes    []byte
	whole    *diskcache.Writer // all of the file, from a server that knows no ranges
}

// firstRange asks for the first bytes of a file, which says how large the file is and
// whether the server knows ranges. check judges the header of an answer 206 or 416.
func (f *Fetcher) firstRange(ctx context.Context, s source, asked int64, check func(*http.Response, *rangeHead) error) (h rangeHead, err error) {
	var rest unfinished // of a server without ranges there is nothing to resume
	defer rest.drop()
	err = f.http.attempts(ctx, s.url, func(ctx context.Context) error {
		f.m.ranges.Add(1)
		h.requests++
		return f.http.do(ctx, rangeRequest(s, 0, asked, version{}), func(resp *http.Response) (err error) {
			h.version = versionOf(resp)
			switch resp.StatusCode {
			case http.StatusPartialContent:
				return h.read(resp, s, asked, check)
			case http.StatusOK:
				h.whole, err = f.receive(s, resp, &rest)
				return err
			case http.StatusRequestedRangeNotSatisfiable:
				_, _, size, ok := contentRange(resp.Header.Get("Content-Range"))
				h.sound = ok && size == 0 && s.expected.Size == 0 // of an empty file
				if err := check(resp, &h); err != nil || h.sound {
					return err
				}
			}
			return f.http.statusError(resp)
		})
	})
	return h, err
}

// read reads an answer 206.
func (h *rangeHead) read(resp *http.Response, s source, asked int64, check func(*http.Response, *rangeHead) error) error {
	from, to, size, ok := contentRange(resp.Header.Get("Content-Range"))
	h.version.size = size
	h.sound = ok && from == 0 && to == min(size, asked)
	if h.sound && s.expected.Size > 0 && size != s.expected.Size {
		return fmt.Errorf("%w: the server has %d bytes, the manifest declares %d", errDeclared, size, s.expected.Size)
	}
	if err := check(resp, h); err != nil {
		return err
	}
	h.bytes = make([]byte, to)
	if n, err := io.ReadFull(resp.Body, h.bytes); err != nil {
		return fmt.Errorf("after %d of the first %d bytes: %w", n, to, err)
	}
	return nil
}

// completeRanges makes a whole file of a range file, by fetching the rest. ok is false
// when there is nothing to go on from, or the server has another version.
func (f *Fetcher) completeRanges(ctx context.Context, s source) (e Entry, ok bool, err error) {
	if s.texture || s.manifest || f.opts.Ranges == RangesOff && s.expected.SHA256 == "" {
		return Entry{}, false, nil
	}
	r := f.knownRangeFile(s)
	if r == nil {
		return Entry{}, false, nil
	}
	err = r.bringAll(ctx)
	switch {
	case errors.Is(err, ErrChanged) && ctx.Err() == nil:
		return Entry{}, false, nil
	case err != nil:
		return Entry{}, false, err
	}
	f.m.resumed.Add(1)
	f.ranges.remove(r, false)
	e, ok = f.cache.Lookup(s.name)
	return e, ok && s.expected.fits(e), nil
}

// bringAll brings the whole file, and returns when it has its final name.
func (r *rangeFile) bringAll(ctx context.Context) error {
	for {
		if err := r.Bring(ctx, []payload.Span{{From: 0, To: r.Size()}}); err != nil {
			return err
		}
		waited, err := r.partial.WaitCompleting(ctx)
		if !waited || err != nil {
			return err
		}
	}
}
