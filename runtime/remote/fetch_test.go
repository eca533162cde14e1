package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	gort "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

const tileURL = "https://cdn.example.com/city/tiles/tile_0_0.untold"

// times returns when the requests came, in seconds after start.
func times(start time.Time, log []record) []float64 {
	var list []float64
	for _, r := range log {
		list = append(list, r.at.Sub(start).Seconds())
	}
	return list
}

// A server that always fails gets requests at 0, 1 and 3 s. What the tile
// does then is in TestTileBacksOff.
func TestThreeAttempts(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 408, 410, 418, 429, 500, 502, 503, 504, 204, 206, 304, 201} {
		r := newRig(t)
		r.origin.answer = always(status)
		start := r.clock.Now()
		done := async(func() error { _, err := r.get(tileURL, Expected{}); return err })
		r.clock.pass(time.Second)
		r.clock.pass(2 * time.Second)
		err := <-done
		var s *StatusError
		if !errors.As(err, &s) || s.Status != status || !errors.Is(err, ErrStatus) || !strings.Contains(err.Error(), tileURL) {
			t.Errorf("%d: %v", status, err)
		}
		if got := times(start, r.origin.requests()); !slices.Equal(got, []float64{0, 1, 3}) {
			t.Errorf("%d: requests at %v s", status, got)
		}
		m := r.Metrics()
		if m.Requests != 3 || m.FailedAttempts != 3 || m.Retries != 2 || m.Failures != 1 || m.Active != 0 {
			t.Errorf("%d: %+v", status, m)
		}
		if list := remotetest.Files(t, r.Cache().Dir()); len(list) != 0 {
			t.Errorf("%d: files %v", status, list)
		}
	}
}

// TestFinalRefusals: where files are named by somebody, one answer is enough of those that
// no later one would change.
func TestFinalRefusals(t *testing.T) {
	for status, final := range map[int]bool{401: true, 403: true, 404: true, 410: true, 400: false, 429: false, 500: false} {
		r := newRig(t, func(o *Options) { o.FinalRefusals = true })
		r.origin.answer = always(status)
		done := async(func() error { _, err := r.get(tileURL, Expected{}); return err })
		want := int64(1)
		if !final {
			want = 3
			r.clock.pass(time.Second)
			r.clock.pass(2 * time.Second)
		}
		var s *StatusError
		if err := <-done; !errors.As(err, &s) || s.Status != status {
			t.Errorf("%d: %v", status, err)
		}
		if m := r.Metrics(); m.Requests != want || m.Failures != 1 {
			t.Errorf("%d: %+v", status, m)
		}
	}
}

// TestRefusedForAWhile: a refusal that says when to come back ends nothing.
func TestRefusedForAWhile(t *testing.T) {
	r := newRig(t, func(o *Options) { o.FinalRefusals = true })
	r.origin.answer = always(403, "Retry-After", "7")
	done := async(func() error { _, err := r.get(tileURL, Expected{}); return err })
	r.clock.pass(7 * time.Second)
	r.clock.pass(7 * time.Second)
	var s *StatusError
	if err := <-done; !errors.As(err, &s) || s.Status != 403 || r.Metrics().Requests != 3 {
		t.Errorf("%v, %+v", err, r.Metrics())
	}
}

func TestSecondAttemptSucceeds(t *testing.T) {
	r := newRig(t)
	var once sync.Once
	r.origin.put(tileURL, []byte("tile"))
	r.origin.answer = func(req *http.Request) (resp *http.Response, err error) {
		once.Do(func() { err = io.ErrUnexpectedEOF })
		return nil, err
	}
	done := async(func() error { _, err := r.get(tileURL, Expected{}); return err })
	r.clock.pass(time.Second)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if m := r.Metrics(); m.Requests != 2 || m.Retries != 1 || m.Failures != 0 {
		t.Errorf("%+v", m)
	}
}

func TestRequestHeaders(t *testing.T) {
	r := newRig(t, func(o *Options) { o.UserAgent = "test/1" })
	r.origin.put(tileURL, []byte("tile"))
	r.mustGet(tileURL, Expected{}, []byte("tile"))
	h := r.origin.requests()[0].header
	if h.Get("Accept-Encoding") != "identity" || h.Get("User-Agent") != "test/1" || h.Get("If-None-Match") != "" || h.Get("Range") != "" {
		t.Errorf("%v", h)
	}
}

