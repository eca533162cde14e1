package remote

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"slices"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/runtime"
)

// minParts is the size in bytes from which a file is worth more requests than
// one.
const minParts = 256 << 10

// enoughProbes is how many files of a scene are looked at before the scene is
// taken to have none that can be read in parts.
const enoughProbes = 4

// maxReplaced is how often a file may turn out to be another version while it is
// read in parts; then it comes whole. Hosts behind one address that disagree about
// its ETag would make it begin anew for ever.
const maxReplaced = 3

// probes counts what the first looks at files of a scene have shown.
type probes struct{ fit, unfit int }

// openParts opens a payload to be read in parts, if that pays and the server
// can: nil without an error says that the whole file is to be fetched. The
// records have come then.
func (f *Fetcher) openParts(ctx context.Context, req runtime.Request, s source) (*parts, []string, error) {
	if req.Split == nil || f.opts.Ranges == RangesOff || s.want.Size > 0 && s.want.Size < minParts || !f.probing(req.Dir) {
		return nil, nil, nil
	}
	if err := checkScheme(s.url, f.opts.AllowInsecureHTTP); err != nil {
		return nil, nil, err
	}
	if _, ok := f.cached(s); ok {
		return nil, nil, nil
	}
	if f.restless(s.name) {
		return nil, nil, nil
	}
	p, err := f.beginParts(ctx, s)
	if errors.Is(err, errNoRanges) {
		f.probed(req.Dir, enoughProbes, false)
		return nil, nil, nil
	}
	if err != nil || p == nil {
		return nil, nil, err
	}
	src := &bringer{ctx: ctx, p: p}
	fit := src.bringTables()
	if src.err == nil {
		f.probed(req.Dir, 1, fit)
	}
	var r *format.Reader
	if fit {
		r, err = format.NewReader(src, p.size)
	}
	switch {
	case src.err != nil && !errors.Is(src.err, ErrChanged):
		return nil, nil, src.err
	case !fit, err != nil, !req.Split.Admits(r):
		return nil, nil, nil // if anything is wrong, whoever reads the whole file says what
	}
	f.m.partial.Add(1)
	f.noteParts(p)
	return p, textureNames(r), nil
}

// bringTables brings all but the geometry of a container, in one request if the
// first one was not enough. It is false when meshes cannot be read from it one by
// one, or hardly anything would be saved.
func (r *bringer) bringTables() bool {
	_, chunks, err := format.ReadTable(r, r.p.size)
	if err != nil {
		return false
	}
	var spans []runtime.Span
	size := uint64(0)
	for _, c := range chunks {
		if c.Type != format.ChunkVertices && c.Type != format.ChunkIndices {
			size += c.CompressedSize // at most the file, as each was checked to lie in it
			spans = append(spans, runtime.Span{From: int64(c.Offset), To: int64(c.Offset + c.CompressedSize)})
		} else if c.Compression != format.CompressNone {
			return false
		}
		if size > uint64(r.p.size/2) {
			return false
		}
	}
	r.err = r.p.Bring(r.ctx, spans)
	return r.err == nil
}

// probing reports whether files of a scene are to be looked at: not when the
// first ones were all compressed.
func (f *Fetcher) probing(base string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.probes[base]
	return n.fit > 0 || n.unfit < enoughProbes
}

func (f *Fetcher) probed(base string, n int, fit bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.probes[base]
	if fit {
		x.fit += n
	} else {
		x.unfit += n
	}
	f.probes[base] = x
}

// beginParts returns the parts of a file: those that are open, those of the
// cache, or new ones after the first request. nil without an error says that the
// server has sent the whole file, which is in the cache now.
func (f *Fetcher) beginParts(ctx context.Context, s source) (*parts, error) {
	for {
		if p := f.openedParts(s); p != nil {
			return p, nil
		}
		_, joined, err := f.flights.do(ctx, f.base, "part "+s.name, f.spawn, func(ctx context.Context) (local, error) {
			return local{}, f.firstPart(ctx, s)
		})
		if err != nil {
			return nil, err
		}
		if p := f.openedParts(s); p != nil || !joined {
			return p, nil
		}
		if _, ok := f.cached(s); ok {
			return nil, nil
		}
	}
}

