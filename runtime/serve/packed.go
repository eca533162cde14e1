package serve

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// What is compressed: text of which it makes a difference, and no more than is kept.
const (
	packLeast = 1 << 10
	packMost  = 64 << 20
	packKept  = 64 << 20 // compressed bytes that are kept, of all files
)

// packs keeps compressed files by their entity tags.
type packs struct {
	mu    sync.Mutex
	known map[string][]byte
	bytes int
}

// of returns a file compressed by gzip, nil when it is not the one any more that has the tag.
// The lock makes concurrent first requests compress it once.
func (p *packs) of(ctx context.Context, tag string, f *os.File) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if data, ok := p.known[tag]; ok {
		return data, nil
	}
	sum := sha256.New()
	data, err := packed(io.TeeReader(cancellable{ctx, f}, sum))
	if err != nil {
		return nil, err
	}
	if tagOf(sum) != tag {
		_, err := f.Seek(0, io.SeekStart)
		return nil, err
	}
	if p.bytes += len(data); p.bytes > packKept {
		clear(p.known)
		p.bytes = len(data)
	}
	p.known[tag] = data
	return data, nil
}

// packed compresses all that a reader has.
func packed(src io.Reader) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := io.Copy(z, src); err != nil {
		return nil, err
	}
	err := z.Close()
	return out.Bytes(), err
}

// packable reports whether files of a media type and a size are compressed. Those of tiles and
// textures have been when they were made.
func packable(kind string, size int64) bool {
	text := strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || kind == "image/svg+xml"
	return text && size >= packLeast && size <= packMost
}

// wantsPacked reports whether a client takes gzip. One that asks for ranges means the bytes
// of the file.
func wantsPacked(r *http.Request) bool {
	if len(r.Header.Values("Range")) > 0 {
		return false
	}
	other := false
	for _, line := range r.Header.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(line, ",") {
			name, weight, _ := strings.Cut(part, ";")
			_, q, _ := strings.Cut(weight, "=")
			q = strings.TrimSpace(q)
			wanted := q == "" || strings.Trim(q, "0.") != ""
			switch name = strings.TrimSpace(name); {
			case strings.EqualFold(name, "gzip"):
				return wanted
			case name == "*":
				other = wanted
			}
		}
	}
	return other
}

// sendPacked answers with the compressed bytes of a file that has an entity tag: they are
// another representation, with another tag.
func (w *response) sendPacked(r *http.Request, tag string, modified time.Time, data []byte) {
	w.Header().Set("ETag", strings.TrimSuffix(tag, `"`)+`-gzip"`)
	w.Header().Set("Content-Encoding", "gzip")
	w.length = int64(len(data)) // which net/http leaves out then
	http.ServeContent(w, r, "", modified, bytes.NewReader(data))
}
