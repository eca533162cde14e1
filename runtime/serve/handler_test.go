package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const digits = "0123456789"

func TestFile(t *testing.T) {
	dir := folder(t, map[string]string{"city.json": "{}", "tiles/a.untold": digits, "tiles/Textures/a b.png": "png", "readme": "x", "empty.untold": ""})
	h := handler(t, dir, Options{})
	for _, c := range []struct{ path, kind, body string }{
		{"/city.json", "application/json", "{}"},
		{"/tiles/a.untold", "application/octet-stream", digits},
		{"/tiles/a.untold?v=2", "application/octet-stream", digits},
		{"/tiles%2Fa.untold", "application/octet-stream", digits},
		{"/tiles/Textures/a%20b.png", "image/png", "png"},
		{"/readme", "application/octet-stream", "x"},
		{"/empty.untold", "application/octet-stream", ""},
	} {
		r := ask(t, h, "GET", c.path, "Accept-Encoding: gzip, br")
		sum := sha256.Sum256([]byte(c.body))
		tag := `"` + hex.EncodeToString(sum[:16]) + `"`
		if r.StatusCode != 200 || r.body != c.body || r.Header.Get("Content-Type") != c.kind || r.Header.Get("ETag") != tag {
			t.Errorf("%s: %d %q %v", c.path, r.StatusCode, r.body, r.Header)
		}
		if r.ContentLength != int64(len(c.body)) || r.Header.Get("Content-Encoding") != "" || r.Header.Get("Accept-Ranges") != "bytes" {
			t.Errorf("%s: %v", c.path, r.Header)
		}
		if _, err := http.ParseTime(r.Header.Get("Last-Modified")); err != nil {
			t.Errorf("%s: %v", c.path, err)
		}
		head := ask(t, h, "HEAD", c.path)
		if head.StatusCode != 200 || head.body != "" || head.Header.Get("ETag") != tag || head.Header.Get("Content-Length") != fmt.Sprint(len(c.body)) {
			t.Errorf("HEAD %s: %d %q %v", c.path, head.StatusCode, head.body, head.Header)
		}
	}
	if r := ask(t, h, "GET", "/tiles/b.untold"); r.StatusCode != 404 || r.Header.Get("ETag") != "" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "TRACE"} {
		if r := ask(t, h, method, "/city.json"); r.StatusCode != 405 || r.Header.Get("Allow") != methods {
			t.Errorf("%s: %d %v", method, r.StatusCode, r.Header)
		}
	}
	if r := ask(t, h, "GET", "/city.json", "Content-Length: 5"); r.StatusCode != 400 || r.Header.Get("Connection") != "close" {
		t.Errorf("a body: %d %v", r.StatusCode, r.Header)
	}
	s := h.Stats()
	if s.NotFound != 1 || s.Requests != 21 {
		t.Errorf("%+v", s)
	}
}

