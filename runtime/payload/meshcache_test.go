package payload_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

// heldLoader keeps requests until it is told to answer.
type heldLoader struct{ requests []payload.Request }

func (l *heldLoader) Start(q payload.Request) { l.requests = append(l.requests, q) }

func (l *heldLoader) answer(r payload.Result) {
	q := l.requests[0]
	l.requests = l.requests[1:]
	q.Done.Loaded(q.Token, r)
}

// cacheTest is a MeshCache in front of a heldLoader.
type cacheTest struct {
	*payload.MeshCache
	t     *testing.T
	inner *heldLoader
	done  *payload.Completions
	token uint64
}

func newCacheTest(t *testing.T) *cacheTest {
	c := &cacheTest{t: t, inner: &heldLoader{}, done: payload.NewCompletions()}
	c.MeshCache = payload.NewMeshCache(t.Context(), c.inner)
	t.Cleanup(c.Close)
	return c
}

// ask starts a request for a file, and returns what gives it up.
func (c *cacheTest) ask(path string, change ...func(*payload.Request)) (giveUp func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	c.t.Cleanup(cancel)
	c.token++
	q := payload.Request{Token: c.token, Path: path, Dir: "d", Shared: true, Context: ctx, Done: c.done}
	for _, f := range change {
		f(&q)
	}
	c.Start(q)
	return func() { cancel(); c.EndUnwanted() }
}

// load loads a file of so many bytes for nobody.
func (c *cacheTest) load(path string, bytes int64) {
	c.ask(path)
	c.inner.answer(payload.Result{Asset: fake.Asset(nil, fake.NodesAt(bytes, 0)...)})
	for _, a := range c.done.Take(nil) {
		a.Result.Asset.Release()
	}
}

func TestMeshCacheSharesLoads(t *testing.T) {
	released := 0
	c := newCacheTest(t)
	for range 3 {
		c.ask("tree")
	}
	if len(c.inner.requests) != 1 || c.inner.requests[0].Token != 1 {
		t.Fatalf("%d loads of one file", len(c.inner.requests))
	}
	c.inner.answer(payload.Result{Asset: fake.Asset(&released, fake.NodesAt(40, 0)...), GeometryBytes: 40})
	answers := c.done.Take(nil)
	if len(answers) != 3 || answers[2].Token != 3 || answers[0].Result.Asset == answers[1].Result.Asset || answers[2].Result.GeometryBytes != 40 {
		t.Fatalf("%+v", answers)
	}
	// The next one is offered what there is.
	c.ask("tree")
	kept := c.inner.requests[0].Kept
	if kept == nil || kept.CPUBytes() != 40 {
		t.Fatalf("kept %v", kept)
	}
	c.inner.answer(payload.Result{Asset: kept.Retain(), GeometryBytes: 40})
	answers = append(answers, c.done.Take(nil)...)
	if u := c.Usage(); u != (payload.CacheUsage{Files: 1, Bytes: 40, Users: 4}) || c.Trim(0) != 0 {
		t.Errorf("%+v", u)
	}
	for i := range answers {
		answers[i].Result.Asset.Release()
	}
	if u := c.Usage(); u.Unused != 40 || released != 0 {
		t.Errorf("%+v, released %d", u, released)
	}
	if c.Trim(0) != 40 || released != 1 || c.Usage() != (payload.CacheUsage{}) {
		t.Errorf("%+v, released %d", c.Usage(), released)
	}
}

// Requests that may not be shared have loads of their own, and nothing is kept.
func TestMeshCachePassedBy(t *testing.T) {
	for name, change := range map[string]func(*payload.Request){
		"of a tile": func(q *payload.Request) { q.Shared = false },
		"in parts":  func(q *payload.Request) { q.Local.Ranges = new(noRanges) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCacheTest(t)
			c.ask("a", change)
			c.ask("a", change)
			if len(c.inner.requests) != 2 || c.inner.requests[1].Done != c.done || c.Usage() != (payload.CacheUsage{}) {
				t.Errorf("%d loads, %+v", len(c.inner.requests), c.Usage())
			}
		})
	}
}

