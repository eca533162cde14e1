package remote

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/runtime/payload"
)

// Plain http is for this machine, unless allowed.
func TestSchemes(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1/a": true, "http://127.9.9.9:80/a": true, "http://[::1]:8080/a": true, "http://localhost/a": true,
		"http://LOCALHOST./a": true, "http://x.localhost/a": true, "https://example.com/a": true,
		"http://example.com/a": false, "http://localhost.example.com/a": false, "http://10.0.0.1/a": false,
		"http://127.0.0.1.example.com/a": false, "http://0.0.0.0/a": false, "http://[::ffff:127.0.0.1]/a": true,
	} {
		r := newRig(t)
		r.origin.put(address, []byte("a"))
		_, err := r.get(address, Expected{})
		if want && err != nil || !want && !errors.Is(err, ErrInsecure) {
			t.Errorf("%s: %v", address, err)
		}
		if !want {
			if !strings.Contains(err.Error(), "--allow-insecure-http") {
				t.Errorf("%s: the error does not name the option: %v", address, err)
			}
			if n := len(r.origin.requests()); n != 0 {
				t.Errorf("%s: %d requests", address, n)
			}
		}
		r = newRig(t, func(o *Options) { o.AllowInsecureHTTP = true })
		r.origin.put(address, []byte("a"))
		r.mustGet(address, Expected{}, []byte("a"))
	}
}

func TestRedirects(t *testing.T) {
	to := func(target string) func(*http.Request) (*http.Response, error) {
		return func(req *http.Request) (*http.Response, error) {
			if req.URL.Path == "/a" {
				return reply(req, 302, http.Header{"Location": {target}}, nil), nil
			}
			return nil, nil
		}
	}
	for _, c := range []struct {
		from, to string
		want     error
	}{
		{"https://h/a", "/b", nil},
		{"https://h/a", "https://other/b", nil},
		{"http://127.0.0.1/a", "https://h/b", nil},
		{"http://127.0.0.1/a", "http://localhost:99/b", nil},
		{"https://h/a", "http://h/b", ErrInsecure},
		{"https://127.0.0.1/a", "http://127.0.0.1/b", ErrInsecure},
		{"http://127.0.0.1/a", "http://example.com/b", ErrInsecure},
		{"https://h/a", "https://127.0.0.1/b", ErrAddress},
		{"https://h/a", "file:///etc/passwd", ErrAddress},
		{"https://h/a", "ftp://h/b", ErrAddress},
		{"https://h/a", "/a", ErrAddress}, // round and round
	} {
		r := newRig(t)
		r.origin.answer = to(c.to)
		for _, u := range []string{"https://h/b", "https://other/b", "http://localhost:99/b", "http://h/b", "http://example.com/b", "https://127.0.0.1/b"} {
			r.origin.put(u, []byte("b"))
		}
		_, err := r.get(c.from, Expected{})
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s to %s: %v, want %v", c.from, c.to, err, c.want)
		}
		// Such a redirect stays what it is: no second attempt.
		if n := r.origin.count(c.from); c.want != nil && c.to != "/a" && n != 1 || n > maxRedirects+1 {
			t.Errorf("%s to %s: %d requests", c.from, c.to, n)
		}
	}
}

// Payload paths come from the manifest and are refused before anything is
// asked for.
func TestHostilePayloadPaths(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"../a.untold", "/etc/passwd", "https://evil/a.untold", `..\a`, "", "a/../../b"} {
		_, err := r.payload(payload.Request{Dir: "https://h/scene/", Path: path})
		if !errors.Is(err, payloadpath.ErrEscapes) {
			t.Errorf("%q: %v", path, err)
		}
	}
	if n := len(r.origin.requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	r.origin.put("https://h/scene/%252e%252e/a.untold", []byte("a"))
	got, err := r.payload(payload.Request{Dir: "https://h/scene", Path: "%2e%2e/a.untold"})
	if err != nil || !strings.HasPrefix(got.File, r.Cache().Dir()) {
		t.Error(got, err)
	}
}

// The real client with a real server: redirects, host names, keep-alive.
func TestRealServer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/from":
			http.Redirect(w, r, "/to", http.StatusFound)
		case "/to":
			w.Header().Set("ETag", `"1"`)
			http.ServeContent(w, r, "x.bin", newClock().Now(), strings.NewReader("hello"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	f, err := New(Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 {
		if _, err := f.Local(context.Background(), srv.URL+"/from", Expected{Size: 5}); err != nil {
			t.Fatal(err)
		}
	}
	if m := f.Metrics(); m.Requests != 1 || m.CacheHits != 1 || m.CacheMisses != 1 || m.BytesFetched != 5 {
		t.Errorf("%+v", m)
	}
}
