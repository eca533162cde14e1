package diskcache

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// name returns the cache name of a number.
func name(i int) string {
	u, err := weburl.Parse(address(i))
	if err != nil {
		panic(err)
	}
	return Name(u)
}

func address(i int) string { return fmt.Sprintf("https://h/tiles/%d.untold", i) }

func openCache(t testing.TB, dir string, clock *testClock, budget int64) *Cache {
	t.Helper()
	c, err := Open(dir, Options{Budget: budget, Now: clock.Now, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// store puts a file into a cache.
func store(t testing.TB, c *Cache, e Entry, data []byte) Entry {
	t.Helper()
	st, err := c.Create(e.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Abort()
	if _, err := st.Write(data); err != nil {
		t.Fatal(err)
	}
	if e, err = st.Commit(e); err != nil {
		t.Fatal(err)
	}
	return e
}

func put(t testing.TB, c *Cache, i int, data []byte) Entry {
	t.Helper()
	return store(t, c, Entry{Name: name(i), URL: address(i), ETag: remotetest.ETagOf(data)}, data)
}

// has lists which of the numbers the cache holds, without touching them.
func has(c *Cache, n int) (list []int) {
	for i := range n {
		if e, ok := c.Peek(name(i)); ok && c.root.sameFile(&e) {
			list = append(list, i)
		}
	}
	return list
}

// With a budget of 1000 bytes and three files of 400, the two oldest go after the
// third has come.
func TestEviction(t *testing.T) {
	c := openCache(t, t.TempDir(), newClock(), 1000)
	for i := range 3 {
		put(t, c, i, make([]byte, 400))
	}
	s := c.Stat()
	if got := has(c, 3); !slices.Equal(got, []int{2}) || s.Files != 1 || s.Bytes != 400 || s.Evictions != 2 {
		t.Errorf("%v, %+v", got, s)
	}
	want := []string{name(2), strings.TrimSuffix(name(2), ".untold") + ".meta"}
	slices.Sort(want)
	got := remotetest.Files(t, c.Dir())
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	// A file beyond the whole budget stays until the next one comes.
	put(t, c, 7, make([]byte, 5000))
	if got := has(c, 9); !slices.Equal(got, []int{7}) {
		t.Errorf("%v", got)
	}
	put(t, c, 8, make([]byte, 400))
	if got := has(c, 9); !slices.Equal(got, []int{8}) {
		t.Errorf("%v", got)
	}
}

func TestEvictionGoesByUse(t *testing.T) {
	clock := newClock()
	c := openCache(t, t.TempDir(), clock, 1000)
	for i := range 10 {
		put(t, c, i, make([]byte, 100))
		clock.Advance(time.Second)
	}
	for _, i := range []int{0, 5} {
		if _, ok := c.Lookup(name(i)); !ok {
			t.Fatal(i)
		}
		clock.Advance(time.Second)
	}
	put(t, c, 10, make([]byte, 50)) // 1050 bytes: down to 750
	if got := has(c, 11); !slices.Equal(got, []int{0, 4, 5, 6, 7, 8, 9, 10}) {
		t.Errorf("%v", got)
	}
	list := c.Entries()
	if list[0].Name != name(10) || list[1].Name != name(5) || list[2].Name != name(0) || list[len(list)-1].Name != name(4) {
		t.Errorf("%v", list)
	}
}

func TestPinnedFilesStay(t *testing.T) {
	clock := newClock()
	c := openCache(t, t.TempDir(), clock, 1000)
	put(t, c, 0, make([]byte, 400))
	c.Pin(name(0))
	put(t, c, 1, make([]byte, 400))
	put(t, c, 2, make([]byte, 400))
	if got := has(c, 3); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("%v", got)
	}
	clock.Advance(PinFor)
	put(t, c, 3, make([]byte, 400))
	if got := has(c, 4); !slices.Equal(got, []int{3}) {
		t.Errorf("%v", got)
	}
}

// A restart keeps the order of use, whatever the file system says about
// access times.
func TestRestartKeepsOrder(t *testing.T) {
	for _, how := range []string{"close", "kill"} {
		clock, dir := newClock(), t.TempDir()
		c := openCache(t, dir, clock, 1000)
		for i := range 9 {
			put(t, c, i, make([]byte, 100))
			clock.Advance(2 * time.Second)
		}
		for _, i := range []int{1, 0} { // the oldest become the newest
			if _, ok := c.Lookup(name(i)); !ok {
				t.Fatal(i)
			}
			clock.Advance(2 * time.Second)
		}
		if how == "close" {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 9 { // noatime, and worse
			if err := os.Chtimes(c.Path(name(i)), time.Unix(int64(1000-i), 0), time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		c = openCache(t, dir, clock, 1000)
		put(t, c, 9, make([]byte, 101))
		if got := has(c, 10); !slices.Equal(got, []int{0, 1, 5, 6, 7, 8, 9}) {
			t.Errorf("%s: %v", how, got)
		}
	}
}

func TestSidecar(t *testing.T) {
	c := openCache(t, t.TempDir(), newClock(), 0)
	put(t, c, 1, []byte("one"))
	side := filepath.Join(c.Dir(), strings.TrimSuffix(name(1), ".untold")+".meta")
	want := `{"remoteURL":"https://h/tiles/1.untold","etag":"\"` + remotetest.HashOf([]byte("one"))[:16] + `\"","cachedAt":"2026-03-01T12:00:00Z"}`
	if got := remotetest.Text(t, side); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	// Without an ETag there is none, also not that of an older file.
	store(t, c, Entry{Name: name(1), URL: address(1)}, []byte("two"))
	if _, err := os.Stat(side); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A size that does not fit, or bytes that have changed under a new time, are
// no hit.
func TestHitChecks(t *testing.T) {
	c := openCache(t, t.TempDir(), newClock(), 0)
	put(t, c, 1, []byte("data"))
	file := c.Path(name(1))
	if err := os.Chtimes(file, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, ok := c.Lookup(name(1)); !ok {
			t.Fatal("only the time differs: the folder was copied")
		}
	}
	if err := os.WriteFile(file, []byte("evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Lookup(name(1)); ok {
		t.Error("other bytes are a hit")
	}
	put(t, c, 1, []byte("data"))
	if err := os.WriteFile(file, []byte("dat"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Lookup(name(1)); ok {
		t.Error("another size is a hit")
	}
	put(t, c, 1, []byte("data"))
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Lookup(name(1)); ok {
		t.Error("no file is a hit")
	}
	if s := c.Stat(); s.Files != 0 || s.Bytes != 0 {
		t.Errorf("%+v", s)
	}
}

func TestLinkIsNoHit(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	c := openCache(t, t.TempDir(), newClock(), 0)
	e := put(t, c, 1, []byte("data"))
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.Rename(c.Path(name(1)), outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, c.Path(e.Name)); err != nil {
		t.Skip(err)
	}
	if _, ok := c.Lookup(e.Name); ok {
		t.Error("a link to the outside is a hit")
	}
	put(t, c, 1, []byte("new"))
	if remotetest.Text(t, outside) != "data" {
		t.Error("wrote through a link")
	}
}

func TestVerify(t *testing.T) {
	c := openCache(t, t.TempDir(), newClock(), 0)
	for i := range 4 {
		put(t, c, i, []byte("data"))
	}
	damage(t, c.Path(name(1)))
	os.Remove(c.Path(name(2)))
	os.WriteFile(c.Path(name(3)), []byte("longer"), 0o600)
	for _, keep := range []bool{true, false} {
		bad, err := c.Verify(t.Context(), keep)
		if err != nil || len(bad) != 3 {
			t.Fatalf("%v, %v", bad, err)
		}
		for _, d := range bad {
			if d.Reason == "" || d.Entry.Name == name(0) {
				t.Errorf("%+v", d)
			}
		}
	}
	if bad, err := c.Verify(t.Context(), false); err != nil || len(bad) != 0 || c.Stat().Files != 1 {
		t.Error(bad, err, c.Stat())
	}
}

func TestClear(t *testing.T) {
	dir := t.TempDir()
	c := openCache(t, dir, newClock(), 0)
	put(t, c, 1, []byte("data"))
	u, _ := weburl.Parse("https://h/")
	store(t, c, Entry{Name: TextureFolder(u) + "/a/b.png"}, []byte("texture"))
	os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o600)
	s, err := c.Clear()
	if err != nil || s.Files != 2 || s.Bytes != 11 || s.Textures != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if got := remotetest.Files(t, dir); !slices.Equal(got, []string{"notes.txt"}) {
		t.Errorf("%v", got)
	}
	if list, _ := os.ReadDir(filepath.Join(dir, texturesDir)); len(list) != 0 {
		t.Errorf("%v", list)
	}
	put(t, c, 1, []byte("data"))
	if _, ok := c.Lookup(name(1)); !ok {
		t.Error("the cache does not work any more")
	}
}

// Leftovers of a crash are cleared away or taken over, never served unchecked.
func TestRecovery(t *testing.T) {
	dir, clock := t.TempDir(), newClock()
	c := openCache(t, dir, clock, 0)
	for i := range 3 {
		put(t, c, i, []byte("data"))
	}
	u, _ := weburl.Parse("https://h/")
	texture := store(t, c, Entry{Name: TextureFolder(u) + "/a.png"}, []byte("texture"))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	os.Remove(c.Path(name(2)))
	os.WriteFile(filepath.Join(dir, tempStem(name(5))+".99-1.tmp"), []byte("half"), 0o600)
	u6, _ := weburl.Parse(address(6))
	os.WriteFile(filepath.Join(dir, key(u6)+".meta"), encodeSidecar(&Entry{URL: u6.String(), ETag: "e"}), 0o600)

	c = openCache(t, dir, clock, 0)
	if got := has(c, 9); !slices.Equal(got, []int{0, 1}) || c.Stat().Files != 3 {
		t.Errorf("%v, %+v", got, c.Stat())
	}
	if list := remotetest.Files(t, dir); len(list) != 5 || len(remotetest.Temporary(list)) != 0 {
		t.Errorf("%v", list)
	}
	c.Close()

	// A torn line at the end of the index.
	log := filepath.Join(dir, indexName)
	whole := remotetest.Text(t, log)
	for cut := range 40 {
		os.WriteFile(log, []byte(whole[:len(whole)-cut]), 0o600)
		c := openCache(t, dir, clock, 0)
		for i := range 2 {
			if e, ok := c.Lookup(name(i)); ok && e.SHA256 != remotetest.HashOf([]byte("data")) {
				t.Error(cut, e)
			}
		}
		put(t, c, 3, []byte("data"))
		c.Close()
		c = openCache(t, dir, clock, 0)
		if _, ok := c.Lookup(name(3)); !ok || c.index.damaged != 0 {
			t.Errorf("cut %d: what came after the torn line is lost (%d damaged)", cut, c.index.damaged)
		}
		c.Close()
	}

	// No index at all: files serve only where their hash is declared, if their
	// sidecars prove that they are the cache's. Textures have neither.
	os.Remove(log)
	c = openCache(t, dir, clock, 0)
	if _, ok := c.Lookup(name(0)); ok {
		t.Error("a file of unknown hash is a hit")
	}
	if _, ok := c.Check(name(0), remotetest.HashOf([]byte("other"))); ok {
		t.Error("a file of another hash is a hit")
	}
	if e, ok := c.Check(name(1), remotetest.HashOf([]byte("data"))); !ok || e.ETag != remotetest.ETagOf([]byte("data")) || e.URL != address(1) {
		t.Error(e, ok)
	}
	if _, ok := c.Lookup(texture.Name); ok {
		t.Error("a texture that nobody knows serves")
	}
	if remotetest.Text(t, c.Path(texture.Name)) != "texture" {
		t.Error("a file that nothing proves to be the cache's is gone")
	}
}

// The index survives being written anew, also for those who read along.
func TestCompaction(t *testing.T) {
	dir, clock := t.TempDir(), newClock()
	a, b := openCache(t, dir, clock, 0), openCache(t, dir, clock, 0)
	put(t, a, 0, []byte("data"))
	put(t, a, 1, []byte("data"))
	gen := a.index.gen
	for a.index.gen == gen {
		clock.Advance(2 * time.Second)
		if _, ok := a.Lookup(name(0)); !ok {
			t.Fatal("lost")
		}
		if a.index.read > 4*compactAt {
			t.Fatal("the log only grows")
		}
	}
	put(t, a, 2, []byte("data"))
	for i := range 3 {
		if _, ok := b.Lookup(name(i)); !ok {
			t.Error(i)
		}
	}
	if b.index.gen != a.index.gen || b.Entries()[0].Name != a.Entries()[0].Name {
		t.Error("they disagree")
	}
}

// Two caches on one folder see what the other does.
func TestTwoCachesOneFolder(t *testing.T) {
	dir, clock := t.TempDir(), newClock()
	a, b := openCache(t, dir, clock, 1000), openCache(t, dir, clock, 1000)
	put(t, a, 0, bytes.Repeat([]byte{1}, 400))
	if _, ok := b.Lookup(name(0)); !ok {
		t.Error("b does not see what a has stored")
	}
	clock.Advance(time.Second)
	put(t, b, 0, bytes.Repeat([]byte{2}, 400))
	if e, ok := a.Lookup(name(0)); !ok || e.SHA256 != remotetest.HashOf(bytes.Repeat([]byte{2}, 400)) {
		t.Error("a does not see the new bytes", e, ok)
	}
	clock.Advance(time.Second)
	put(t, a, 1, make([]byte, 400))
	clock.Advance(time.Second)
	put(t, b, 2, make([]byte, 400))
	for i, want := range []bool{false, false, true} {
		if _, ok := a.Lookup(name(i)); ok != want {
			t.Errorf("a, %d: %v", i, ok)
		}
		if _, ok := b.Lookup(name(i)); ok != want {
			t.Errorf("b, %d: %v", i, ok)
		}
	}
	// A live process's temporary file is not cleared away.
	st, err := a.Create(name(5))
	if err != nil {
		t.Fatal(err)
	}
	openCache(t, dir, clock, 1000)
	if _, err := st.Write([]byte("data")); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Commit(Entry{Name: name(5)}); err != nil {
		t.Error(err)
	}
}

// Whatever is stored, used and forgotten: the sum is right, the budget holds
// after every store, and what is served is what was stored.
func TestCacheProperties(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		clock := newClock()
		sub := filepath.Join(dir, fmt.Sprint(n))
		open := func() *Cache {
			c, err := Open(sub, Options{Budget: 1000, Now: clock.Now, NoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		caches := []*Cache{open(), open()}
		defer func() {
			for _, c := range caches {
				c.Close()
			}
		}()
		model := map[int][]byte{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			clock.Advance(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
			which := rapid.IntRange(0, 1).Draw(t, "cache")
			c, i := caches[which], rapid.IntRange(0, 5).Draw(t, "file")
			switch rapid.SampledFrom([]string{"put", "put", "get", "get", "reopen"}).Draw(t, "step") {
			case "put":
				data := bytes.Repeat([]byte{byte(rapid.Int().Draw(t, "byte"))}, rapid.IntRange(0, 700).Draw(t, "size"))
				st, err := c.Create(name(i))
				if err != nil {
					t.Fatal(err)
				}
				st.Write(data)
				if _, err := st.Commit(Entry{Name: name(i), URL: address(i)}); err != nil {
					t.Fatal(err)
				}
				model[i] = data
				sum := int64(0)
				for _, e := range c.Entries() {
					sum += e.Size
				}
				if sum != c.index.bytes || sum > 1000 {
					t.Fatalf("%d bytes, %d counted", sum, c.index.bytes)
				}
			case "get":
				if e, ok := c.Lookup(name(i)); ok {
					got, err := os.ReadFile(c.Path(e.Name))
					if err != nil || !bytes.Equal(got, model[i]) || e.SHA256 != remotetest.HashOf(model[i]) {
						t.Fatalf("%d: other bytes: %v", i, err)
					}
				}
			case "reopen":
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				caches[which] = open()
			}
		}
	})
}

// A folder that cannot be a cache, as it is no folder or may not be written to, is
// an error that says what to do.
func TestOpenCacheSaysWhatToDo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	locked := t.TempDir()
	if err := os.Mkdir(filepath.Join(locked, lockName), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, locked} {
		_, err := Open(dir, Options{})
		if !errors.Is(err, ErrCache) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "--cache-dir") {
			t.Errorf("%v", err)
		}
	}
}

// A file that is replaced can be read at any time, the old bytes or the new ones.
func TestReplaceHasNoGap(t *testing.T) {
	c := openCache(t, t.TempDir(), newClock(), 0)
	put(t, c, 1, bytes.Repeat([]byte{0}, 1000))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 200 {
			put(t, c, 1, bytes.Repeat([]byte{byte(i)}, 1000))
		}
	}()
	for {
		data, err := os.ReadFile(c.Path(name(1)))
		if err != nil || len(data) != 1000 || !bytes.Equal(data, bytes.Repeat(data[:1], 1000)) {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}
