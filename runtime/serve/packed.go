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
	known map[string]*pack
	bytes int // of all that are complete
}

// pack is one compressed file. Whoever has put a value into turn may compress it: concurrent
// first requests do so once, and those for other files do not wait.
type pack struct {
	turn chan struct{} // of one value
	data []byte        // nil before that
}

// of returns a file compressed by gzip, nil when it is not the one any more that has the tag.
func (p *packs) of(ctx context.Context, tag string, f *os.File) ([]byte, error) {
	p.mu.Lock()
	e := p.known[tag]
	if e == nil {
		e = &pack{turn: make(chan struct{}, 1)}
		p.known[tag] = e
	}
	p.mu.Unlock()

	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e.data != nil {
		return e.data, nil
	}
	sum := sha256.New()
	data, err := packed(io.TeeReader(cancellable{ctx, f}, sum))
	if err != nil {
		p.drop(tag, e)
		return nil, err
	}
	if tagOf(sum) != tag {
		p.drop(tag, e)
		_, err := f.Seek(0, io.SeekStart)
		return nil, err
	}
	e.data = data
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known[tag] != e {
		return data, nil // forgotten meanwhile
	}
	if p.bytes += len(data); p.bytes > packKept {
		clear(p.known)
		p.known[tag], p.bytes = e, len(data)
	}
	return data, nil
}

// drop forgets a file that could not be compressed; who waits for it tries again.
func (p *packs) drop(tag string, e *pack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known[tag] == e {
		delete(p.known, tag)
	}
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