func TestRanges(t *testing.T) {
	h := handler(t, folder(t, map[string]string{"a.untold": digits}), Options{})
	tag := ask(t, h, "HEAD", "/a.untold").Header.Get("ETag")
	modified := ask(t, h, "HEAD", "/a.untold").Header.Get("Last-Modified")
	for _, c := range []struct {
		header  string
		status  int
		content string
		body    string
	}{
		{"Range: bytes=0-3", 206, "bytes 0-3/10", "0123"},
		{"Range: bytes=8-", 206, "bytes 8-9/10", "89"},
		{"Range: bytes=-2", 206, "bytes 8-9/10", "89"},
		{"Range: bytes=5-500", 206, "bytes 5-9/10", "56789"},
		{"Range: bytes=10-", 416, "bytes */10", ""},
		{"Range: bytes=9-3", 416, "", ""},
		{"Range: bytes=-0", 416, "bytes */10", ""},
		{"Range: bytes=-000 , -0", 416, "bytes */10", ""},
		{"Range: bytes=-0, 2-3", 206, "bytes 2-3/10", "23"},
		{"Range: bytes=-0\r\nIf-Range: \"other\"", 200, "", digits},
		{"Range: bytes=-500", 206, "bytes 0-9/10", digits},
		{"Range: bytes=10-12,-1", 206, "bytes 9-9/10", "9"},
		{"Range: bytes=99999999999999999999-", 416, "", ""},
		{"Range: bytes=0-99999999999999999999", 416, "", ""},
		{"Range: bytes=-99999999999999999999", 416, "", ""},
		{"Range: bytes=abc", 416, "", ""},
		{"Range: bytes=a-b", 416, "", ""},
		{"Range: bytes=--1", 416, "", ""},
		{"Range: bytes=+1-2", 416, "", ""},
		{"Range: bytes=1", 416, "", ""},
		{"Range: bytes=-", 416, "", ""},
		{"Range: bytes= 0 - 3 ", 206, "bytes 0-3/10", "0123"},
		{"Range: bytes=,, 1-2 ,", 206, "bytes 1-2/10", "12"},
		{"Range: BYTES=0-3", 206, "bytes 0-3/10", "0123"},
		{"Range: items=0-3", 200, "", digits},
		{"Range: items=-0", 200, "", digits},
		{"Range: bytes 0-3", 416, "", ""},
		{"Range: bytes=0-3\r\nIf-Range: " + tag, 206, "bytes 0-3/10", "0123"},
		{"Range: bytes=0-3\r\nIf-Range: \"other\"", 200, "", digits},
		{"Range: bytes=0-3\r\nIf-Range: W/" + tag, 200, "", digits},
		{"Range: bytes=0-3\r\nIf-Range: " + modified, 206, "bytes 0-3/10", "0123"},
		{"Range: bytes=0-3\r\nIf-Match: \"other\"", 412, "", ""},
		{"Range: bytes=0-3\r\nIf-Match: " + tag, 206, "bytes 0-3/10", "0123"},
	} {
		r := ask(t, h, "GET", "/a.untold", c.header)
		if r.StatusCode != c.status || r.Header.Get("Content-Range") != c.content || c.status < 300 && r.body != c.body {
			t.Errorf("%q: %d, %q, %q", c.header, r.StatusCode, r.Header.Get("Content-Range"), r.body)
		}
	}
	r := ask(t, h, "HEAD", "/a.untold", "Range: bytes=0-3")
	if r.body != "" || r.StatusCode != 200 || r.Header.Get("Content-Length") != "10" { // ranges are for GET
		t.Errorf("HEAD: %d %q", r.StatusCode, r.body)
	}
}

func TestSeveralRanges(t *testing.T) {
	h := handler(t, folder(t, map[string]string{"a.untold": digits}), Options{})
	r := ask(t, h, "GET", "/a.untold", "Range: bytes=0-1,4-5,-1")
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.StatusCode != 206 || kind != "multipart/byteranges" || err != nil {
		t.Fatalf("%d %v", r.StatusCode, r.Header)
	}
	parts := multipart.NewReader(strings.NewReader(r.body), params["boundary"])
	for _, want := range []string{"bytes 0-1/10 01", "bytes 4-5/10 45", "bytes 9-9/10 9"} {
		p, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(p)
		if got := p.Header.Get("Content-Range") + " " + string(body); got != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	if _, err := parts.NextPart(); err != io.EOF {
		t.Error(err)
	}
	// Ranges that add up to more than the file are an attack, or useless.
	if r := ask(t, h, "GET", "/a.untold", "Range: bytes="+strings.Repeat("0-9,", 500)+"0-9"); r.StatusCode != 200 || r.body != digits {
		t.Errorf("%d, %d bytes", r.StatusCode, len(r.body))
	}
}

func TestConditional(t *testing.T) {
	dir := folder(t, map[string]string{"a.json": "{}"})
	h := handler(t, dir, Options{})
	first := ask(t, h, "GET", "/a.json")
	tag, modified := first.Header.Get("ETag"), first.Header.Get("Last-Modified")
	for _, c := range []struct {
		header string
		status int
	}{
		{"If-None-Match: " + tag, 304},
		{"If-None-Match: W/" + tag, 304},
		{"If-None-Match: \"x\", " + tag, 304},
		{"If-None-Match: *", 304},
		{"If-None-Match: \"x\"", 200},
		{"If-None-Match: \"x\"\r\nIf-Modified-Since: " + modified, 200}, // the tag wins
		{"If-Modified-Since: " + modified, 304},
		{"If-Modified-Since: Mon, 02 Jan 2006 15:04:05 GMT", 200},
		{"If-Match: " + tag, 200},
		{"If-Match: \"x\"", 412},
		{"If-Unmodified-Since: Mon, 02 Jan 2006 15:04:05 GMT", 412},
	} {
		r := ask(t, h, "GET", "/a.json", c.header)
		if r.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", c.header, r.StatusCode, c.status)
		}
		if c.status == 304 && (r.body != "" || r.Header.Get("ETag") != tag || r.Header.Get("Content-Length") != "") {
			t.Errorf("%s: %q %v", c.header, r.body, r.Header)
		}
	}
	if n := h.Stats().NotModified; n != 5 {
		t.Errorf("%d not modified", n)
	}
	// Another content is another tag, even when size and time are the same.
	when := time.Now().Add(-time.Minute)
	path := filepath.Join(dir, "a.json")
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, h, "GET", "/a.json", "If-None-Match: "+tag); got.StatusCode != 304 {
		t.Errorf("the same content at another time: %d", got.StatusCode)
	}
	put(t, path, "[]")
	if got := ask(t, h, "GET", "/a.json", "If-None-Match: "+tag); got.StatusCode != 200 || got.body != "[]" {
		t.Errorf("other content: %d %q", got.StatusCode, got.body)
	}
}

