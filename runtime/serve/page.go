package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/untoldkit/untold/manifest/scenelist"
)

// pagePath is where the files of a page are, below the server's address: a name
// that no file of the folder has, since names with a dot are not served.
const pagePath = ".viewer/"

// pagePolicy is the content security policy of a page: it loads what comes from the
// same server and nothing else, compiles WebAssembly, and evaluates no text.
const pagePolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; worker-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"

// pageTypes are the media types of a page's files, by their endings.
var pageTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".gz":   "application/gzip",
}

// page is a page in memory.
type page struct{ files map[string]pageFile }

type pageFile struct {
	kind, tag    string
	data, packed []byte // packed: compressed, nil where it is not
}

// readPage reads all files of a page; index.html is what "/" shows.
func readPage(from fs.FS) (*page, error) {
	p := &page{files: map[string]pageFile{}}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		kind := pageTypes[path.Ext(name)]
		if err != nil || d.IsDir() || kind == "" {
			return err
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		f := pageFile{kind: kind, tag: `"` + hex.EncodeToString(sum[:16]) + `"`, data: data}
		if packable(kind, int64(len(data))) {
			f.packed, err = packed(bytes.NewReader(data))
		}
		p.files[name] = f
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("serve: the page: %w", err)
	}
	if _, ok := p.files["index.html"]; !ok {
		return nil, fmt.Errorf("serve: the page: index.html: %w", fs.ErrNotExist)
	}
	return p, nil
}

// send answers with a file of the page.
func (p *page) send(w *response, r *http.Request, name string) {
	f, ok := p.files[name]
	if !ok {
		w.fail(http.StatusNotFound, "there is no such file")
		return
	}
	w.Header().Set("ETag", f.tag)
	w.Header().Set("Content-Type", f.kind)
	w.Header().Set("Content-Security-Policy", pagePolicy)
	if f.packed != nil {
		w.Header().Add("Vary", "Accept-Encoding")
		if wantsPacked(r) {
			w.sendPacked(r, f.tag, time.Time{}, f.packed)
			return
		}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.data))
}

// pageFile answers a request for a file of the page. Older pages, which a browser may
// have kept, ask for the list of scenes there.
func (h *Handler) pageFile(w *response, r *http.Request, name string) {
	if scenelist.Is(name) {
		h.list(w, r)
		return
	}
	h.page.send(w, r, name)
}

// wantsList reports whether a request for "/" is of a program that reads the list
// of scenes, and not of a browser.
func wantsList(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// list sends the list of scenes.
func (h *Handler) list(w *response, r *http.Request) {
	var list []scenelist.Scene
	for _, s := range h.Scenes(r.Context()) {
		list = append(list, scenelist.Scene{Path: s.Path, Tiles: s.Tiles, Bytes: s.Bytes})
	}
	data, err := scenelist.Encode(list)
	if err != nil { // not of these
		w.fail(http.StatusInternalServerError, "no list")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// ofPage reports whether a path is of the page, and the name of the file there.
func (h *Handler) ofPage(url string) (name string, ok bool) {
	if h.page == nil {
		return "", false
	}
	if url == "/" {
		return "index.html", true
	}
	return strings.CutPrefix(url, "/"+pagePath)
}
