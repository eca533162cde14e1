package remote

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/format/records"

	"go.uber.org/goleak"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

func TestMain(m *testing.M) {
	if task := os.Getenv("UNTOLD_REMOTE_TASK"); task != "" {
		subprocess(task)
		return
	}
	goleak.VerifyTestMain(m)
}

// fakeClock moves only when told to. Timers run on the goroutine of Advance.
type fakeClock struct {
	mu     sync.Mutex
	moved  *sync.Cond
	now    time.Time
	timers []*fakeTimer
}

type fakeTimer struct {
	at time.Time
	f  func()
}

func newClock() *fakeClock {
	c := &fakeClock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	c.moved = sync.NewCond(&c.mu)
	return c
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &fakeTimer{c.now.Add(d), f}
	c.timers = append(c.timers, t)
	c.moved.Broadcast()
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		at := slices.Index(c.timers, t)
		if at >= 0 {
			c.timers = slices.Delete(c.timers, at, at+1)
		}
		return at >= 0
	}
}

// Advance moves the time and runs what is due, in order.
func (c *fakeClock) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	for {
		at := -1
		for i, t := range c.timers {
			if !t.at.After(end) && (at < 0 || t.at.Before(c.timers[at].at)) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		t := c.timers[at]
		c.timers = slices.Delete(c.timers, at, at+1)
		c.now = t.at
		c.mu.Unlock()
		t.f()
		c.mu.Lock()
	}
	c.now = end
	c.mu.Unlock()
}

// await returns when a timer is due in d exactly: when a sleeper sleeps.
func (c *fakeClock) await(d time.Duration) { c.awaitAll(1, d) }

// awaitAll returns when n timers are due in d exactly.
func (c *fakeClock) awaitAll(n int, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		due := 0
		for _, t := range c.timers {
			if t.at.Equal(c.now.Add(d)) {
				due++
			}
		}
		if due >= n {
			return
		}
		c.moved.Wait()
	}
}

// pass waits for a sleeper and wakes it.
func (c *fakeClock) pass(d time.Duration) {
	c.await(d)
	c.Advance(d)
}

// record is a request that an origin has seen.
type record struct {
	url    string
	header http.Header
	at     time.Time
}

// origin is a server in memory: an http.RoundTripper.
type origin struct {
	clock Clock
	mu    sync.Mutex
	files map[string][]byte // by URL without query
	log   []record
	open  int // requests under way
	peak  int
	// answer, when set, may take a request over by returning an answer or an
	// error. It runs outside the lock.
	answer func(*http.Request) (*http.Response, error)
	noETag bool
}

func newOrigin(clock Clock) *origin { return &origin{clock: clock, files: map[string][]byte{}} }

func (o *origin) put(url string, data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files[url] = data
}

func (o *origin) requests() []record {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.log)
}

// count returns how many requests a URL has had.
func (o *origin) count(url string) int {
	n := 0
	for _, r := range o.requests() {
		if r.url == url {
			n++
		}
	}
	return n
}

// busy returns how many requests are under way.
func (o *origin) busy() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.open
}

func (o *origin) RoundTrip(req *http.Request) (*http.Response, error) {
	o.mu.Lock()
	o.log = append(o.log, record{req.URL.String(), req.Header.Clone(), o.clock.Now()})
	o.open++
	o.peak = max(o.peak, o.open)
	plain := *req.URL
	plain.RawQuery = ""
	data, ok := o.files[plain.String()]
	answer := o.answer
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		o.open--
		o.mu.Unlock()
	}()
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if answer != nil {
		if resp, err := answer(req); resp != nil || err != nil {
			return resp, err
		}
	}
	if !ok {
		return reply(req, 404, nil, []byte("nothing here")), nil
	}
	h := http.Header{}
	if !o.noETag {
		h.Set("ETag", remotetest.ETagOf(data))
		if req.Header.Get("If-None-Match") == remotetest.ETagOf(data) {
			return reply(req, 304, h, nil), nil
		}
	}
	return reply(req, 200, h, data), nil
}