// TestFreshFile: shortly after a write neither size nor time tell whether there
// was another one.
func TestFreshFile(t *testing.T) {
	dir := folder(t, map[string]string{"a.json": "{}"})
	path := filepath.Join(dir, "a.json")
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	clock := newClock()
	clock.now = st.ModTime().Add(time.Second)
	h := handler(t, dir, Options{Clock: clock})
	tag := func() string { return ask(t, h, "HEAD", "/a.json").Header.Get("ETag") }
	rewrite := func(text string) {
		put(t, path, text)
		if err := os.Chtimes(path, st.ModTime(), st.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	before := tag()
	rewrite("[]")
	if tag() == before {
		t.Error("a second write within the resolution of times is missed")
	}
	clock.Advance(racy)
	before = tag()
	rewrite("{}")
	if tag() != before {
		t.Error("old files are hashed again and again")
	}
}

// TestTagsOfReplacedFiles: a file in the place of another has its own tag, although it has the
// other's size and time, as results have that were linked from a store.
func TestTagsOfReplacedFiles(t *testing.T) {
	dir := folder(t, map[string]string{"a.untold": "one", "b.untold": "two"})
	clock := newClock()
	at := clock.now.Add(-time.Hour)
	for _, name := range []string{"a.untold", "b.untold"} {
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	h := handler(t, dir, Options{Clock: clock})
	tag := func(name string) string { return ask(t, h, "HEAD", "/"+name).Header.Get("ETag") }
	a, b := tag("a.untold"), tag("b.untold")
	if err := os.Rename(filepath.Join(dir, "b.untold"), filepath.Join(dir, "a.untold")); err != nil {
		t.Fatal(err)
	}
	if got := tag("a.untold"); got != b || got == a {
		t.Errorf("%s, want %s; it was %s", got, b, a)
	}
}

func TestCORS(t *testing.T) {
	dir := folder(t, map[string]string{"a.json": "{}"})
	h := handler(t, dir, Options{AllowOrigin: "*"})
	r := ask(t, h, "OPTIONS", "/a.json", "Origin: https://viewer.example.com", "Access-Control-Request-Method: GET", "Access-Control-Request-Headers: range,if-none-match")
	if r.StatusCode != 204 || r.body != "" || r.Header.Get("Access-Control-Allow-Origin") != "*" || r.Header.Get("Access-Control-Allow-Methods") != methods {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	allowed := strings.ToLower(r.Header.Get("Access-Control-Allow-Headers"))
	for _, name := range []string{"range", "if-none-match", "if-range"} {
		if !strings.Contains(allowed, name) {
			t.Errorf("%s is not allowed: %s", name, allowed)
		}
	}
	for _, path := range []string{"/a.json", "/b.json"} {
		r := ask(t, h, "GET", path, "Origin: https://viewer.example.com")
		exposed := r.Header.Get("Access-Control-Expose-Headers")
		if r.Header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(exposed, "ETag") || !strings.Contains(exposed, "Content-Range") {
			t.Errorf("%s: %v", path, r.Header)
		}
	}
	r = ask(t, handler(t, dir, Options{AllowOrigin: "https://a.example.com"}), "GET", "/a.json")
	if r.Header.Get("Access-Control-Allow-Origin") != "https://a.example.com" || r.Header.Get("Vary") != "Origin" {
		t.Errorf("%v", r.Header)
	}
	r = ask(t, handler(t, dir, Options{}), "OPTIONS", "/a.json")
	if r.StatusCode != 204 || r.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
}

func TestOptions(t *testing.T) {
	dir := t.TempDir()
	for _, o := range []Options{
		{Latency: -1},
		{RetryAfter: -1},
		{StallTimeout: -1},
		{Bandwidth: -1},
		{Bandwidth: 0.5},
		{FailRate: -0.1},
		{FailRate: 1.1},
		{FailStatus: 200},
		{FailStatus: 600},
		{FailWith: []Fault{"fire"}},
	} {
		if _, err := New(dir, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	if _, err := New(filepath.Join(dir, "none"), Options{}); err == nil {
		t.Error("a missing folder is accepted")
	}
	put(t, filepath.Join(dir, "f"), "")
	if _, err := New(filepath.Join(dir, "f"), Options{}); err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Error(err)
	}
}

// TestReplacedFolder: a cook may put a whole new folder in the place of the old.
func TestReplacedFolder(t *testing.T) {
	dir := folder(t, map[string]string{"out/a.json": "1", "new/a.json": "2"})
	out := filepath.Join(dir, "out")
	h := handler(t, out, Options{})
	if r := ask(t, h, "GET", "/a.json"); r.body != "1" {
		t.Errorf("%q", r.body)
	}
	if err := os.Rename(out, filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	if r := ask(t, h, "GET", "/a.json"); r.StatusCode != 404 {
		t.Errorf("%d", r.StatusCode)
	}
	if err := os.Rename(filepath.Join(dir, "new"), out); err != nil {
		t.Fatal(err)
	}
	if r := ask(t, h, "GET", "/a.json"); r.body != "2" {
		t.Errorf("%q", r.body)
	}
}

func TestLog(t *testing.T) {
	var list []Entry
	clock := newClock()
	clock.auto = true
	h := handler(t, folder(t, map[string]string{"a.untold": digits}), Options{Log: func(e *Entry) { list = append(list, *e) }, Latency: 40 * time.Millisecond, Clock: clock})
	tag := ask(t, h, "GET", "/a.untold?v=1", "Range: bytes=2-4").Header.Get("ETag")
	ask(t, h, "GET", "/a.untold", "If-None-Match: "+tag)
	ask(t, h, "GET", "/%2e%2e/x")
	if len(list) != 3 {
		t.Fatalf("%d entries", len(list))
	}
	if e := list[0]; e.Method != "GET" || e.Path != "/a.untold?v=1" || e.Range != "bytes=2-4" || e.Status != 206 || e.Bytes != 3 || e.Millis != 40 || e.Proto != "HTTP/1.1" {
		t.Errorf("%+v", e)
	}
	if e := list[1]; e.Status != 304 || e.Bytes != 0 {
		t.Errorf("%+v", e)
	}
	if e := list[2]; e.Status != 404 || e.Reason == "" || e.Path != "/%2e%2e/x" {
		t.Errorf("%+v", e)
	}
}

// TestConcurrent asks from many goroutines at once, over HTTP/1.1 and HTTP/2.
func TestConcurrent(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("tiles/%d.untold", i)] = strings.Repeat(fmt.Sprint(i), 5000+i)
	}
	h := handler(t, folder(t, files), Options{})
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		s := startTLS(h, proto)
		var wg sync.WaitGroup
		for g := range 16 {
			wg.Go(func() {
				for i := range 25 {
					name := fmt.Sprintf("tiles/%d.untold", (g+i)%20)
					want := files[name]
					r, err := fetch(t, s.Client(), s.URL+"/"+name)
					if err != nil || r.StatusCode != 200 || r.body != want || r.Proto != proto {
						t.Errorf("%s: %v, %v", name, err, r.Response)
						return
					}
					r, err = fetch(t, s.Client(), s.URL+"/"+name, "Range: bytes=100-199", "If-Range: "+r.Header.Get("ETag"))
					if err != nil || r.StatusCode != 206 || r.body != want[100:200] {
						t.Errorf("%s: %v, %v", name, err, r.Response)
					}
				}
			})
		}
		wg.Wait()
		s.Client().CloseIdleConnections()
		s.Close()
	}
	if n := h.Stats(); n.Requests != 2*16*25*2 || n.Partial != n.Requests/2 || n.CutShort != 0 {
		t.Errorf("%+v", n)
	}
}
