package serve

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/untoldkit/untold/manifest/scenelist"
)

// TestPage: "/" is the page, its files are below a name that no file of the folder
// has, under a policy that lets it load nothing from elsewhere; the scenes are
// listed for it.
func TestPage(t *testing.T) {
	dir := folder(t, map[string]string{".viewer/secret.js": "secret", "notes.txt": "notes"})
	scene(t, filepath.Join(dir, "town.json"), 3)
	h, err := New(dir, Options{Page: fstest.MapFS{
		"index.html": {Data: []byte("<p>page")}, "app.js": {Data: []byte("let a")}, "app.wasm.gz": {Data: []byte{1}}, "README": {Data: []byte("no")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string, head ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		for i := 0; i < len(head); i += 2 {
			r.Header.Set(head[i], head[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for _, c := range []struct {
		path, kind, body string
		status           int
	}{
		{"/", "text/html; charset=utf-8", "<p>page", 200},
		{"/.viewer/app.js", "text/javascript; charset=utf-8", "let a", 200},
		{"/.viewer/app.wasm.gz", "application/gzip", "\x01", 200},
		{"/.viewer/README", "text/plain; charset=utf-8", "there is no such file\n", 404},
		{"/.viewer/secret.js", "text/plain; charset=utf-8", "there is no such file\n", 404},
		{"/notes.txt", "text/plain; charset=utf-8", "notes", 200},
	} {
		w := get(c.path)
		if w.Code != c.status || w.Header().Get("Content-Type") != c.kind || w.Body.String() != c.body {
			t.Errorf("%s: %d, %s, %q", c.path, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
		policy := w.Header().Get("Content-Security-Policy")
		if c.status == 200 && c.path != "/notes.txt" && (!strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe-inline") || strings.Contains(policy, "'unsafe-eval'")) {
			t.Errorf("%s: policy %q", c.path, policy)
		}
	}
	if tag := get("/.viewer/app.js").Header().Get("ETag"); get("/.viewer/app.js", "If-None-Match", tag).Code != http.StatusNotModified {
		t.Error("a file of the page is sent again")
	}
	for _, w := range []*httptest.ResponseRecorder{get("/untold-scenes.json"), get("/.viewer/scenes.json"), get("/scenes.json"), get("/", "Accept", "application/json")} {
		var list []scenelist.Scene
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list) != 1 || list[0] != (scenelist.Scene{Path: "town.json", Tiles: 3, Bytes: 4_500_000}) || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%v, %v", list, err)
		}
	}
	if w := get("/", "Accept", "text/html,application/json;q=0.9"); w.Header().Get("Content-Type") != "text/html; charset=utf-8" || w.Header().Get("Vary") == "" {
		t.Errorf("a browser gets %v", w.Header())
	}
}

// TestPageIsRefused: without index.html there is nothing to show.
func TestPageIsRefused(t *testing.T) {
	if _, err := New(t.TempDir(), Options{Page: fstest.MapFS{"a.js": {}}}); err == nil || !strings.Contains(err.Error(), fs.ErrNotExist.Error()) {
		t.Errorf("%v", err)
	}
}
