package serve

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func unpack(t *testing.T, body string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPacked: long texts are compressed for those who take gzip, and are another
// representation then; nobody else sees a difference.
func TestPacked(t *testing.T) {
	long := `{"tiles": [` + strings.Repeat("1, ", 2000) + `1]}`
	dir := folder(t, map[string]string{"city.json": long, "short.json": "{}", "a.untold": long, "doc.gltf": long, "notes.txt": long})
	h := handler(t, dir, Options{})
	plain := ask(t, h, "GET", "/city.json")
	if plain.body != long || plain.Header.Get("Content-Encoding") != "" || plain.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("%v", plain.Header)
	}
	for _, accept := range []string{"gzip", "gzip, deflate, br, zstd", "br;q=1.0, GZIP;q=0.5", "*", "*;q=0, gzip;q=1"} {
		for _, path := range []string{"/city.json", "/doc.gltf", "/notes.txt"} {
			r := ask(t, h, "GET", path, "Accept-Encoding: "+accept)
			if r.StatusCode != 200 || r.Header.Get("Content-Encoding") != "gzip" || r.ContentLength != int64(len(r.body)) || len(r.body) > len(long)/4 || unpack(t, r.body) != long {
				t.Errorf("%s, %s: %d, %d bytes, %v", path, accept, r.StatusCode, len(r.body), r.Header)
			}
		}
	}
	for _, c := range []struct{ path, accept, other string }{
		{"/city.json", "identity", ""},
		{"/city.json", "br", ""},
		{"/city.json", "gzip;q=0, *", ""},
		{"/city.json", "gzip;q=0.000", ""},
		{"/city.json", "gzip", "Range: bytes=0-"},
		{"/short.json", "gzip", ""},
		{"/a.untold", "gzip", ""},
	} {
		r := ask(t, h, "GET", c.path, "Accept-Encoding: "+c.accept, c.other)
		if r.Header.Get("Content-Encoding") != "" || r.StatusCode >= 300 || c.path == "/city.json" && r.body != long {
			t.Errorf("%+v: %d %v", c, r.StatusCode, r.Header)
		}
	}
	tag := ask(t, h, "HEAD", "/city.json", "Accept-Encoding: gzip").Header.Get("ETag")
	if tag == "" || tag == plain.Header.Get("ETag") {
		t.Errorf("tags %q and %q", tag, plain.Header.Get("ETag"))
	}
	if r := ask(t, h, "GET", "/city.json", "Accept-Encoding: gzip", "If-None-Match: "+tag); r.StatusCode != http.StatusNotModified || r.body != "" {
		t.Errorf("%d %q", r.StatusCode, r.body)
	}
	if r := ask(t, h, "GET", "/city.json", "Accept-Encoding: gzip", "If-Match: \"other\""); r.StatusCode != http.StatusPreconditionFailed || r.ContentLength > 0 {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	// A part of the file goes by the tag of the file.
	if r := ask(t, h, "GET", "/city.json", "Accept-Encoding: gzip", "Range: bytes=0-3", "If-Range: "+tag); r.StatusCode != 200 || r.body != long {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	if n := len(h.packs.known); n != 1 { // by tags: all three texts are the same
		t.Errorf("%d files are kept", n)
	}
	put(t, filepath.Join(dir, "city.json"), long+" ")
	if r := ask(t, h, "GET", "/city.json", "Accept-Encoding: gzip", "If-None-Match: "+tag); r.StatusCode != 200 || unpack(t, r.body) != long+" " {
		t.Errorf("another version: %d %v", r.StatusCode, r.Header)
	}
}

// TestPackedByWire: a client of net/http gets what the file has.
func TestPackedByWire(t *testing.T) {
	long := strings.Repeat("0123456789", 5000)
	s := start(t, handler(t, folder(t, map[string]string{"city.json": long}), Options{}))
	if r, err := fetch(t, s.Client(), s.URL+"/city.json"); err != nil || r.body != long || !r.Uncompressed {
		t.Errorf("%v, %d bytes, %v", err, len(r.body), r.Header)
	}
	if r, err := fetch(t, s.Client(), s.URL+"/city.json", "Accept-Encoding: identity"); err != nil || r.body != long || r.ContentLength != int64(len(long)) {
		t.Errorf("%v, %d bytes, %v", err, len(r.body), r.Header)
	}
	cut := start(t, handler(t, folder(t, map[string]string{"city.json": long}), Options{FailRate: 1, FailWith: []Fault{FaultTruncate}}))
	if r, err := fetch(t, cut.Client(), cut.URL+"/city.json"); err != nil || r.body != long[:len(long)/2] {
		t.Errorf("%v, %d bytes: half of the file is what a fault leaves", err, len(r.body))
	}
}

// TestPackedOfAnotherVersion: a file that is not the one any more of which the tag was made
// is sent as it is, and not kept.
func TestPackedOfAnotherVersion(t *testing.T) {
	path := filepath.Join(folder(t, map[string]string{"a.json": strings.Repeat("a", 5000)}), "a.json")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := packs{known: map[string]*pack{}}
	data, err := p.of(t.Context(), `"other"`, f)
	if data != nil || err != nil || len(p.known) != 0 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if text, err := io.ReadAll(f); len(text) != 5000 || err != nil {
		t.Errorf("%d bytes are left, %v", len(text), err)
	}
}

// TestPackedDoNotWait: while a file is compressed, others are, too; who asks for the same one
// gets what the first has made, and need not wait for it.
func TestPackedDoNotWait(t *testing.T) {
	dir := folder(t, map[string]string{"a.json": strings.Repeat("a", 5000)})
	open := func() (f *os.File, tag string) {
		t.Helper()
		f, err := os.Open(filepath.Join(dir, "a.json"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		if tag, err = hashFile(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		return f, tag
	}
	p := packs{known: map[string]*pack{}}
	slow, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	defer writer.Close()
	long := strings.Repeat("b", 4<<20) // more than a pipe holds: it is read once all is written
	sum := sha256.New()
	_, _ = io.WriteString(sum, long)
	tag := tagOf(sum)
	type answer struct {
		data []byte
		err  error
	}
	ask := func(f *os.File) chan answer {
		out := make(chan answer, 1)
		go func() {
			data, err := p.of(t.Context(), tag, f)
			out <- answer{data, err}
		}()
		return out
	}
	first := ask(slow)
	if _, err := io.WriteString(writer, long); err != nil {
		t.Fatal(err)
	}
	other, otherTag := open()
	if data, err := p.of(t.Context(), otherTag, other); err != nil || len(data) == 0 {
		t.Errorf("another file: %d bytes, %v", len(data), err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.of(gone, tag, other); !errors.Is(err, context.Canceled) {
		t.Errorf("who is gone waits: %v", err)
	}
	second := ask(nil) // it reads nothing
	writer.Close()
	for _, c := range []chan answer{first, second} {
		if r := <-c; r.err != nil || unpack(t, string(r.data)) != long {
			t.Errorf("%d bytes, %v", len(r.data), r.err)
		}
	}
	if want := len(p.known[tag].data) + len(p.known[otherTag].data); p.bytes != want {
		t.Errorf("%d bytes are counted, %d kept", p.bytes, want)
	}
}

// TestPackedAreBounded: what is kept does not grow with the number of files.
func TestPackedAreBounded(t *testing.T) {
	p := packs{known: map[string]*pack{"old": {data: make([]byte, 10)}}, bytes: packKept - 5}
	path := filepath.Join(folder(t, map[string]string{"a.json": "a"}), "a.json")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tag, err := hashFile(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := p.of(t.Context(), tag, f)
	if err != nil || len(p.known) != 1 || p.bytes != len(data) {
		t.Errorf("%d are kept, %d bytes, %v", len(p.known), p.bytes, err)
	}
}

// TestPackedPage: scripts and styles of the page come compressed, the program as it is.
func TestPackedPage(t *testing.T) {
	script := strings.Repeat("let a;\n", 1000)
	h := handler(t, t.TempDir(), Options{Page: fstest.MapFS{"index.html": {Data: []byte("<p>page")}, "app.js": {Data: []byte(script)}, "app.wasm.gz": {Data: make([]byte, 5000)}}})
	r := ask(t, h, "GET", "/.viewer/app.js", "Accept-Encoding: gzip")
	if r.Header.Get("Content-Encoding") != "gzip" || unpack(t, r.body) != script || r.Header.Get("Content-Security-Policy") == "" || r.Header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("%v", r.Header)
	}
	for _, path := range []string{"/", "/.viewer/app.wasm.gz"} {
		if r := ask(t, h, "GET", path, "Accept-Encoding: gzip"); r.StatusCode != 200 || r.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %v", path, r.Header)
		}
	}
}
