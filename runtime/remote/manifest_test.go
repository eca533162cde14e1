package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

const sceneURL = "https://cdn.example.com/city/city.json"

func open(t *testing.T, r *rig) Manifest {
	t.Helper()
	m, err := r.OpenManifest(context.Background(), sceneURL)
	if err != nil {
		t.Fatal(err)
	}
	if m.Base != "https://cdn.example.com/city/" || m.URL != sceneURL {
		t.Errorf("%+v", m)
	}
	return m
}

// A manifest is asked for at every open, with one conditional request.
func TestManifestRevalidation(t *testing.T) {
	r := newRig(t)
	r.origin.put(sceneURL, []byte(`{"v":1}`))
	if m := open(t, r); !m.Changed || m.Stale || remotetest.Text(t, m.File) != `{"v":1}` {
		t.Errorf("%+v", m)
	}
	r.restart()
	if m := open(t, r); m.Changed || m.Stale || remotetest.Text(t, m.File) != `{"v":1}` {
		t.Errorf("%+v", m)
	}
	if x := r.Metrics(); x.Requests != 1 || x.Conditional != 1 || x.NotModified != 1 || x.BytesFetched != 0 {
		t.Errorf("%+v", x)
	}
	r.origin.put(sceneURL, []byte(`{"v":2}`))
	if m := open(t, r); !m.Changed || m.Stale || remotetest.Text(t, m.File) != `{"v":2}` {
		t.Errorf("%+v", m)
	}
	if m := open(t, r); m.Changed {
		t.Errorf("%+v", m)
	}
	log := r.origin.requests()
	if len(log) != 4 || log[3].header.Get("If-None-Match") != remotetest.ETagOf([]byte(`{"v":2}`)) {
		t.Errorf("%v", log)
	}
}

// Without ETags the date of the last change does.
func TestManifestLastModified(t *testing.T) {
	const date = "Sun, 01 Mar 2026 10:00:00 GMT"
	r := newRig(t)
	r.origin.answer = func(req *http.Request) (*http.Response, error) {
		if req.Header.Get("If-Modified-Since") == date {
			return reply(req, 304, nil, nil), nil
		}
		return reply(req, 200, http.Header{"Last-Modified": {date}}, []byte("{}")), nil
	}
	open(t, r)
	r.restart()
	if m := open(t, r); m.Changed {
		t.Errorf("%+v", m)
	}
	if x := r.Metrics(); x.NotModified != 1 || x.Requests != 1 {
		t.Errorf("%+v", x)
	}
}