// knownParts returns the parts of a file that are open or in the cache, if they
// are of the version that is wanted.
func (f *Fetcher) knownParts(s source) *parts {
	if p := f.openedParts(s); p != nil {
		return p
	}
	h, ok := f.cache.loadPart(partName(s.name))
	if !ok {
		return nil
	}
	if !s.want.fitsPart(&h.entry) || h.entry.Old && s.want.SHA256 == "" {
		_ = f.cache.discard(&h.entry) // what stays is evicted one day
		return nil
	}
	f.m.partsCached.Add(1)
	return f.addParts(s, h)
}

// openedParts returns the parts of a file that are open, if they are of the
// version that is wanted.
func (f *Fetcher) openedParts(s source) *parts {
	f.mu.Lock()
	p := f.parts[s.name]
	f.mu.Unlock()
	if p == nil {
		return nil
	}
	p.mu.Lock()
	ok := p.dead == nil && s.want.fitsPart(&p.have.entry)
	p.mu.Unlock()
	if !ok {
		f.forgetParts(p)
		return nil
	}
	return p
}

// fitsPart reports whether a partial file is one of the version that is wanted.
// Without declared hashes its size decides, and the server at every request.
func (w Want) fitsPart(e *Entry) bool {
	return (w.Size <= 0 || w.Size == e.Whole) && w.SHA256 == e.SHA256
}

// addParts opens parts for all who want them, unless somebody was faster.
func (f *Fetcher) addParts(s source, h have) *parts {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.parts[s.name]; p != nil {
		return p
	}
	p := &parts{f: f, s: s, file: h.entry.Name, size: h.entry.Whole, have: h, coming: map[int64]chan struct{}{}}
	f.parts[s.name] = p
	return p
}

// countReplaced notes that the parts of a file were of a version that is gone.
func (f *Fetcher) countReplaced(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replaced[name]++
}

// restless reports whether a file has been replaced too often to be read in parts.
func (f *Fetcher) restless(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.replaced[name] >= maxReplaced
}

// settled forgets how often a file was replaced, as all of one version has come.
func (f *Fetcher) settled(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.replaced, name)
}

// noteParts counts a file for BytesSaved.
func (f *Fetcher) noteParts(p *parts) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.partial[p] = true
}

func (f *Fetcher) forgetParts(p *parts) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.parts[p.s.name] == p {
		delete(f.parts, p.s.name)
	}
	delete(f.partial, p)
}

// partsSaved sums up what was not fetched of files that are read in parts.
func (f *Fetcher) partsSaved() (sum int64) {
	f.mu.Lock()
	list := make([]*parts, 0, len(f.partial))
	for p := range f.partial {
		list = append(list, p)
	}
	f.mu.Unlock()
	for _, p := range list {
		sum += p.saved()
	}
	return sum
}

// firstPart does the first request for a file in parts, which brings its head
// and says whether the server knows ranges. If it does not, its answer is the
// file, and goes to the cache.
func (f *Fetcher) firstPart(ctx context.Context, s source) error {
	if f.knownParts(s) != nil {
		return nil
	}
	size := int64(headBytes)
	if s.want.Size > 0 {
		size = min(size, s.want.Size)
	}
	var whole *staged
	var e Entry
	var head []byte
	var rest unfinished // of a server without ranges: as good as nothing
	defer rest.drop()
	f.m.misses.Add(1)
	err := f.attempts(ctx, s.url, func(ctx context.Context) error {
		f.m.ranges.Add(1)
		return f.request(ctx, rangeJob(s, 0, size, ""), func(resp *http.Response) (err error) {
			e = Entry{Name: s.name, URL: shown(s.url), ETag: validator(resp, "ETag"), LastModified: validator(resp, "Last-Modified")}
			switch resp.StatusCode {
			case http.StatusPartialContent:
				head, err = f.readHead(resp, s.want, size, &e)
				return err
			case http.StatusOK:
				whole, err = f.receive(s, resp, &rest)
				return err
			case http.StatusRequestedRangeNotSatisfiable:
				return final{errNoRanges}
			}
			return f.statusError(resp)
		})
	})
	switch {
	case err != nil:
		return err
	case whole != nil:
		defer whole.abort()
		_, err := whole.commit(e)
		return err
	}
	return f.startParts(s, e, head)
}

