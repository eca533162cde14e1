package serve

import (
	"bufio"
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeClock stands still. Sleepers wait for Advance, unless auto is set: then
// every sleep moves the clock on itself.
type fakeClock struct {
	auto bool

	mu       sync.Mutex
	now      time.Time
	slept    time.Duration // of all sleeps together
	sleepers map[chan struct{}]time.Time
	changed  chan struct{} // closed and renewed when somebody goes to sleep
}

// newClock starts an hour from now, so that the files of a test are old.
func newClock() *fakeClock {
	return &fakeClock{now: time.Now().Add(time.Hour), sleepers: map[chan struct{}]time.Time{}, changed: make(chan struct{})}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	c.slept += d
	if c.auto || d <= 0 {
		c.now = c.now.Add(max(d, 0))
		c.mu.Unlock()
		return ctx.Err()
	}
	wake := make(chan struct{})
	c.sleepers[wake] = c.now.Add(d)
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
	select {
	case <-wake:
		return nil
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.sleepers, wake)
		return ctx.Err()
	}
}

// Advance moves the clock on and wakes who is due.
func (c *fakeClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for wake, due := range c.sleepers {
		if !due.After(c.now) {
			close(wake)
			delete(c.sleepers, wake)
		}
	}
}

// await returns when n are asleep.
func (c *fakeClock) await(t *testing.T, n int) {
	t.Helper()
	for {
		c.mu.Lock()
		got, changed := len(c.sleepers), c.changed
		c.mu.Unlock()
		if got >= n {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("%d sleepers, want %d", got, n)
		}
	}
}

// folder writes files with old times.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func handler(t *testing.T, dir string, o Options) *Handler {
	t.Helper()
	if o.Clock == nil {
		o.Clock = newClock()
	}
	h, err := New(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// answer is a response with its body.
type answer struct {
	*http.Response
	body string
}

// ask sends a request with headers "Name: value" straight to a handler. The
// path goes out as it is.
func ask(t *testing.T, h http.Handler, method, path string, headers ...string) answer {
	t.Helper()
	text := method + " " + path + " HTTP/1.1\r\nHost: scenes.test\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(t.Context()))
	res := w.Result()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res, string(body)}
}

// start serves a handler on a port of this machine.
func start(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.Client().CloseIdleConnections(); s.Close() })
	return s
}

// startTLS serves by https and one version of HTTP. Close its client's idle
// connections, then the server.
func startTLS(h http.Handler, proto string) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that were not needed
	s.EnableHTTP2 = proto == "HTTP/2.0"
	s.StartTLS()
	return s
}

// fetch gets an address; the error is that of reading the body.
func fetch(t *testing.T, c *http.Client, url string, headers ...string) (answer, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	res, err := c.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return answer{res, string(body)}, err
}