// An old manifest serves when the server does not.
func TestManifestStaleIfError(t *testing.T) {
	r := newRig(t)
	r.origin.put(sceneURL, []byte("{}"))
	open(t, r)
	r.origin.answer = always(503)
	done := make(chan Manifest, 1)
	go func() { done <- open(t, r) }()
	r.clock.pass(time.Second)
	r.clock.pass(2 * time.Second)
	if m := <-done; !m.Stale || m.Changed || remotetest.Text(t, m.File) != "{}" {
		t.Errorf("%+v", m)
	}
	if x := r.Metrics(); x.StaleServed != 1 || x.Requests != 4 || x.Conditional != 4-1 {
		t.Errorf("%+v", x)
	}
	// A caller that gives up waiting gets no old one.
	ctx, cancel := context.WithCancel(context.Background())
	failed := async(func() error { _, err := r.OpenManifest(ctx, sceneURL); return err })
	r.clock.await(time.Second)
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A page of a hotel's network is no manifest and does not replace one.
func TestManifestIsJSON(t *testing.T) {
	r := newRig(t)
	r.origin.put(sceneURL, []byte("\ufeff \r\n{}"))
	first := open(t, r)
	r.origin.put(sceneURL, []byte("<html>pay here</html>"))
	done := make(chan Manifest, 1)
	go func() { done <- open(t, r) }()
	r.clock.pass(time.Second)
	r.clock.pass(2 * time.Second)
	if m := <-done; !m.Stale || remotetest.Text(t, m.File) != "\ufeff \r\n{}" || m.File != first.File {
		t.Errorf("%+v", m)
	}
}

// A body that ends early, with the right length in its header, is asked for
// again. When that does not help it is handed out, but never confirmed by a
// conditional request, and it does not take the place of a sound one.
func TestManifestCutShort(t *testing.T) {
	r := newRig(t)
	whole := `{"v":1,"tiles":[1,2,3]}`
	try := func() Manifest {
		done := make(chan Manifest, 1)
		go func() { done <- open(t, r) }()
		r.clock.pass(time.Second)
		r.clock.pass(2 * time.Second)
		return <-done
	}
	r.origin.put(sceneURL, []byte(whole[:12]))
	if m := try(); remotetest.Text(t, m.File) != whole[:12] {
		t.Errorf("%+v", m)
	}
	r.origin.put(sceneURL, []byte(whole))
	if m := open(t, r); remotetest.Text(t, m.File) != whole || m.Stale {
		t.Errorf("%+v", m)
	}
	log := r.origin.requests()
	if n := len(log); n != 4 || log[3].header.Get("If-None-Match") != "" {
		t.Errorf("%d requests, the last one %v", n, log[n-1].header)
	}
	r.origin.put(sceneURL, []byte(whole[:12]))
	if m := try(); remotetest.Text(t, m.File) != whole || !m.Stale {
		t.Errorf("%+v", m)
	}
}

// When the manifest changes, what it does not declare a hash for is asked for
// again; the rest is not.
func TestManifestChangeAgesTheScene(t *testing.T) {
	const other = "https://cdn.example.com/town/tiles/a.untold"
	r := newRig(t)
	r.origin.put(sceneURL, []byte(`{"v":1}`))
	r.origin.put(tileURL, []byte("tile"))
	r.origin.put(other, []byte("other"))
	open(t, r)
	r.mustGet(tileURL, Expected{}, []byte("tile"))
	r.mustGet(other, Expected{}, []byte("other"))
	r.origin.put(sceneURL, []byte(`{"v":2}`))
	open(t, r)
	r.restart()
	r.mustGet(other, Expected{}, []byte("other"))
	r.mustGet(tileURL, Expected{4, remotetest.HashOf([]byte("tile"))}, []byte("tile"))
	if x := r.Metrics(); x.Requests != 0 {
		t.Errorf("%+v", x)
	}
	r.mustGet(tileURL, Expected{}, []byte("tile"))
	r.mustGet(tileURL, Expected{}, []byte("tile"))
	if x := r.Metrics(); x.Requests != 1 || x.NotModified != 1 {
		t.Errorf("%+v", x)
	}
}

// A scene that streams more than the cache holds keeps its manifest.
func TestManifestOutlivesItsTiles(t *testing.T) {
	r := newRig(t, func(o *Options) { o.CacheBudget = 10_000 })
	r.origin.put(sceneURL, []byte("{}"))
	open(t, r)
	for i := range 50 {
		path := fmt.Sprintf("tiles/%d.untold", i)
		r.origin.put(sceneBase+path, make([]byte, 1000))
		r.fetch(path)
		r.clock.Advance(time.Minute)
	}
	if s := r.Cache().Stat(); s.Evictions < 30 {
		t.Errorf("%+v", s)
	}
	if m := open(t, r); m.Changed {
		t.Errorf("%+v", m)
	}
}

func TestRetryAfter(t *testing.T) {
	now := newClock().Now()
	for v, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "-1": 0, "1.5": 0, "soon": 0, "99999999999": 0, "4000000000": time.Hour,
		now.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		now.Add(-time.Hour).Format(http.TimeFormat):       0,
		now.AddDate(9, 0, 0).Format(http.TimeFormat):      time.Hour,
	} {
		if got := retryAfter(v, now); got != want {
			t.Errorf("%q: %v, want %v", v, got, want)
		}
	}
}