// A cached file needs no request, in this process and the next.
func TestCachedFileNeedsNoRequest(t *testing.T) {
	r := newRig(t)
	r.origin.put(tileURL, []byte("tile"))
	want := Expected{4, remotetest.HashOf([]byte("tile"))}
	for _, w := range []Expected{want, {}, {Size: 4}} {
		r.mustGet(tileURL, w, []byte("tile"))
		r.restart()
	}
	if n := r.origin.count(tileURL); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// The hash that the manifest declares decides whether the cache serves.
func TestNewHashInManifestFetchesAnew(t *testing.T) {
	r := newRig(t)
	r.origin.put(tileURL, []byte("old!"))
	r.mustGet(tileURL, Expected{4, remotetest.HashOf([]byte("old!"))}, []byte("old!"))
	r.origin.put(tileURL, []byte("new!"))
	r.mustGet(tileURL, Expected{4, remotetest.HashOf([]byte("new!"))}, []byte("new!"))
	r.mustGet(tileURL, Expected{}, []byte("new!"))
	if log := r.origin.requests(); len(log) != 2 || log[1].header.Get("If-None-Match") != "" {
		t.Errorf("%v", log)
	}
}

// A sidecar without its payload makes no conditional request.
func TestSidecarWithoutPayload(t *testing.T) {
	for _, how := range []string{"while open", "restart", "index lost"} {
		r := newRig(t)
		r.origin.put(sceneURL, []byte("{}"))
		if _, err := r.OpenManifest(context.Background(), sceneURL); err != nil {
			t.Fatal(err)
		}
		u, _ := weburl.Parse(sceneURL)
		if _, err := os.Stat(filepath.Join(r.Cache().Dir(), strings.TrimSuffix(diskcache.Name(u), ".json")+".meta")); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(r.cache.Path(diskcache.Name(u))); err != nil {
			t.Fatal(err)
		}
		switch how {
		case "index lost":
			os.Remove(filepath.Join(r.Cache().Dir(), "index.log"))
			r.restart()
		case "restart":
			r.restart()
		}
		m, err := r.OpenManifest(context.Background(), sceneURL)
		if err != nil || m.Stale {
			t.Fatalf("%s: %+v, %v", how, m, err)
		}
		if log := r.origin.requests(); len(log) != 2 || log[1].header.Get("If-None-Match") != "" {
			t.Errorf("%s: %v", how, log)
		}
	}
}

// The payload goes while the server is being asked.
func TestPayloadGoesDuringRequest(t *testing.T) {
	r := newRig(t)
	r.origin.put(sceneURL, []byte("{}"))
	if _, err := r.OpenManifest(context.Background(), sceneURL); err != nil {
		t.Fatal(err)
	}
	u, _ := weburl.Parse(sceneURL)
	r.origin.answer = func(req *http.Request) (*http.Response, error) {
		os.Remove(r.cache.Path(diskcache.Name(u)))
		return nil, nil
	}
	m, err := r.OpenManifest(context.Background(), sceneURL)
	if err != nil || m.Stale {
		t.Fatalf("%+v, %v", m, err)
	}
	log := r.origin.requests()
	if len(log) != 3 || log[1].header.Get("If-None-Match") == "" || log[2].header.Get("If-None-Match") != "" {
		t.Errorf("%v", log)
	}
	if text, err := os.ReadFile(m.File); err != nil || string(text) != "{}" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestMismatches(t *testing.T) {
	body := []byte("0123456789")
	for name, c := range map[string]struct {
		want   Expected
		answer func(*http.Request) (*http.Response, error)
		err    error
		final  bool
	}{
		"declared size":  {want: Expected{Size: 9}, err: ErrMismatch},
		"declared hash":  {want: Expected{Size: 10, SHA256: remotetest.HashOf([]byte("x"))}, err: ErrMismatch},
		"unknown length": {want: Expected{Size: 11}, answer: chunked(body), err: ErrMismatch},
		"endless":        {want: Expected{Size: 10}, answer: endless, err: ErrMismatch},
		"too large":      {answer: endless, err: ErrTooLarge, final: true},
		"declared large": {want: Expected{Size: 5000}, answer: endless, err: ErrTooLarge, final: true},
		"long header":    {answer: long, err: ErrTooLarge, final: true},
		"truncated":      {answer: truncated(body, 4), err: io.ErrUnexpectedEOF},
		"gzip": {answer: func(req *http.Request) (*http.Response, error) {
			return reply(req, 200, http.Header{"Content-Encoding": {"gzip"}}, body), nil
		}, err: ErrMismatch},
	} {
		r := newRig(t, func(o *Options) { o.MaxBody = 1000 })
		r.origin.put(tileURL, body)
		r.origin.answer = c.answer
		done := async(func() error { _, err := r.get(tileURL, c.want); return err })
		if !c.final {
			r.clock.pass(time.Second)
			r.clock.pass(2 * time.Second)
		}
		if err := <-done; !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
		if list := remotetest.Files(t, r.Cache().Dir()); len(list) != 0 {
			t.Errorf("%s: left %v", name, list)
		}
	}
}

// chunked answers without a Content-Length.
func chunked(body []byte) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		resp := reply(req, 200, nil, body)
		resp.ContentLength = -1
		return resp, nil
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func endless(req *http.Request) (*http.Response, error) {
	resp := reply(req, 200, nil, nil)
	resp.ContentLength, resp.Body = -1, io.NopCloser(zeros{})
	return resp, nil
}

func long(req *http.Request) (*http.Response, error) {
	resp := reply(req, 200, nil, nil)
	resp.ContentLength, resp.Body = 1<<40, io.NopCloser(zeros{})
	return resp, nil
}

// truncated cuts the body after n bytes, as the transport reports it.
func truncated(body []byte, n int) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		resp := reply(req, 200, nil, body)
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:n]), failing{io.ErrUnexpectedEOF}))
		return resp, nil
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// blocking is a body, or an answer, that comes when the request is cancelled.
type blocking struct{ ctx context.Context }