// readHead reads the answer to the first request for parts and fills in what
// its header says of the whole file.
func (f *Fetcher) readHead(resp *http.Response, want Want, asked int64, e *Entry) ([]byte, error) {
	from, to, size, ok := contentRange(resp.Header.Get("Content-Range"))
	switch {
	case !ok || from != 0 || to != min(size, asked):
		return nil, final{fmt.Errorf("%w: Content-Range %q for the first %d bytes", errNoRanges, resp.Header.Get("Content-Range"), asked)}
	case want.Size > 0 && size != want.Size:
		return nil, fmt.Errorf("%w: the server has %d bytes, the manifest declares %d", errDeclared, size, want.Size)
	case size > f.opts.MaxBody:
		return nil, final{fmt.Errorf("%w: %d bytes, %d are allowed (Options.MaxBody)", ErrTooLarge, size, f.opts.MaxBody)}
	case !strongETag(e.ETag) && e.LastModified == "":
		return nil, final{fmt.Errorf("%w: it has neither ETag nor Last-Modified", errNoRanges)}
	}
	head := make([]byte, to)
	if n, err := io.ReadFull(resp.Body, head); err != nil {
		return nil, fmt.Errorf("after %d of the first %d bytes: %w", n, to, err)
	}
	e.Name, e.Whole, e.SHA256 = partName(e.Name), size, want.SHA256
	return head, nil
}

// startParts makes the partial file with its head.
func (f *Fetcher) startParts(s source, e Entry, head []byte) error {
	h, ok := f.cache.joinPart(e)
	if !ok {
		var err error
		if h, err = f.cache.beginPart(e); err != nil {
			return err
		}
	}
	n := int64(len(head)) / blockSize
	if int64(len(head)) == e.Whole {
		n = blocksOf(e.Whole)
	}
	head = head[:min(n*blockSize, int64(len(head)))]
	if err := f.storeHead(&h, head); err != nil && !errors.Is(err, errPartGone) && !missing(err) {
		return err
	}
	// Who has opened the file since it was begun does not know its head yet.
	p := f.addParts(s, h)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.have.entry.CachedAt.Equal(h.entry.CachedAt) {
		for b, sum := range h.sums {
			p.have.add(b, sum)
		}
	}
	return nil
}

// storeHead writes the first blocks of a partial file.
func (f *Fetcher) storeHead(h *have, head []byte) error {
	if err := f.cache.writePart(h.entry.Name, head, 0); err != nil {
		return err
	}
	if err := f.cache.syncPart(h.entry.Name); err != nil {
		return err
	}
	var sums []uint32
	for block := range slices.Chunk(head, blockSize) {
		sums = append(sums, crc32.Checksum(block, castagnoli))
	}
	return f.cache.keepPart(h, 0, sums)
}

// finishParts makes a whole file of what the cache has of it, by fetching the
// rest. ok is false when there is nothing to go on from, or the server has
// another version.
func (f *Fetcher) finishParts(ctx context.Context, s source) (e Entry, ok bool, err error) {
	if s.texture || s.manifest || f.opts.Ranges == RangesOff && s.want.SHA256 == "" {
		return Entry{}, false, nil
	}
	p := f.knownParts(s)
	if p == nil {
		return Entry{}, false, nil
	}
	err = p.bringAll(ctx)
	switch {
	case errors.Is(err, ErrChanged) && ctx.Err() == nil:
		return Entry{}, false, nil
	case err != nil:
		return Entry{}, false, err
	}
	f.m.resumed.Add(1)
	f.forgetParts(p)
	e, ok = f.cache.lookup(s.name)
	return e, ok && s.want.fits(e), nil
}

// textureNames returns the texture URIs of a container, each once.
func textureNames(r *format.Reader) []string {
	var list []string
	for _, t := range r.Textures() {
		if uri := r.String(t.URIOffset); uri != "" {
			list = append(list, uri)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
