package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// guarded serves a folder to whoever has user and password and the right query for
// the manifest.
func guarded(t *testing.T, dir string) string {
	t.Helper()
	files := http.FileServer(http.Dir(dir))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user != "u5er" || password != "secr3t" || strings.HasSuffix(r.URL.Path, ".json") && r.URL.RawQuery != "sig=t0ken" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return strings.Replace(srv.URL, "://", "://u5er:secr3t@", 1)
}

// Commands that take an address work with user, password and a signed query, and
// print none of them.
func TestAddressesWithSecrets(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "a.untold"), "no container")
	testfile.Write(t, filepath.Join(dir, "m.json"), `{"version": 3, "tiles": "none"}`)
	base, refused := guarded(t, dir), regexp.MustCompile(`\b401\b`)
	for _, args := range [][]string{
		{"validate", base + "/a.untold"},
		{"validate", base + "/m.json?sig=t0ken"},
		{"validate", base + "/?sig=t0ken"},
		{"validate", base + "/%zz?sig=t0ken"},
		{"inspect", base + "/a.untold"},
		{"inspect", base + "/m.json?sig=t0ken"},
		{"simulate", base + "/m.json?sig=t0ken", "--cache-dir", t.TempDir()},
	} {
		r := execute(t, nil, args...)
		// The digits alone may be part of a cached file's name.
		if refused.MatchString(r.err) || r.code == 0 {
			t.Errorf("%v: exit %d, %s%s", args, r.code, r.stdout, r.err)
		}
		for _, secret := range []string{"u5er", "secr3t", "t0ken"} {
			if strings.Contains(r.stdout+r.err, secret) {
				t.Errorf("%v prints %q: %s%s", args, secret, r.stdout, r.err)
			}
		}
	}
}

// What is read of servers in all has limits, and the error names the flag.
func TestVisitLimits(t *testing.T) {
	tile := make([]byte, 100_000)
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/endless.json":
			for _, err := w.Write([]byte("{")); err == nil; {
				_, err = w.Write(bytes.Repeat([]byte(" "), 1<<16))
			}
		case r.URL.Path == "/declared.json":
			_, _ = w.Write(manifestOf(t, 30_000_000_000, "a.untold"))
		case strings.HasSuffix(r.URL.Path, ".json"):
			_, _ = w.Write(manifestOf(t, int64(len(tile)), "a.untold", "b.untold"))
		default:
			asked.Add(1)
			_, _ = w.Write(tile)
		}
	}))
	defer srv.Close()
	for _, tt := range []struct {
		args  []string
		flag  string
		asked bool
	}{
		{[]string{"validate", srv.URL + "/m.json", "--max-files", "1"}, "--max-files", false},
		{[]string{"validate", srv.URL + "/declared.json"}, "--max-download", false},
		{[]string{"validate", srv.URL + "/m.json", "--max-download", "200001", "-j", "1"}, "--max-download", true},
		{[]string{"validate", srv.URL + "/endless.json", "--max-manifest", "1M"}, "--max-manifest", false},
		{[]string{"inspect", srv.URL + "/endless.json", "--max-manifest", "1M"}, "--max-manifest", false},
		{[]string{"simulate", srv.URL + "/endless.json", "--max-manifest", "1M", "--cache-dir", t.TempDir()}, "--max-manifest", false},
		{[]string{"validate", srv.URL + "/m.json", "--timeout", "1ns"}, "--timeout", false},
		{[]string{"inspect", srv.URL + "/m.json", "--timeout", "1ns"}, "--timeout", false},
	} {
		asked.Store(0)
		r := execute(t, nil, tt.args...)
		if r.code != 2 || !strings.Contains(r.err, tt.flag) || (asked.Load() > 0) != tt.asked {
			t.Errorf("%v: exit %d, %d asked: %s%s", tt.args, r.code, asked.Load(), r.stdout, r.err)
		}
	}
}

// manifestOf returns a manifest of files of a size each.
func manifestOf(t *testing.T, size int64, paths ...string) []byte {
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid,
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 10, UnloadRadius: 20, Priority: manifest.DefaultPriority},
	}
	for _, path := range paths {
		m.Tiles = append(m.Tiles, manifest.Tile{ID: path, Path: path, FileSizeBytes: size})
	}
	var text bytes.Buffer
	if err := m.Encode(&text); err != nil {
		t.Error(err)
	}
	return text.Bytes()
}
