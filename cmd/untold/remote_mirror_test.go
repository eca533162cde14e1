package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if err := os.WriteFile(filepath.Join(dir, "a.untold"), []byte("no container"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "m.json"), []byte(`{"version": 3, "tiles": "none"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	base := guarded(t, dir)
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
		if strings.Contains(r.err, "401") || r.code == 0 {
			t.Errorf("%v: exit %d, %s%s", args, r.code, r.stdout, r.err)
		}
		for _, secret := range []string{"u5er", "secr3t", "t0ken"} {
			if strings.Contains(r.stdout+r.err, secret) {
				t.Errorf("%v prints %q: %s%s", args, secret, r.stdout, r.err)
			}
		}
	}
}