func reply(req *http.Request, status int, h http.Header, body []byte) *http.Response {
	if h == nil {
		h = http.Header{}
	}
	return &http.Response{
		StatusCode: status, Header: h, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
}

// always answers every request with a status.
func always(status int, header ...string) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i+1 < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return reply(req, status, h, []byte("no")), nil
	}
}

// rig is a Fetcher with its surroundings.
type rig struct {
	*Fetcher
	t      testing.TB
	clock  *fakeClock
	origin *origin
}

type rigOption func(*Options)

// newRig makes a Fetcher on a fake clock and, unless a transport is given, an
// origin in memory.
func newRig(t testing.TB, opts ...rigOption) *rig {
	t.Helper()
	r := &rig{t: t, clock: newClock()}
	r.origin = newOrigin(r.clock)
	o := Options{CacheDir: filepath.Join(t.TempDir(), "cache"), Clock: r.clock, Transport: r.origin, NoSync: true}
	for _, opt := range opts {
		opt(&o)
	}
	r.reopen(o)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) reopen(o Options) {
	r.t.Helper()
	if r.Fetcher != nil {
		if err := r.Close(); err != nil {
			r.t.Fatal(err)
		}
	}
	f, err := New(o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.Fetcher = f
}

// restart closes the Fetcher and opens another one on the same folder.
func (r *rig) restart() { r.t.Helper(); r.reopen(r.opts) }

// get returns the bytes of Local.
func (r *rig) get(url string, want Expected) ([]byte, error) {
	r.t.Helper()
	file, err := r.Local(context.Background(), url, want)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

func (r *rig) mustGet(url string, want Expected, data []byte) {
	r.t.Helper()
	got, err := r.get(url, want)
	if err != nil {
		r.t.Fatalf("%s: %v", url, err)
	}
	if !bytes.Equal(got, data) {
		r.t.Fatalf("%s: got %q, want %q", url, clip(got), clip(data))
	}
}

func clip(b []byte) []byte { return b[:min(len(b), 40)] }

// async runs f and returns a channel with its error.
func async(f func() error) <-chan error {
	c := make(chan error, 1)
	go func() { c <- f() }()
	return c
}

// container returns an .untold file with a triangle and textures.
func container(t testing.TB, uris ...string) []byte {
	t.Helper()
	b := format.NewBuilder(format.FileTile)
	for i, uri := range uris {
		x := records.Texture{Width: 1, Height: 1, MipCount: 1}
		if strings.HasSuffix(uri, ".utex") {
			x = records.Texture{Width: 512, Height: 512, MipCount: 10, Format: records.TextureBC7}
		}
		b.AddTexture(fmt.Sprint("t", i), uri, x)
	}
	m := b.AddMaterial("m", records.Material{
		NormalScale: 1, Roughness: 1, OcclusionStrength: 1, AlphaCutoff: 0.5,
		BaseColorTexture: records.NoIndex, NormalTexture: records.NoIndex, MetallicTexture: records.NoIndex,
		RoughnessTexture: records.NoIndex, EmissiveTexture: records.NoIndex, OcclusionTexture: records.NoIndex,
	})
	corner := func(x, y float32) vertex.Vertex {
		return vertex.Vertex{
			Position: [3]float32{x, y, 0}, Normal: vertex.PackNormal([3]float32{0, 0, 1}),
			Tangent: vertex.PackTangent([4]float32{1, 0, 0, 1}), Color: [4]uint8{255, 255, 255, 255},
		}
	}
	err := b.AddObject(format.Object{
		Name: "o", MeshName: "m", Material: m, Indices: []uint32{0, 1, 2},
		Vertices: vertex.Append(nil, []vertex.Vertex{corner(0, 0), corner(1, 0), corner(0, 1)}),
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := b.File().Encode(format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// oneAttempt is for tests of failures on the real clock.
var oneAttempt = config.HTTP{Attempts: 1}
