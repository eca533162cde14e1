package remote

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
)

// The names of files in the cache are part of its form on the disk.
func TestFileNames(t *testing.T) {
	const tile = "fcd1b2529ae39b82a1cca0a81b7fda89d01b99ec9dc6801116c4490320d0d213"
	for address, want := range map[string]string{
		"https://cdn.example.com/scene/scene.json":                "36df320f1b6dd66938752ac99082b6a3a76e9b5e359691695fb8c15ec853e0d9.json",
		"https://cdn.example.com/scene/tiles/tile_0_0.untold":     tile + ".untold",
		"https://cdn.example.com/scene/tiles/tile_0_0.untold#top": tile + ".untold",
		"https://cdn.example.com/scene/tiles/tile_0_0.untold?v=2": "6e9487660bff34197a8d3a650a103137052792434a3b259e84fc31f69e443834.untold",
	} {
		u, err := parseAddress(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := fileName(u); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestFileNameExtensions(t *testing.T) {
	for path, want := range map[string]string{
		"/a": "", "/": "", "": "", "/a.b/c": "", "/a.UNTOLD": ".UNTOLD", "/a.tar.gz": ".gz", "/a.meta": "", "/a.TMP": "", "/a.": "",
		"/a.b%2f..%2fc": "", "/a.x:y": "", "/a.x%00": "", "/a.abcdefghijklmnopq": "", "/.json": ".json", "/a.é": "",
	} {
		u, err := parseAddress("https://h" + path + "?q=.json")
		if err != nil {
			t.Fatal(err)
		}
		name := fileName(u)
		if got := strings.TrimPrefix(name, key(u)); got != want {
			t.Errorf("%s: extension %q, want %q", path, got, want)
		}
		if !validName(name) {
			t.Errorf("%s: %q is not valid", path, name)
		}
	}
}

func TestParseAddress(t *testing.T) {
	for _, bad := range []string{
		"", "a/b.json", "/etc/passwd", "ftp://h/a", "file:///etc/passwd", "https:///a", "https:a", "http://", "https://h/%zz",
		"https://h/" + strings.Repeat("a", maxAddress), "https://h\x00/a", "javascript:alert(1)",
	} {
		if _, err := parseAddress(bad); !errors.Is(err, ErrAddress) {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
	for arg, want := range map[string]bool{
		"https://h/a": true, "HTTP://h": true, "http:/h": false, "scene.json": false, "/http://h": false, "C:\\scene": false, "": false,
	} {
		if IsURL(arg) != want {
			t.Errorf("IsURL(%q) is %v", arg, !want)
		}
	}
}

func TestDirectory(t *testing.T) {
	for address, want := range map[string]string{
		"https://h/a/b.json":          "https://h/a/",
		"https://h/a/b.json?token=1":  "https://h/a/",
		"https://h/b.json":            "https://h/",
		"https://h":                   "https://h/",
		"https://h/a/":                "https://h/a/",
		"https://h/a%20b/c%2Fd.json":  "https://h/a%20b/",
		"https://user:pw@h:81/a/b.js": "https://user:pw@h:81/a/",
	} {
		u, err := parseAddress(address)
		if err != nil {
			t.Fatal(err)
		}
		got := directory(u).String()
		base, err := parseBase(got)
		if got != want || err != nil || base.String() != want {
			t.Errorf("%s: %s, %v, want %s", address, got, base, want)
		}
	}
}

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
		_, err := r.get(address, Want{})
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
		r.mustGet(address, Want{}, []byte("a"))
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
		_, err := r.get(c.from, Want{})
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s to %s: %v, want %v", c.from, c.to, err, c.want)
		}
		// Such a redirect stays what it is: no second attempt.
		if n := r.origin.count(c.from); c.want != nil && c.to != "/a" && n != 1 || n > maxRedirects+1 {
			t.Errorf("%s to %s: %d requests", c.from, c.to, n)
		}
	}
}

// hostile are texture names that must not be read, written or asked for.
var hostile = []string{
	"../x.png", "a/../../x.png", "/etc/passwd", `C:\x.png`, `..\x.png`, "file:///etc/passwd", "a/%2e%2e/%2e%2e/x.png", "a\x00b.png",
	"%2e%2e/x.png", "%252e%252e/x.png", "a/%2E%2E%2f%2e%2e/x.png", "..%2fx.png", "..%5cx.png", "%2fetc/passwd", "c:x.png", "https://evil/x.png",
	"//evil/x.png", "..", ".", "a/..", "a/...", "a/ ../x.png", "x.png:stream", "a\nb.png", "a%00b.png", "data:image/png;base64,AA==",
}

func TestTextureNames(t *testing.T) {
	for _, uri := range append([]string{""}, hostile...) {
		if err := checkTextureURI(uri); !errors.Is(err, manifest.ErrEscapes) {
			t.Errorf("%q: %v", uri, err)
		}
	}
	for _, uri := range []string{"a.png", "a/./b.png", "Textures/wall_albedo.png", "a b.png", "100%.png", "a%20b.png", "é.png", "a//b.png", "..a.png"} {
		if err := checkTextureURI(uri); err != nil {
			t.Errorf("%q: %v", uri, err)
		}
		u, _ := url.Parse("https://h/tiles/t.untold")
		s, err := textureSource(payload{url: u, folder: textureFolder(u)}, uri)
		if err != nil || !validName(s.name) || !strings.HasPrefix(s.url.Path, "/tiles/") {
			t.Errorf("%q: %+v, %v", uri, s, err)
		}
	}
}

// Payload paths come from the manifest and are refused before anything is
// asked for.
func TestHostilePayloadPaths(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"../a.untold", "/etc/passwd", "https://evil/a.untold", `..\a`, "", "a/../../b"} {
		_, err := r.payload(runtime.Request{Dir: "https://h/scene/", Path: path})
		if !errors.Is(err, manifest.ErrEscapes) {
			t.Errorf("%q: %v", path, err)
		}
	}
	if n := len(r.origin.requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	r.origin.put("https://h/scene/%252e%252e/a.untold", []byte("a"))
	got, err := r.payload(runtime.Request{Dir: "https://h/scene", Path: "%2e%2e/a.untold"})
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
		if _, err := f.Local(context.Background(), srv.URL+"/from", Want{Size: 5}); err != nil {
			t.Fatal(err)
		}
	}
	if m := f.Metrics(); m.Requests != 1 || m.CacheHits != 1 || m.CacheMisses != 1 || m.BytesFetched != 5 {
		t.Errorf("%+v", m)
	}
}
