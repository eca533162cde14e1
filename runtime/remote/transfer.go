package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// transfer does one attempt: a request for the rest where an earlier one broke off, a
// conditional request where the cache has a file, and one without conditions if that
// file is gone when the answer is 304. This is where an address becomes bytes on the
// disk: its body goes to a diskcache.Writer, and is committed once it is as expected.
func (f *Fetcher) transfer(ctx context.Context, s source, before Entry, conditional bool, rest *unfinished) (cachedFile, error) {
	r := request{url: s.url, header: http.Header{}, kind: s.kind(s.expected.Size), packed: s.manifest}
	switch {
	case rest.w != nil:
		r, conditional = rest.request(s), false
		f.m.ranges.Add(1)
	case conditional:
		conditional = setCondition(r.header, before)
	}
	if conditional {
		f.m.conditional.Add(1)
	}
	unchanged := false
	var w *diskcache.Writer
	var e Entry
	err := f.http.do(ctx, r, func(resp *http.Response) (err error) {
		switch {
		case resp.StatusCode == http.StatusNotModified && conditional:
			unchanged = true
			f.m.notModified.Add(1)
			return nil
		case resp.StatusCode == http.StatusPartialContent && rest.w != nil:
			e = s.entry(rest.v)
			w, err = f.resume(s, resp, rest)
			return err
		case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNonAuthoritativeInfo:
			if resp.StatusCode == http.StatusRequestedRangeNotSatisfiable || resp.StatusCode == http.StatusPreconditionFailed {
				rest.drop()
			}
			return f.http.statusError(resp)
		}
		rest.drop() // all of it comes
		e = s.entry(versionOf(resp))
		if w, err = f.receive(s, resp, rest); err != nil || !s.lenient {
			return err
		}
		sound, err := w.IsJSON()
		if err != nil {
			w.Abort()
		} else if !sound {
			e.ETag, e.LastModified = "", "" // or the server would confirm it
		}
		return err
	})
	switch {
	case err != nil:
		return cachedFile{}, err
	case unchanged:
		if now, ok := f.cache.Lookup(s.name); ok && now.SHA256 == before.SHA256 {
			return cachedFile{entry: now}, f.cache.Confirm(now)
		}
		return f.transfer(ctx, s, Entry{}, false, rest)
	}
	// The place at the host is free again while the disk works.
	defer w.Abort()
	if err := ctx.Err(); err != nil {
		return cachedFile{}, context.Cause(ctx)
	}
	if s.manifest && w.SHA256() != before.SHA256 {
		// First, so that a crash between the two costs requests and not freshness.
		if err := f.cache.MarkOld(weburl.Folder(s.url).String(), s.name); err != nil {
			return cachedFile{}, err
		}
	}
	e, err = w.Commit(e)
	return cachedFile{entry: e}, err
}

// setCondition asks for the file only if it is not the one of an entry.
func setCondition(h http.Header, e Entry) bool {
	switch {
	case e.ETag != "":
		h.Set("If-None-Match", e.ETag)
	case e.LastModified != "":
		h.Set("If-Modified-Since", e.LastModified)
	default:
		return false
	}
	return true
}

// receive writes a body to a new file and checks it. The beginning of a body that
// breaks off goes to rest.
func (f *Fetcher) receive(s source, resp *http.Response, rest *unfinished) (*diskcache.Writer, error) {
	limit := f.limit(s)
	if s.expected.Size > 0 {
		limit = min(limit, s.expected.Size)
	}
	if n := resp.ContentLength; n >= 0 && s.expected.Size > 0 && n != s.expected.Size {
		return nil, fmt.Errorf("%w: the server has %d bytes, the manifest declares %d", errDeclared, n, s.expected.Size)
	} else if n > limit {
		return nil, final{fmt.Errorf("%w: %d bytes, %d are allowed (%s)", ErrTooLarge, n, limit, s.limitName())}
	}
	w, err := f.cache.Create(s.name)
	if err != nil {
		return nil, err
	}
	if err := f.fill(w, s, resp.Body, limit); err != nil {
		if !rest.take(w, s, versionOf(resp), resp, err) {
			w.Abort()
		}
		return nil, err
	}
	return w, nil
}

// limit is the largest body that is read of a file.
func (f *Fetcher) limit(s source) int64 {
	if s.manifest {
		return min(f.opts.MaxBody, f.opts.MaxManifest)
	}
	return f.opts.MaxBody
}

// limitName says how the limit is changed.
func (s *source) limitName() string {
	if s.manifest {
		return "a manifest: --max-manifest, Options.MaxManifest"
	}
	return "Options.MaxBody"
}

// resume appends a body to the beginning that an earlier attempt has left.
func (f *Fetcher) resume(s source, resp *http.Response, rest *unfinished) (*diskcache.Writer, error) {
	if err := rest.checkResume(resp); err != nil {
		rest.drop()
		return nil, err
	}
	f.m.resumed.Add(1)
	w, v := rest.w, rest.v
	rest.w = nil
	if s.expected.Size <= 0 {
		s.expected.Size = v.size
	}
	if err := f.fill(w, s, resp.Body, min(f.limit(s), v.size)); err != nil {
		if !rest.take(w, s, v, resp, err) {
			w.Abort()
		}
		return nil, err
	}
	return w, nil
}

// fill copies a body and checks that it is as expected.
func (f *Fetcher) fill(w *diskcache.Writer, s source, body io.Reader, limit int64) error {
	buf := f.buffers.Get().(*[]byte)
	defer f.buffers.Put(buf)
	_, err := io.CopyBuffer(w, io.LimitReader(body, limit+1-w.Size()), *buf)
	n := w.Size()
	switch {
	case err != nil:
		return fmt.Errorf("after %d bytes: %w", n, err)
	case s.expected.Size > 0 && n != s.expected.Size && n <= f.opts.MaxBody:
		return fmt.Errorf("%w: %d bytes or more came, the manifest declares %d", errDeclared, n, s.expected.Size)
	case n > limit:
		return final{fmt.Errorf("%w: more than %d bytes (%s)", ErrTooLarge, limit, s.limitName())}
	case s.expected.SHA256 != "" && w.SHA256() != s.expected.SHA256:
		return fmt.Errorf("%w: its SHA-256 is %s, the manifest declares %s", errDeclared, w.SHA256(), s.expected.SHA256)
	case s.manifest && w.FirstByte() != '{':
		return fmt.Errorf("%w: a manifest begins with {, this with %q", ErrMismatch, w.FirstByte())
	case !s.manifest || s.lenient:
		return nil
	}
	sound, err := w.IsJSON()
	if err == nil && !sound {
		err = fmt.Errorf("%w: after %d bytes the manifest is no JSON: it may have been cut short", ErrMismatch, n)
	}
	return err
}
