package serve

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/fuzzbound"
)

// FuzzRequests sends any bytes that net/http takes for a request to three
// servers: a faithful one, one that fails and one that is slow. What comes back
// is an answer of HTTP about one of the served files, and of bounded size.
func FuzzRequests(f *testing.F) {
	for _, s := range []string{
		"GET /a.json HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nAccept: text/html\r\n\r\n",
		"HEAD /tiles/a.untold HTTP/1.1\r\nHost: h\r\nRange: bytes=0-9\r\n\r\n",
		"GET /tiles/a.untold HTTP/1.1\r\nHost: h\r\nRange: bytes=0-0,-1,5-\r\nIf-Range: \"x\"\r\n\r\n",
		"GET /tiles/a.untold HTTP/1.1\r\nHost: h\r\nRange: bytes=-9223372036854775808,9223372036854775807-\r\n\r\n",
		"GET /tiles/a.untold HTTP/1.1\r\nHost: h\r\nRange: bytes=" + strings.Repeat("0-,", 200) + "0-\r\n\r\n",
		"GET /a.json HTTP/1.1\r\nHost: h\r\nIf-None-Match: *\r\nIf-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n",
		"GET /a.json HTTP/1.1\r\nHost: h\r\nIf-Match: W/\"1\", \"\r\nIf-Unmodified-Since: never\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: h\r\nOrigin: null\r\nAccess-Control-Request-Method: GET\r\n\r\n",
		"POST /a.json HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
		"GET http://other/..%2fsecret.txt?x=%zz#f HTTP/1.0\r\n\r\n",
		"CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET /%2e%2e/secret.txt HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
		"GET /a.json HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip, identity;q=0\r\nTE: trailers\r\n\r\n",
		"GET /long.json HTTP/1.1\r\nHost: h\r\nAccept-Encoding: br, *;q=0.1\r\nIf-Match: *\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	top := f.TempDir()
	contents := map[string]string{"a.json": `{"tiles": []}`, "long.json": strings.Repeat("served ", 1000), "tiles/a.untold": strings.Repeat("served", 1000)}
	for name, text := range map[string]string{"secret.txt": "secret", "scene/.hidden": "secret", "scene/a.json": contents["a.json"], "scene/long.json": contents["long.json"], "scene/tiles/a.untold": contents["tiles/a.untold"]} {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	var faithful *Handler
	var handlers []*Handler
	for _, o := range []Options{
		{AllowOrigin: "*"},
		{FailRate: 1, FailWith: Faults(), RetryAfter: 90 * time.Second, AllowOrigin: "http://h"},
		{Latency: time.Second, Bandwidth: 1000},
	} {
		clock := newClock()
		clock.auto = true
		o.Clock = clock
		h, err := New(filepath.Join(top, "scene"), o)
		if err != nil {
			f.Fatal(err)
		}
		handlers = append(handlers, h)
	}
	faithful = handlers[0]
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, h := range handlers {
			r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
			if err != nil {
				return
			}
			w := httptest.NewRecorder()
			aborted := false
			fuzzbound.Run(t, len(raw), fuzzbound.Limits{Alloc: 4 << 20, PerByte: 1000}, func() {
				defer func() {
					if e := recover(); e != nil {
						if err, ok := e.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
							panic(e)
						}
						aborted = true
					}
				}()
				h.ServeHTTP(w, r.WithContext(t.Context()))
			})
			if h == faithful && aborted {
				t.Fatal("a faithful server aborts")
			}
			if !aborted {
				checkAnswer(t, r, w.Result(), contents, h == faithful)
			}
		}
	})
}

// checkAnswer holds an answer against the request and the files. A body that is
// written to HEAD does not get past net/http.
func checkAnswer(t *testing.T, r *http.Request, res *http.Response, contents map[string]string, faithful bool) {
	t.Helper()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, known := contents[strings.TrimPrefix(r.URL.Path, "/")]
	switch {
	case strings.Contains(string(body), "secret"):
		t.Fatalf("%q is served", body)
	case len(body) > 100_000:
		t.Fatalf("%d bytes", len(body))
	case !faithful:
		return
	case res.StatusCode >= 500 || res.StatusCode < 200:
		t.Fatalf("status %d", res.StatusCode)
	case r.Method != http.MethodGet || !known:
		return
	}
	switch res.StatusCode {
	case http.StatusOK:
		size := len(body)
		if res.Header.Get("Content-Encoding") != "" {
			body = []byte(unpack(t, string(body)))
		}
		if n := res.Header.Get("Content-Length"); n != "" {
			if v, err := strconv.Atoi(n); err != nil || v != size {
				t.Fatalf("Content-Length %q, %d bytes", n, size)
			}
		}
		if string(body) != text {
			t.Fatalf("%d bytes of %d", len(body), len(text))
		}
	case http.StatusPartialContent:
		if strings.HasPrefix(res.Header.Get("Content-Type"), "multipart/") {
			return
		}
		var from, to, size int
		if n, err := fmt.Sscanf(res.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &size); n != 3 || err != nil || size != len(text) || from < 0 || to < from || to >= size || text[from:to+1] != string(body) {
			t.Fatalf("Content-Range %q with %d bytes", res.Header.Get("Content-Range"), len(body))
		}
	}
}