type noRanges struct{ payload.Ranges }

// Files that are declared otherwise, or lie elsewhere, are others.
func TestMeshCacheTellsFilesApart(t *testing.T) {
	for name, change := range map[string]func(*payload.Request){
		"path":   func(q *payload.Request) { q.Path = "b" },
		"dir":    func(q *payload.Request) { q.Dir = "e" },
		"size":   func(q *payload.Request) { q.Size = 1 },
		"sha256": func(q *payload.Request) { q.SHA256 = "12" },
		"file":   func(q *payload.Request) { q.Local.File = "f" },
		"images": func(q *payload.Request) { q.Local.Dir = "f" },
	} {
		c := newCacheTest(t)
		c.load("a", 10)
		c.ask("a", change)
		c.ask("a")
		if len(c.inner.requests) != 2 || c.inner.requests[0].Kept != nil || c.inner.requests[1].Kept == nil {
			t.Errorf("another %s is the same file", name)
		}
	}
}

// What a load brings takes the place of what was kept, and a failure leaves
// nothing; one of a load that was given up says nothing of the file.
func TestMeshCacheKeepsTheLatest(t *testing.T) {
	for _, c := range []struct {
		name   string
		giveUp bool
		result payload.Result
		bytes  int64
	}{
		{"replaced", false, payload.Result{Asset: fake.Asset(nil, fake.NodesAt(30, 0)...)}, 30},
		{"failed", false, payload.Result{Err: fake.ErrFake}, 0},
		{"empty", false, payload.Result{}, 0},
		{"given up", true, payload.Result{Err: context.Canceled}, 40},
		{"given up late", true, payload.Result{Asset: fake.Asset(nil, fake.NodesAt(30, 0)...)}, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newCacheTest(t)
			x.load("a", 40)
			giveUp := x.ask("a")
			if c.giveUp {
				giveUp()
			}
			x.inner.answer(c.result)
			answers := x.done.Take(nil)
			if len(answers) != 1 || answers[0].Result.Err != c.result.Err {
				t.Fatalf("%+v", answers)
			}
			answers[0].Result.Asset.Release()
			if u := x.Usage(); u.Bytes != c.bytes || u.Unused != c.bytes {
				t.Errorf("%+v", u)
			}
		})
	}
}

// Of what nobody uses the oldest goes when there is too much of it.
func TestMeshCacheTrims(t *testing.T) {
	c := newCacheTest(t)
	for _, path := range []string{"a", "b", "a", "c", "d"} {
		c.load(path, 40)
	}
	if freed := c.Trim(100); freed != 80 || c.Usage().Unused != 80 {
		t.Errorf("freed %d, %+v", freed, c.Usage())
	}
	for path, want := range map[string]bool{"a": false, "b": false, "c": true, "d": true} {
		c.ask(path)
		if q := c.inner.requests[len(c.inner.requests)-1]; (q.Kept != nil) != want {
			t.Errorf("%s is kept: %v, want %v", path, !want, want)
		}
	}
	if c.Trim(0) != 0 {
		t.Error("what is being loaded again was dropped")
	}
}

// A load ends when the last who waits for it has gone, and whoever comes then
// begins another one at once.
func TestMeshCacheGivesUp(t *testing.T) {
	c := newCacheTest(t)
	first, second := c.ask("a"), c.ask("a")
	first()
	if c.inner.requests[0].Context.Err() != nil {
		t.Error("the load ended although somebody waits")
	}
	second()
	if c.inner.requests[0].Context.Err() == nil {
		t.Error("the load goes on for nobody")
	}
	c.ask("a")
	if len(c.inner.requests) != 2 {
		t.Fatal("a request joined a load that had been given up")
	}
	c.inner.answer(payload.Result{Err: context.Canceled})
	c.inner.answer(payload.Result{Asset: fake.Asset(nil, fake.NodesAt(10, 0)...)})
	answers := c.done.Take(nil)
	if len(answers) != 3 || answers[2].Token != 3 || answers[2].Result.Err != nil {
		t.Errorf("%+v", answers)
	}
}

