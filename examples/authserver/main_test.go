package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/examples/internal/exampletest"
)

func TestStream(t *testing.T) {
	manifest := exampletest.Scene(t)
	server := httptest.NewServer(scene(filepath.Dir(manifest), "secret"))
	defer server.Close()
	address, cache := server.URL+"/scene.json", t.TempDir()
	stats, metrics, err := stream(t.Context(), address, "secret", cache)
	if err != nil || stats.LoadsCompleted != 1 || metrics.Requests < 2 {
		t.Fatalf("%v: %d loads, %+v", err, stats.LoadsCompleted, metrics)
	}
	// Again: the manifest is not sent, and the payload is in the cache.
	stats, metrics, err = stream(t.Context(), address, "secret", cache)
	if err != nil || stats.LoadsCompleted != 1 || metrics.NotModified != 1 || metrics.BytesFetched != 0 {
		t.Errorf("%v: %d loads, %+v", err, stats.LoadsCompleted, metrics)
	}
	for _, dir := range []string{cache, t.TempDir()} {
		if _, _, err := stream(t.Context(), address, "wrong", dir); err == nil {
			t.Error("a wrong token streams")
		}
	}
}

func TestServer(t *testing.T) {
	manifest := exampletest.Scene(t)
	server := httptest.NewServer(scene(filepath.Dir(manifest), "secret"))
	defer server.Close()
	get := func(name string, header ...string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/"+name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res
	}
	auth := []string{"Authorization", "Bearer secret"}
	tag := get(exampletest.Payload, auth...).Header.Get("ETag")
	for _, c := range []struct {
		name   string
		header []string
		status int
	}{
		{exampletest.Payload, nil, http.StatusUnauthorized},
		{exampletest.Payload, []string{"Authorization", "Bearer secrets"}, http.StatusUnauthorized},
		{exampletest.Payload, auth, http.StatusOK},
		{exampletest.Payload, append([]string{"If-None-Match", tag}, auth...), http.StatusNotModified},
		{exampletest.Payload, append([]string{"Range", "bytes=0-9", "If-Range", tag}, auth...), http.StatusPartialContent},
		{exampletest.Payload, append([]string{"Range", "bytes=0-9", "If-Range", `"other"`}, auth...), http.StatusOK},
		{"none.untold", auth, http.StatusNotFound},
	} {
		if res := get(c.name, c.header...); res.StatusCode != c.status {
			t.Errorf("%s %q: %s, want %d", c.name, c.header, res.Status, c.status)
		}
	}
}

// TestTokenStaysAtHome: other hosts get no token.
func TestTokenStaysAtHome(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("another host was sent the token")
		}
	}))
	defer other.Close()
	client := http.Client{Transport: &bearer{"scenes.example", "secret", http.DefaultTransport}}
	res, err := client.Get(other.URL)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
}
