package remote

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// unfinished is the beginning of a broken download of a whole file, for the next
// attempt, and for the next download when no attempt succeeds. The zero value has
// nothing.
type unfinished struct {
	w *diskcache.Writer // what has come
	v version           // of the file, with the size that it is to have
}

// request returns the request for what is missing.
func (u *unfinished) request(s source) request { return rangeRequest(s, u.w.Size(), u.v.size, u.v) }

// take keeps the beginning of a body that broke off with err, if the rest can be
// asked for: the validators tell its version, or else the hash of the whole will.
func (u *unfinished) take(w *diskcache.Writer, s source, v version, resp *http.Response, err error) bool {
	if v.size = s.expected.Size; v.size <= 0 {
		v.size = resp.ContentLength
	}
	sure := strongETag(v.etag) || s.expected.SHA256 != ""
	broke := !errors.Is(err, ErrMismatch) && !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrCache)
	if s.manifest || !sure || !broke || w.Size() == 0 || w.Size() >= v.size || strings.EqualFold(resp.Header.Get("Accept-Ranges"), "none") {
		return false
	}
	u.w, u.v = w, v
	return true
}

// checkResume returns an error unless the header of an answer 206 says that it
// continues the beginning.
func (u *unfinished) checkResume(resp *http.Response) error {
	other, err := u.v.compare(resp, u.w.Size(), u.v.size)
	if other != "" {
		return fmt.Errorf("%w: the server has another version than the one whose first %d bytes have come: %s", ErrMismatch, u.w.Size(), other)
	}
	return err
}

// drop forgets the beginning.
func (u *unfinished) drop() {
	if u.w != nil {
		u.w.Abort()
		u.w = nil
	}
}

// keep leaves the beginning in the cache, as a partial file.
func (u *unfinished) keep(f *Fetcher, s source) {
	if u.w == nil {
		return
	}
	defer u.drop()
	if s.texture || s.manifest || !strongETag(u.v.etag) && u.v.modified == "" {
		return
	}
	if err := u.w.KeepPartial(u.v.partialEntry(s)); err != nil {
		f.log.Info("the beginning of a broken download is not kept", "url", weburl.Shown(s.url), "error", err)
	}
}