func (b blocking) Read([]byte) (int, error) { <-b.ctx.Done(); return 0, b.ctx.Err() }

func TestIdleTimeout(t *testing.T) {
	stands := make(chan struct{}, 1) // nothing more comes, and what came has been counted
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){
		"no answer": func(req *http.Request) (*http.Response, error) {
			stands <- struct{}{}
			<-req.Context().Done()
			return nil, req.Context().Err()
		},
		"body stops": func(req *http.Request) (*http.Response, error) {
			resp := reply(req, 200, nil, []byte("0123456789"))
			resp.Body = io.NopCloser(io.MultiReader(strings.NewReader("0123"), readerFunc(func([]byte) (int, error) {
				stands <- struct{}{}
				<-req.Context().Done()
				return 0, req.Context().Err()
			})))
			return resp, nil
		},
	} {
		r := newRig(t, func(o *Options) { o.HTTP.Attempts = 1 })
		r.origin.answer = answer
		done := async(func() error { _, err := r.get(tileURL, Expected{}); return err })
		r.clock.await(30 * time.Second)
		<-stands
		r.clock.Advance(30*time.Second - time.Millisecond)
		select {
		case err := <-done:
			t.Fatalf("%s: too early: %v", name, err)
		default:
		}
		r.clock.Advance(time.Millisecond)
		if err := <-done; !errors.Is(err, ErrTimeout) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A body that trickles is alive, but not for more than 300 s.
func TestTotalTimeout(t *testing.T) {
	r := newRig(t, func(o *Options) { o.HTTP.Attempts = 1 })
	drops := make(chan byte)
	r.origin.answer = func(req *http.Request) (*http.Response, error) {
		resp := reply(req, 200, nil, nil)
		resp.ContentLength = -1
		resp.Body = io.NopCloser(readerFunc(func(p []byte) (int, error) {
			select {
			case p[0] = <-drops:
				return 1, nil
			case <-req.Context().Done():
				return 0, req.Context().Err()
			}
		}))
		return resp, nil
	}
	done := async(func() error { _, err := r.get(tileURL, Expected{}); return err })
	for range 14 {
		drops <- 1
		drops <- 1 // the first has been counted
		r.clock.Advance(20 * time.Second)
	}
	drops <- 1
	drops <- 1
	r.clock.Advance(20*time.Second - 1)
	select {
	case err := <-done:
		t.Fatal("too early:", err)
	default:
	}
	r.clock.Advance(1)
	if err := <-done; !errors.Is(err, ErrTimeout) || !strings.Contains(err.Error(), "5m0s") {
		t.Error(err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A cancelled request is not retried and does not count as a failure.
func TestCancel(t *testing.T) {
	r := newRig(t)
	sent := make(chan struct{}, 1)
	r.origin.answer = func(req *http.Request) (*http.Response, error) {
		sent <- struct{}{}
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := async(func() error { _, err := r.Local(ctx, tileURL, Expected{}); return err })
	<-sent
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// Also while it sleeps between attempts.
	r.origin.mu.Lock()
	r.origin.answer = always(500)
	r.origin.mu.Unlock()
	ctx, cancel = context.WithCancel(context.Background())
	done = async(func() error { _, err := r.Local(ctx, tileURL, Expected{}); return err })
	r.clock.await(time.Second)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := r.Local(ctx, tileURL, Expected{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if m := r.Metrics(); m.Requests != 2 || m.Retries != 0 || m.Failures != 0 {
		t.Errorf("%+v", m)
	}
}

// Callers that want the same share one request. It goes on when one of them
// leaves, and ends when all have left.
func TestSingleFlight(t *testing.T) {
	r := newRig(t)
	r.origin.put(tileURL, []byte("tile"))
	gate, sent := make(chan struct{}), make(chan context.Context, 9)
	r.origin.answer = func(req *http.Request) (*http.Response, error) {
		sent <- req.Context()
		select {
		case <-gate:
			return nil, nil
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	ctx, leave := context.WithCancel(context.Background())
	first := async(func() error { _, err := r.Local(ctx, tileURL, Expected{}); return err })
	<-sent
	var others []<-chan error
	for range 9 {
		others = append(others, async(func() error { _, err := r.get(tileURL, Expected{}); return err }))
	}
	waitFor(r, 10)
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(gate)
	for _, c := range others {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
	if m := r.Metrics(); m.Requests != 1 || m.Joined != 9 {
		t.Errorf("%+v", m)
	}

	// The last one to leave ends it, and a newcomer does not join the dying.
	const other = "https://h/other"
	r.origin.put(other, []byte("other"))
	r.origin.mu.Lock()
	r.origin.answer = func(req *http.Request) (*http.Response, error) {
		if r.origin.count(other) > 1 {
			return nil, nil
		}
		sent <- req.Context()
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	r.origin.mu.Unlock()
	ctx, leave = context.WithCancel(context.Background())
	first = async(func() error { _, err := r.Local(ctx, other, Expected{}); return err })
	inner := <-sent
	leave()
	<-first
	<-inner.Done()
	r.mustGet(other, Expected{}, []byte("other"))
}

// waitFor returns when so many callers wait for downloads.
func waitFor(r *rig, n int) {
	for {
		r.downloads.mu.Lock()
		got := 0
		for _, f := range r.downloads.m {
			got += f.waiters
		}
		r.downloads.mu.Unlock()
		if got == n {
			return
		}
		gort.Gosched()
	}
}

// All who wait get the error too.
func TestSharedError(t *testing.T) {
	r := newRig(t)
	r.origin.answer = always(500)
	var list []<-chan error
	for range 5 {
		list = append(list, async(func() error { _, err := r.get(tileURL, Expected{}); return err }))
	}
	waitFor(r, 5)
	r.clock.pass(time.Second)
	r.clock.pass(2 * time.Second)
	for _, c := range list {
		if err := <-c; !errors.Is(err, ErrStatus) {
			t.Error(err)
		}
	}
	if m := r.Metrics(); m.Requests != 3 || m.Failures != 1 {
		t.Errorf("%+v", m)
	}
}

// A file that is doubted because reading it has failed is compared with its
// hash, and fetched again when it is damaged.
func TestDoubtfulFileIsHashed(t *testing.T) {
	r := newRig(t)
	data := container(t)
	r.origin.put(tileURL, data)
	req := payload.Request{Dir: "https://cdn.example.com/city/", Path: "tiles/tile_0_0.untold", Attempt: 1}
	got, err := r.payload(req)
	if err != nil {
		t.Fatal(err)
	}
	damage(t, got.File)
	if _, err = r.payload(req); err != nil {
		t.Fatal(err)
	}
	if n := r.origin.count(tileURL); n != 1 {
		t.Fatalf("%d requests: every hit reads the file", n)
	}
	req.Attempt = 2
	if got, err = r.payload(req); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(got.File); err != nil || !bytes.Equal(now, data) {
		t.Error("the damaged file serves", err)
	}
}

// damage flips a byte and keeps size and time, as a bad disk would.
func damage(t *testing.T, file string) {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// Local scenes pass through.
func TestLocalScenePassesThrough(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.untold"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := r.payload(payload.Request{Dir: dir, Path: "a.untold"})
	if err != nil || got.File != filepath.Join(dir, "a.untold") || got.Dir != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := r.payload(payload.Request{Dir: dir, Path: "../a.untold"}); err == nil {
		t.Error("leads out")
	}
}

func TestClosed(t *testing.T) {
	r := newRig(t)
	sent := make(chan struct{}, 1)
	r.origin.answer = func(req *http.Request) (*http.Response, error) {
		sent <- struct{}{}
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	done := async(func() error { _, err := r.get(tileURL, Expected{}); return err })
	<-sent
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := r.get(tileURL, Expected{}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := r.OpenManifest(context.Background(), sceneURL); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := r.OpenRange(context.Background(), tileURL, Expected{}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := r.WaitTextures(context.Background()); err != nil && !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if r.Cache().Stat().Files != 0 || len(r.Cache().Entries()) != 0 {
		t.Error("entries of a closed cache")
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{HTTP: config.HTTP{Attempts: -1}},
		{HTTP: config.HTTP{RequestTimeout: -1}},
		{HostRequests: -1},
		{MaxBody: -1},
		{CacheBudget: -1},
		{Jitter: 2},
		{Jitter: math.NaN()},
	} {
		o.CacheDir = t.TempDir()
		if f, err := New(o); err == nil {
			f.Close()
			t.Errorf("%+v passes", o)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{CacheDir: file}); !errors.Is(err, ErrCache) {
		t.Error(err)
	}
}

// The disk's failures are no reason to ask the server again, and leave nothing
// behind.
func TestDiskFailures(t *testing.T) {
	u, _ := weburl.Parse(tileURL)
	r := newRig(t)
	r.origin.put(tileURL, []byte("tile"))
	if err := os.MkdirAll(filepath.Join(r.Cache().Dir(), diskcache.Name(u), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.get(tileURL, Expected{}); !errors.Is(err, ErrCache) {
			t.Error(err)
		}
	}
	if m := r.Metrics(); m.Requests != 2 || m.Failures != 2 {
		t.Errorf("%+v", m)
	}
	if list := remotetest.Files(t, r.Cache().Dir()); len(list) != 0 {
		t.Errorf("%v", list)
	}
	// Somebody removes the folder.
	if err := os.RemoveAll(r.Cache().Dir()); err != nil {
		t.Skip(err) // not on Windows
	}
	if _, err := r.get(tileURL, Expected{}); !errors.Is(err, ErrCache) {
		t.Error(err)
	}
	if _, err := OpenCache(r.Cache().Dir(), -1); !errors.Is(err, ErrCache) {
		t.Error(err)
	}
	r.restart()
	r.mustGet(tileURL, Expected{}, []byte("tile"))
}

// Callers that expect other bytes do not share a download.
func TestDifferentExpectationsDoNotShare(t *testing.T) {
	r := newRig(t, func(o *Options) { o.HTTP.Attempts = 1 })
	r.origin.put(tileURL, []byte("tile"))
	gate, sent := make(chan struct{}), make(chan struct{}, 2)
	r.origin.answer = func(*http.Request) (*http.Response, error) {
		sent <- struct{}{}
		<-gate
		return nil, nil
	}
	good := async(func() error { _, err := r.get(tileURL, Expected{4, remotetest.HashOf([]byte("tile"))}); return err })
	bad := async(func() error { _, err := r.get(tileURL, Expected{4, remotetest.HashOf([]byte("else"))}); return err })
	<-sent
	<-sent
	close(gate)
	if err := <-good; err != nil {
		t.Error(err)
	}
	if err := <-bad; !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
	r.mustGet(tileURL, Expected{}, []byte("tile"))
}

// Pauses are spread on the clock of the system, and exact on another one.
func TestJitterDefault(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want float64
	}{{Options{}, 0.25}, {Options{Jitter: 0.5}, 0.5}, {Options{Jitter: -1}, -1}, {Options{Clock: newClock()}, 0}} {
		if o, err := c.o.withDefaults(); err != nil || o.Jitter != c.want {
			t.Errorf("%+v, %v", o, err)
		}
	}
}
