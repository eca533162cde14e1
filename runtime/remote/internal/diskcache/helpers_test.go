package diskcache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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

func etagOf(data []byte) string { return `"` + hashOf(data)[:16] + `"` }

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func mustParse(t testing.TB, address string) *url.URL {
	t.Helper()
	u, err := weburl.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func text(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// damage changes a byte of a file, but neither its size nor its time.
func damage(t testing.TB, file string) {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	b := []byte(text(t, file))
	b[len(b)/2] ^= 1
	if err := errors.Join(os.WriteFile(file, b, 0o600), os.Chtimes(file, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
}

// body is the content of a file of n bytes.
func body(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * i >> 3)
	}
	return b
}

// files lists the plain files below a folder, with slashes, but those that every cache
// has.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if !slices.Contains([]string{lockName, usersName, indexName, versionName, tagName}, filepath.Base(rel)) {
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil && !missing(err) {
		t.Fatal(err)
	}
	return list
}

// temporary returns those files that are not final.
func temporary(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !strings.HasSuffix(s, tempSuffix) })
}
