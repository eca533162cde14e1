// Authserver serves a cooked scene to those who send a bearer token, and streams it from
// there: the server answers ranges and ETags, and 401 to all others; the client's
// transport adds the token to the requests of that host alone.
package main

import (
	"context"
	"crypto/subtle"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/remote"
)

// scene serves the files of a folder. http.FileServer answers Range, If-Range and
// If-None-Match by the ETag that it finds; a file that is replaced has another one.
func scene(dir, token string) http.Handler {
	root := os.DirFS(dir)
	files := http.FileServerFS(root)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		want := []byte("Bearer " + token)
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="scenes"`)
			http.Error(w, "a token is needed", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Cache-Control", "private, no-cache") // no cache on the way keeps what needs a token
		w.Header().Set("Vary", "Authorization")
		if name := filepath.ToSlash(filepath.Clean(r.URL.Path)); len(name) > 1 {
			if f, err := http.FS(root).Open(name[1:]); err == nil {
				if st, err := f.Stat(); err == nil {
					w.Header().Set("ETag", fmt.Sprintf(`"%x-%x"`, st.ModTime().UnixNano(), st.Size()))
				}
				f.Close()
			}
		}
		files.ServeHTTP(w, r)
	})
}

// bearer adds a token to the requests that go to a host, and to no others: a redirect
// elsewhere must not carry it along.
type bearer struct {
	host, token string
	next        http.RoundTripper
}

// RoundTrip sends a copy of the request: a transport must not change what it is handed.
func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == b.host {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.next.RoundTrip(r)
}

// clock is that of the frames; a program that runs in real time needs none.
type clock struct{ now time.Duration }

// Now is the time of the frame.
func (c *clock) Now() time.Duration { return c.now }

// stream opens the scene at an address and walks into it.
func stream(ctx context.Context, address, token, cache string) (stats runtime.Stats, metrics remote.Metrics, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return stats, metrics, err
	}
	f, err := remote.New(remote.Options{
		CacheDir:  cache,                    // what is in it is for all who can read the folder
		HTTP:      config.HTTP{Attempts: 1}, // by default 3: every failure is tried again, 401 too
		Transport: &bearer{u.Host, token, http.DefaultTransport},
	})
	if err != nil {
		return stats, metrics, err
	}
	defer f.Close()
	m, err := f.OpenManifest(ctx, address)
	if err != nil {
		return stats, f.Metrics(), fmt.Errorf("the manifest (is the token right?): %w", err)
	}
	if m.Stale {
		return stats, f.Metrics(), fmt.Errorf("%s gave no manifest, and that of an earlier time is in the cache: is the token right?", m.URL)
	}
	c := &clock{}
	s, err := runtime.Open(ctx, runtime.Source{Path: m.File, Base: m.Base}, config.Default(), runtime.Deps{Fetcher: f, Clock: c})
	if err != nil {
		return stats, f.Metrics(), err
	}
	defer s.Close()
	camera := runtime.Camera{Forward: [3]float64{1, 0, 0}, FovYDegrees: 60, Aspect: 16.0 / 9, Near: 0.1, Far: 1000}
	for x := -50.0; x <= 0; x++ {
		camera.Position = [3]float64{x, 2, 0}
		s.Update(camera, 16*time.Millisecond)
		c.now += 16 * time.Millisecond
		if s.Stats().ActiveLoads > 0 {
			<-s.Ready() // offline: wait for the network
		}
	}
	return s.Stats(), f.Metrics(), nil
}

func main() {
	manifest, token := os.Args[len(os.Args)-1], "a long random text"
	server := httptest.NewServer(scene(filepath.Dir(manifest), token)) // http on loopback; elsewhere https
	defer server.Close()
	cache, err := os.MkdirTemp("", "authserver-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(cache)
	stats, metrics, err := stream(context.Background(), server.URL+"/"+filepath.Base(manifest), token, cache)
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Printf("%d loads, %d requests, %d bytes\n", stats.LoadsCompleted, metrics.Requests, metrics.BytesFetched)
}
