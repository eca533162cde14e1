package diskcache

import (
	"errors"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// TestMain is also the process that TestKilledWhileWriting kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("UNTOLD_DISKCACHE_DIR"); dir != "" {
		writeForever(dir)
		return
	}
	os.Exit(m.Run())
}

// testClock moves only when told to.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *testClock { return &testClock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func mustParse(t testing.TB, address string) *url.URL {
	t.Helper()
	u, err := weburl.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// damage changes a byte of a file, but neither its size nor its time.
func damage(t testing.TB, file string) {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	b := []byte(remotetest.Text(t, file))
	b[len(b)/2] ^= 1
	if err := errors.Join(os.WriteFile(file, b, 0o600), os.Chtimes(file, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
}
