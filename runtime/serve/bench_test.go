package serve

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkTiles serves tiles of 1 MB over loopback. The baseline is
// http.FileServer on the same files with the same client: "x" is its time over
// ours.
func BenchmarkTiles(b *testing.B) {
	dir := b.TempDir()
	const size, files = 1 << 20, 64
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.untold", i)), make([]byte, size), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	h, err := New(dir, Options{Clock: &fakeClock{now: time.Now().Add(time.Hour)}})
	if err != nil {
		b.Fatal(err)
	}
	get := func(s *httptest.Server, n int) time.Duration {
		begin := time.Now()
		for i := range n {
			res, err := s.Client().Get(fmt.Sprintf("%s/%d.untold", s.URL, i%files))
			if err != nil {
				b.Fatal(err)
			}
			if got, err := io.Copy(io.Discard, res.Body); got != size || err != nil {
				b.Fatal(got, err)
			}
			res.Body.Close()
		}
		return time.Since(begin)
	}
	ours, plain := httptest.NewServer(h), httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer ours.Close()
	defer plain.Close()
	get(ours, files) // the hashes
	get(plain, files)
	b.SetBytes(size)
	b.ReportAllocs()
	var a, base time.Duration
	for b.Loop() {
		b.StopTimer()
		base += get(plain, 1)
		b.StartTimer()
		a += get(ours, 1)
	}
	b.ReportMetric(base.Seconds()/a.Seconds(), "x")
}

// BenchmarkNotModified is a conditional request that finds nothing new.
func BenchmarkNotModified(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "city.json"), make([]byte, 1<<16), 0o600); err != nil {
		b.Fatal(err)
	}
	h, err := New(dir, Options{Clock: &fakeClock{now: time.Now().Add(time.Hour)}})
	if err != nil {
		b.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/city.json", nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	r.Header.Set("If-None-Match", w.Header().Get("ETag"))
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusNotModified {
			b.Fatal(w.Code)
		}
	}
}
