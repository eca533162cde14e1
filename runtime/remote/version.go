package remote

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
)

// version tells the versions of a remote file apart, as far as a server does.
type version struct {
	size           int64 // of the whole file
	etag, modified string
}

// versionOf reads the validators of an answer.
func versionOf(resp *http.Response) version {
	return version{
		etag:     diskcache.Validator(resp.Header.Get("ETag")),
		modified: diskcache.Validator(resp.Header.Get("Last-Modified")),
	}
}

// entryVersion is the version of a partial file.
func entryVersion(e Entry) version {
	return version{size: e.Whole, etag: e.ETag, modified: e.LastModified}
}

// partialEntry is the entry of a partial file of a version.
func (v version) partialEntry(s source) Entry {
	e := s.entry(v)
	e.Whole, e.SHA256 = v.size, s.expected.SHA256
	return e
}

// compare compares the header of an answer 206 with the bytes from, inclusive, to to,
// exclusive, that were asked for. other says why the answer is of another version, ""
// when it is not; err is that of an answer that is not what was asked for.
func (v version) compare(resp *http.Response, from, to int64) (other string, err error) {
	a, b, size, ok := contentRange(resp.Header.Get("Content-Range"))
	now := versionOf(resp)
	switch {
	case ok && size != v.size:
		return fmt.Sprintf("%d bytes instead of %d", size, v.size), nil
	case now.etag != v.etag, now.modified != v.modified:
		return "another ETag or Last-Modified", nil
	case !ok || a != from || b != to:
		return "", fmt.Errorf("%w: Content-Range %q for the bytes %d to %d", ErrMismatch, resp.Header.Get("Content-Range"), from, to-1)
	}
	return "", nil
}

// rangeRequest is a request for the bytes from, inclusive, to to, exclusive, of a
// version of a file, with If-Range where its validator is strong.
func rangeRequest(s source, from, to int64, v version) request {
	h := http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", from, to-1)}}
	if strongETag(v.etag) {
		h.Set("If-Range", v.etag)
	}
	return request{url: s.url, header: h, kind: s.kind(to - from)}
}

func strongETag(etag string) bool { return etag != "" && !strings.HasPrefix(etag, "W/") }

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
