package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"

	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// OpenTexture is the texfile.Source of a Fetcher with TexturesOnDemand. It knows the
// folders that payloads have been answered with (payload.Fetched.Dir). Of a cooked texture
// it brings the header and the levels of at most maxSize texels, as far as the cache has
// not got them; any other file, or all where the server gives no ranges, comes whole. A
// file is read in one version: when the server has another one, it begins anew. A texture
// that could not be had is left alone for a minute, with errors that match
// fs.ErrNotExist.
func (f *Fetcher) OpenTexture(ctx context.Context, dir, uri string, maxSize int) (file texfile.File, known bool, err error) {
	at, sh := f.onDemand.find(dir, uri)
	if at == nil {
		return nil, false, nil
	}
	s, err := textureSource(&containerFile{url: at.url, folder: at.folder}, uri)
	if err != nil {
		f.textures.fail(at.folder+"/"+uri, uri, err)
		return nil, true, err
	}
	if f.textures.failedLately(s.name) {
		return nil, true, fmt.Errorf("remote: %s could not be had less than %v ago: %w", weburl.Shown(s.url), failedFor, fs.ErrNotExist)
	}
	want := wantedTexture{dir, uri, maxSize}
	f.onDemand.begin(s.name, want)
	if file, err = f.openTexture(ctx, at, s, sh, maxSize); err != nil {
		if ctx.Err() != nil || f.base.Err() != nil {
			return nil, true, err // see finishTextures
		}
		f.textures.fail(s.name, weburl.Shown(s.url), err)
	}
	f.onDemand.end(s.name, want)
	return file, true, err
}

// openTexture opens a texture by ranges where that can be, else as a whole.
func (f *Fetcher) openTexture(ctx context.Context, at *textureFolder, s source, sh shape, maxSize int) (texfile.File, error) {
	if err := checkScheme(s.url, f.opts.AllowInsecureHTTP); err != nil {
		return nil, err
	}
	// What is read by ranges has a name like payloads, as it may be partial.
	k := s
	k.name, k.head = diskcache.Name(s.url), sh.head(maxSize)
	parts := texfile.IsCooked(s.url.Path) && f.opts.Ranges != RangesOff
	if _, ok := f.fresh(s); ok {
		parts = false
	}
	for parts && !at.whole.Load() && !f.ranges.replacedTooOften(k.name) {
		file, err := f.textureParts(ctx, k, maxSize)
		if errors.Is(err, errNoRanges) {
			at.whole.Store(true)
			break
		}
		if err == nil || !errors.Is(err, ErrChanged) || ctx.Err() != nil {
			return file, err
		}
	}
	f.textures.verifyFile(s.name)
	_, had := f.fresh(s)
	if _, err := f.ensure(ctx, s); err != nil {
		return nil, err
	}
	f.countTexture(had)
	return f.openCached(s.name)
}

func (f *Fetcher) countTexture(had bool) {
	if had {
		f.m.texturesPresent.Add(1)
	} else {
		f.m.textures.Add(1)
	}
}

