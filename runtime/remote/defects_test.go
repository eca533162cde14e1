package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// A manifest that has changed is noticed at the next open, and one whose cached
// file is gone is fetched again rather than confirmed.
func TestManifestIsRefreshed(t *testing.T) {
	r := newRig(t)
	for v := range 3 {
		want := fmt.Sprintf(`{"v":%d}`, v)
		r.origin.put(sceneURL, []byte(want))
		if m := open(t, r); !m.Changed || remotetest.Text(t, m.File) != want {
			t.Errorf("%+v", m)
		}
		m := open(t, r)
		if m.Changed || remotetest.Text(t, m.File) != want {
			t.Errorf("%+v", m)
		}
		os.Remove(m.File)
		if m := open(t, r); remotetest.Text(t, m.File) != want {
			t.Errorf("%+v", m)
		}
	}
}

// Textures count towards the budget and are evicted like all other files, and
// scenes that use the same names keep their own.
func TestTexturesAreCountedEvictedAndApart(t *testing.T) {
	r := newRig(t, func(o *Options) { o.CacheBudget = 10_000 })
	for _, scene := range []string{"https://a/s/", "https://b/s/", "https://a/t/"} {
		r.origin.put(scene+"t.untold", container(t, "wall.png"))
		r.origin.put(scene+"wall.png", append([]byte(scene), make([]byte, 3000)...))
	}
	dirs := map[string]string{}
	for _, scene := range []string{"https://a/s/", "https://b/s/"} {
		got, err := r.payload(payload.Request{Dir: scene, Path: "t.untold"})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.WaitTextures(context.Background()); err != nil {
			t.Fatal(err)
		}
		dirs[scene] = got.Dir
		if s := remotetest.Text(t, filepath.Join(got.Dir, "wall.png")); !strings.HasPrefix(s, scene) {
			t.Errorf("%s has the texture %.20s", scene, s)
		}
	}
	if s := r.Cache().Stat(); s.Textures != 2 || s.TextureBytes < 6000 || s.Bytes < s.TextureBytes {
		t.Errorf("%+v", s)
	}
	r.clock.Advance(time.Hour)
	if _, err := r.payload(payload.Request{Dir: "https://a/t/", Path: "t.untold"}); err != nil {
		t.Fatal(err)
	}
	if err := r.WaitTextures(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s := r.Cache().Stat(); s.Evictions == 0 || s.Bytes > 7500 {
		t.Errorf("%+v", s)
	}
	if _, err := os.Stat(dirs["https://a/s/"]); !errors.Is(err, os.ErrNotExist) {
		t.Error("the folder of evicted textures stays", err)
	}
}

// Textures come in parallel, after the geometry has been handed out, and are tried
// again when a request fails.
func TestTexturesAreParallelInTheBackgroundAndRetried(t *testing.T) {
	r := newRig(t)
	r.origin.put(sceneBase+"tiles/a.untold", container(t, "1.png", "2.png", "3.png", "4.png"))
	gate := make(chan struct{})
	sent := make(chan struct{}, 8)
	r.origin.answer = func(req *http.Request) (*http.Response, error) {
		if strings.HasSuffix(req.URL.Path, ".untold") {
			return nil, nil
		}
		sent <- struct{}{}
		<-gate
		if r.origin.count(req.URL.String()) == 1 {
			return nil, errors.New("broken")
		}
		return reply(req, 200, nil, []byte("x")), nil
	}
	// The payload is answered while no texture has come.
	if _, err := r.payload(payload.Request{Dir: sceneBase, Path: "tiles/a.untold"}); err != nil {
		t.Fatal(err)
	}
	for range 4 { // all four are under way
		<-sent
	}
	close(gate)
	r.clock.awaitAll(4, time.Second)
	r.clock.Advance(time.Second)
	if err := r.WaitTextures(context.Background()); err != nil {
		t.Fatal(err)
	}
	if m := r.Metrics(); m.Textures != 4 || m.Retries != 4 {
		t.Errorf("%+v", m)
	}
}

// The shared bucket of a remote scene is loaded first, at any distance.
func TestSharedBucketComesAtOnce(t *testing.T) {
	onStage(t, func(s *stage) *manifest.Manifest {
		far := tile(t, s.origin, "shared", 4000)
		return &manifest.Manifest{
			Tiles:        []manifest.Tile{tile(t, s.origin, "a", 10)},
			SharedBucket: &manifest.SharedBucket{Tile: far},
		}
	}, func(s *stage) {
		s.frames(1, nil)
		if got := s.log(event.TileParsed); !strings.Contains(got, "parsed shared") || !strings.Contains(got, "parsed a") {
			t.Errorf("%q", got)
		}
		if s.origin.requests()[0].url != sceneBase+"tiles/shared.untold" && s.origin.requests()[1].url != sceneBase+"tiles/shared.untold" {
			t.Errorf("%v", s.origin.requests())
		}
	})
}

// A body whose size or hash is not the declared one is refused.
func TestSizeAndHashAreChecked(t *testing.T) {
	data := container(t)
	for name, body := range map[string][]byte{"short": data[:len(data)-1], "long": append(bytes.Clone(data), 0), "other": make([]byte, len(data))} {
		r := newRig(t, func(o *Options) { o.HTTP.Attempts = 1 })
		r.origin.put(tileURL, body)
		if _, err := r.get(tileURL, Expected{int64(len(data)), remotetest.HashOf(data)}); !errors.Is(err, ErrMismatch) {
			t.Errorf("%s: %v", name, err)
		}
		r.origin.put(tileURL, data)
		r.mustGet(tileURL, Expected{int64(len(data)), remotetest.HashOf(data)}, data)
	}
}

// Retry-After lengthens a pause, up to a limit beyond which the address is left
// alone, and jitter lengthens it at random.
func TestRetryAfterAndJitter(t *testing.T) {
	r := newRig(t)
	start := r.clock.Now()
	r.origin.answer = always(503, "Retry-After", "7")
	done := async(func() error { _, err := r.get(tileURL, Expected{}); return err })
	r.clock.pass(7 * time.Second)
	r.clock.await(7 * time.Second)
	r.origin.mu.Lock()
	r.origin.answer = always(429, "Retry-After", start.Add(20*time.Second).Format(http.TimeFormat))
	r.origin.mu.Unlock()
	r.clock.Advance(7 * time.Second)
	if err := <-done; !errors.Is(err, ErrStatus) {
		t.Error(err)
	}
	if got := times(start, r.origin.requests()); fmt.Sprint(got) != "[0 7 14]" {
		t.Errorf("requests at %v s", got)
	}

	// Longer than a download may wait: it fails at once and the address rests.
	r.origin.mu.Lock()
	r.origin.answer = always(503, "Retry-After", "120")
	r.origin.mu.Unlock()
	if _, err := r.get(tileURL, Expected{}); !errors.Is(err, ErrStatus) {
		t.Error(err)
	}
	n := r.origin.count(tileURL)
	r.clock.Advance(119 * time.Second)
	if _, err := r.get(tileURL, Expected{}); !errors.Is(err, ErrWait) {
		t.Error(err)
	}
	if r.origin.count(tileURL) != n {
		t.Error("the server was asked all the same")
	}
	r.clock.Advance(time.Second)
	r.origin.mu.Lock()
	r.origin.answer = nil
	r.origin.mu.Unlock()
	r.origin.put(tileURL, []byte("tile"))
	r.mustGet(tileURL, Expected{}, []byte("tile"))

	seen := map[time.Duration]bool{}
	j := newRig(t, func(o *Options) { o.Jitter = 0.25 })
	for range 100 {
		p := j.http.pause(2, nil)
		if p < 2*time.Second || p > 2500*time.Millisecond {
			t.Fatal(p)
		}
		seen[p] = true
		if r.http.pause(2, nil) != 2*time.Second {
			t.Fatal("jitter that nobody asked for")
		}
	}
	if len(seen) < 50 {
		t.Error("always the same jitter")
	}
}