func TestMeshCacheClosed(t *testing.T) {
	released := 0
	c := newCacheTest(t)
	c.load("a", 10)
	c.ask("b")
	c.Close()
	c.inner.answer(payload.Result{Asset: fake.Asset(&released, fake.NodesAt(10, 0)...)})
	for _, a := range c.done.Take(nil) {
		a.Result.Asset.Release()
	}
	if u := c.Usage(); u != (payload.CacheUsage{}) || released != 1 {
		t.Errorf("%+v, released %d", u, released)
	}
}

// Files are kept as long as they are the same on the disk, with a hash or without.
func TestMeshCacheOfFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.untold")
	write := func(n int, at time.Time) {
		fake.WriteTriangles(t, file, format.FileTile, format.ModeNone, n)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	l := payload.NewFileLoader(1)
	defer l.Close()
	c := payload.NewMeshCache(t.Context(), l)
	defer c.Close()
	var last []byte // the buffer of the latest answer
	load := func() (nodes int, same bool) {
		r := fake.Ask(t, c, payload.Request{Dir: filepath.Dir(file), Path: "a.untold", Shared: true})
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		defer r.Asset.Release()
		same = last != nil && &last[0] == &r.Asset.Geometry.Vertices[0]
		last = r.Asset.Geometry.Vertices
		return r.Nodes, same
	}
	now := time.Now()
	write(1, now)
	load()
	if n, same := load(); n != 1 || !same {
		t.Errorf("%d nodes; the same buffers: %v", n, same)
	}
	write(2, now.Add(time.Second))
	if n, same := load(); n != 2 || same {
		t.Errorf("%d nodes of the file that took its place; the same buffers: %v", n, same)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if r := fake.Ask(t, c, payload.Request{Dir: filepath.Dir(file), Path: "a.untold", Shared: true}); r.Err == nil || c.Usage().Files != 0 {
		t.Errorf("%+v of a file that is gone, %+v", r, c.Usage())
	}
}

// Answers come from any goroutine, while the owner asks, gives up and trims.
func TestMeshCacheConcurrently(t *testing.T) {
	var workers sync.WaitGroup
	defer workers.Wait()
	c := payload.NewMeshCache(t.Context(), fake.LoaderFunc(func(q payload.Request) {
		workers.Go(func() {
			r := payload.Result{Asset: q.Kept.Retain()}
			if r.Asset == nil {
				r.Asset = fake.Asset(nil, fake.NodesAt(10, 0)...)
			}
			q.Done.Loaded(q.Token, r)
		})
	}))
	defer c.Close()
	done := payload.NewCompletions()
	for i, open := 0, 0; i < 2000 || open > 0; {
		for ; i < 2000 && open < 8; i, open = i+1, open+1 {
			ctx, cancel := context.WithCancel(t.Context())
			c.Start(payload.Request{Token: uint64(i + 1), Path: fmt.Sprint(i * i % 7), Shared: true, Context: ctx, Done: done})
			if cancel(); i%3 == 0 {
				c.EndUnwanted()
			}
		}
		<-done.Ready()
		for _, a := range done.Take(nil) {
			open--
			if a.Result.Err != nil || a.Result.Asset.View(0) == nil {
				t.Errorf("%+v", a.Result)
			}
			a.Result.Asset.Release()
		}
		c.Trim(25)
	}
}

// TestMeshCacheKeepsNothingReady: what was made ready of a file goes to who asked first;
// what is kept does not hold it.
func TestMeshCacheKeepsNothingReady(t *testing.T) {
	c := newCacheTest(t)
	c.ask("tree")
	c.ask("tree")
	asset := fake.Asset(nil, fake.NodesAt(40, 0)...)
	asset.Ready = "packed"
	c.inner.answer(payload.Result{Asset: asset})
	answers := c.done.Take(nil)
	if len(answers) != 2 || answers[0].Result.Asset.Ready != "packed" || answers[1].Result.Asset.Ready != nil || asset.Ready != nil {
		t.Errorf("%+v, kept %v", answers, asset.Ready)
	}
	for _, a := range answers {
		a.Result.Asset.Release()
	}
}