// openCached opens a whole file of the cache.
func (f *Fetcher) openCached(name string) (texfile.File, error) {
	f.cache.Pin(name)
	file, err := os.Open(f.cache.Path(name))
	if err != nil {
		return nil, fmt.Errorf("%w: open: %w", ErrCache, err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%w: open: %w", ErrCache, err)
	}
	return &cachedTexture{file, info.Size()}, nil
}

// cachedTexture is a texture of which the cache has the whole file.
type cachedTexture struct {
	*os.File
	size int64
}

// Size implements texfile.File.
func (t *cachedTexture) Size() int64 { return t.size }

// partialTexture is a texture that is read by ranges.
type partialTexture struct{ *rangeSource }

// Size implements texfile.File.
func (t partialTexture) Size() int64 { return t.file.Size() }

// Close implements texfile.File: what has come stays for the next one.
func (t partialTexture) Close() error { return nil }

// textureParts opens a cooked texture by ranges.
func (f *Fetcher) textureParts(ctx context.Context, s source, maxSize int) (texfile.File, error) {
	if f.wholeTexture(ctx, s) {
		f.countTexture(true)
		return f.openCached(s.name)
	}
	had := f.knownRangeFile(s) != nil
	file, err := f.beginRanges(ctx, s)
	if err != nil {
		return nil, err
	}
	f.countTexture(had)
	if file == nil { // the server knows no ranges, and has sent all of it
		return f.openCached(s.name)
	}
	if !had {
		f.m.partial.Add(1)
	}
	f.ranges.note(file)
	if err := file.renew(ctx); err != nil {
		return nil, err
	}
	src := &rangeSource{ctx: ctx, file: file}
	if err := src.bringLevels(maxSize); err != nil {
		return nil, err
	}
	return partialTexture{src}, nil
}

// wholeTexture reports whether the cache has the whole file of a texture, which is still
// that of the server as far as that must be asked.
func (f *Fetcher) wholeTexture(ctx context.Context, s source) bool {
	f.textures.verifyFile(s.name)
	if _, ok := f.fresh(s); ok {
		return true
	}
	e, ok := f.cache.Lookup(s.name)
	if !ok || !e.Old || !s.expected.fits(e) {
		return false
	}
	v := version{e.Size, e.ETag, e.LastModified}
	same, err := f.hasVersion(ctx, s, v)
	if err == nil && same {
		err = f.cache.Confirm(e)
	}
	return same && err == nil
}

// renew asks the server whether it still has the version of a file whose scene has
// changed since it came. Where it does not answer, an old texture is better than none.
func (r *rangeFile) renew(ctx context.Context) error {
	if !r.partial.Old() {
		return nil
	}
	same, err := r.f.hasVersion(ctx, r.s, r.version)
	switch {
	case err != nil:
		return err
	case !same:
		return r.replace(errors.New("another version"))
	}
	return r.partial.Renew()
}

// hasVersion asks for the first byte of a version of a texture. Where the server does not
// answer, it is taken to have it, for a while.
func (f *Fetcher) hasVersion(ctx context.Context, s source, v version) (same bool, err error) {
	if f.textures.failedLately(staleKey + s.name) {
		return true, nil
	}
	if v.size < 1 || !strongETag(v.etag) && v.modified == "" {
		return false, nil
	}
	err = f.http.attempts(ctx, s.url, func(ctx context.Context) error {
		f.m.ranges.Add(1)
		return f.http.do(ctx, rangeRequest(s, 0, 1, v), func(resp *http.Response) error {
			switch resp.StatusCode {
			case http.StatusPartialContent:
				other, err := v.compare(resp, 0, 1)
				same = other == "" && err == nil
				return err
			case http.StatusOK, http.StatusRequestedRangeNotSatisfiable, http.StatusPreconditionFailed:
				return nil
			}
			return f.http.statusError(resp)
		})
	})
	if err != nil && ctx.Err() == nil && f.base.Err() == nil {
		f.m.staleServed.Add(1)
		f.textures.leave(staleKey + s.name)
		f.log.Warn("an old copy serves", "url", weburl.Shown(s.url), "error", err)
		return true, nil
	}
	return same, err
}

// staleKey begins the ids of textures that a server was asked about in vain.
const staleKey = "stale "

// bringLevels brings the levels of a cooked texture of at most maxSize texels. Its header
// has come. One that makes no sense is forgotten, so that it is asked for again.
func (s *rangeSource) bringLevels(maxSize int) error {
	c, err := texfile.OpenCooked(s, s.file.Size())
	if s.err != nil {
		return s.err
	}
	if err == nil && c == nil {
		err = errors.New("it is neither .utex nor KTX2")
	}
	if err != nil {
		s.file.Distrust([]payload.Span{{From: 0, To: s.file.Size()}})
		return fmt.Errorf("remote: %s: %w", weburl.Shown(s.file.s.url), err)
	}
	var spans []payload.Span
	for _, l := range c.Need(maxSize) {
		spans = append(spans, payload.Span{From: l.Offset, To: l.Offset + l.Size})
	}
	return s.file.Bring(s.ctx, spans)
}
