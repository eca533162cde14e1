package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// transfer does one attempt: a request for what is missing where an earlier one
// broke off, a conditional request where the cache has a file, and one without
// conditions if that file is gone when the answer is 304.
func (f *Fetcher) transfer(ctx context.Context, s source, before Entry, conditional bool, rest *unfinished) (local, error) {
	j := job{url: s.url, texture: s.texture, header: http.Header{}}
	switch {
	case rest.st != nil:
		j, conditional = rest.job(s), false
		f.m.ranges.Add(1)
	case conditional:
		conditional = setCondition(j.header, before)
	}
	if conditional {
		f.m.conditional.Add(1)
	}
	unchanged := false
	var st *staged
	var e Entry
	err := f.request(ctx, j, func(resp *http.Response) (err error) {
		switch {
		case resp.StatusCode == http.StatusNotModified && conditional:
			unchanged = true
			f.m.notModified.Add(1)
			return nil
		case resp.StatusCode == http.StatusPartialContent && rest.st != nil:
			e = rest.e
			e.Whole = 0
			st, err = f.goOn(s, resp, rest)
			return err
		case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNonAuthoritativeInfo:
			if resp.StatusCode == http.StatusRequestedRangeNotSatisfiable || resp.StatusCode == http.StatusPreconditionFailed {
				rest.drop()
			}
			return f.statusError(resp)
		}
		rest.drop() // all of it comes
		e = Entry{Name: s.name, URL: shown(s.url), ETag: validator(resp, "ETag"), LastModified: validator(resp, "Last-Modified")}
		if st, err = f.receive(s, resp, rest); err != nil || !s.lenient {
			return err
		}
		sound, err := st.json()
		if err != nil {
			st.abort()
		} else if !sound {
			e.ETag, e.LastModified = "", "" // or the server would confirm it
		}
		return err
	})
	switch {
	case err != nil:
		return local{}, err
	case unchanged:
		if now, ok := f.cache.lookup(s.name); ok && now.SHA256 == before.SHA256 {
			return local{entry: now, cached: true}, f.cache.renew(now)
		}
		return f.transfer(ctx, s, Entry{}, false, rest)
	}
	// The place at the host is free again while the disk works.
	defer st.abort()
	if err := ctx.Err(); err != nil {
		return local{}, context.Cause(ctx)
	}
	if s.manifest && st.sum() != before.SHA256 {
		// First, so that a crash between the two costs requests and not freshness.
		base := directory(s.url)
		if err := f.cache.age(base.String(), s.name); err != nil {
			return local{}, err
		}
	}
	e, err = st.commit(e)
	return local{entry: e}, err
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

// validator returns a header that will be sent back, "" if it is unfit.
func validator(resp *http.Response, name string) string {
	v := resp.Header.Get(name)
	for i := range len(v) {
		if v[i] < 0x20 || v[i] >= 0x7f {
			return ""
		}
	}
	if len(v) > maxValidator {
		return ""
	}
	return v
}

// receive writes a body to a staged file and compares it with what is known. What
// has come of a body that breaks off goes to rest.
func (f *Fetcher) receive(s source, resp *http.Response, rest *unfinished) (*staged, error) {
	limit := f.limit(s)
	if s.want.Size > 0 {
		limit = min(limit, s.want.Size)
	}
	if n := resp.ContentLength; n >= 0 && s.want.Size > 0 && n != s.want.Size {
		return nil, fmt.Errorf("%w: the server has %d bytes, the manifest declares %d", errDeclared, n, s.want.Size)
	} else if n > limit {
		return nil, final{fmt.Errorf("%w: %d bytes, %d are allowed (%s)", ErrTooLarge, n, limit, s.limitName())}
	}
	st, err := f.cache.stage(s.name)
	if err != nil {
		return nil, err
	}
	if err := f.fill(st, s, resp.Body, limit); err != nil {
		e := Entry{Name: s.name, URL: shown(s.url), ETag: validator(resp, "ETag"), LastModified: validator(resp, "Last-Modified")}
		if !rest.take(st, s, e, resp, err) {
			st.abort()
		}
		return nil, err
	}
	return st, nil
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

// goOn appends a body to what an earlier attempt has left.
func (f *Fetcher) goOn(s source, resp *http.Response, rest *unfinished) (*staged, error) {
	if err := rest.goesOn(resp); err != nil {
		rest.drop()
		return nil, err
	}
	f.m.resumed.Add(1)
	st, e := rest.st, rest.e
	rest.st = nil
	if s.want.Size <= 0 {
		s.want.Size = e.Whole
	}
	if err := f.fill(st, s, resp.Body, min(f.limit(s), e.Whole)); err != nil {
		if !rest.take(st, s, e, resp, err) {
			st.abort()
		}
		return nil, err
	}
	return st, nil
}

// fill copies a body and judges it.
func (f *Fetcher) fill(st *staged, s source, body io.Reader, limit int64) error {
	buf := f.buffers.Get().(*[]byte)
	defer f.buffers.Put(buf)
	_, err := io.CopyBuffer(st, io.LimitReader(body, limit+1-st.size), *buf)
	n := st.size
	switch {
	case err != nil:
		return fmt.Errorf("after %d bytes: %w", n, err)
	case s.want.Size > 0 && n != s.want.Size && n <= f.opts.MaxBody:
		return fmt.Errorf("%w: %d bytes or more came, the manifest declares %d", errDeclared, n, s.want.Size)
	case n > limit:
		return final{fmt.Errorf("%w: more than %d bytes (%s)", ErrTooLarge, limit, s.limitName())}
	case s.want.SHA256 != "" && st.sum() != s.want.SHA256:
		return fmt.Errorf("%w: its SHA-256 is %s, the manifest declares %s", errDeclared, st.sum(), s.want.SHA256)
	case s.manifest && st.first != '{':
		return fmt.Errorf("%w: a manifest begins with {, this with %q", ErrMismatch, st.first)
	case !s.manifest || s.lenient:
		return nil
	}
	sound, err := st.json()
	if err == nil && !sound {
		err = fmt.Errorf("%w: after %d bytes the manifest is no JSON: it may have been cut short", ErrMismatch, n)
	}
	return err
}
