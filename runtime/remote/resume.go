package remote

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// unfinished is what a broken download of a whole file has left for the next
// attempt, and for the next download when no attempt succeeds. The zero value is
// nothing.
type unfinished struct {
	st *staged
	e  Entry // Whole is the size that the file is to have
}

// job returns the request for what is missing.
func (u *unfinished) job(s source) job { return rangeJob(s, u.st.size, u.e.Whole, u.e.ETag) }

// take keeps the beginning of a body that broke off, if the rest can be asked
// for: its version has a name, or else the hash of the whole will tell.
func (u *unfinished) take(st *staged, s source, e Entry, resp *http.Response, err error) bool {
	total := s.want.Size
	if total <= 0 {
		total = resp.ContentLength
	}
	sure := strongETag(e.ETag) || s.want.SHA256 != ""
	broke := !errors.Is(err, ErrMismatch) && !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrCache)
	if s.manifest || !sure || !broke || st.size == 0 || st.size >= total || strings.EqualFold(resp.Header.Get("Accept-Ranges"), "none") {
		return false
	}
	e.Whole = total
	u.st, u.e = st, e
	return true
}

// goesOn reports whether an answer is what follows on what is there, by its
// header.
func (u *unfinished) goesOn(resp *http.Response) error {
	from, to, size, ok := contentRange(resp.Header.Get("Content-Range"))
	switch {
	case !ok || from != u.st.size || to != u.e.Whole || size != u.e.Whole:
		return fmt.Errorf("%w: Content-Range %q for the bytes from %d of %d on", ErrMismatch, resp.Header.Get("Content-Range"), u.st.size, u.e.Whole)
	case validator(resp, "ETag") != u.e.ETag, validator(resp, "Last-Modified") != u.e.LastModified:
		return fmt.Errorf("%w: the server has another version than that whose first %d bytes have come", ErrMismatch, u.st.size)
	}
	return nil
}

// drop forgets what is there.
func (u *unfinished) drop() {
	if u.st != nil {
		u.st.abort()
		u.st = nil
	}
}

// keep leaves what is there in the cache, as parts of the file.
func (u *unfinished) keep(f *Fetcher, s source) {
	if u.st == nil {
		return
	}
	defer u.drop()
	e := u.e
	if s.texture || s.manifest || !strongETag(e.ETag) && e.LastModified == "" {
		return
	}
	e.Name, e.SHA256 = partName(s.name), s.want.SHA256
	if u.st.file.Close() != nil {
		return
	}
	if err := f.cache.adoptPrefix(e, u.st.tmp, u.st.size); err != nil {
		f.log.Info("the beginning of a broken download is not kept", "url", shown(s.url), "error", err)
	}
}
