package runtime

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/untoldkit/untold/internal/mailbox"
)

// heldLoader keeps requests until it is told to answer.
type heldLoader struct{ requests []Request }

func (l *heldLoader) Start(q Request) { l.requests = append(l.requests, q) }

func (l *heldLoader) answer(r Result) {
	q := l.requests[0]
	l.requests = l.requests[1:]
	q.Done.Loaded(q.Token, r)
}

func cacheRequest(done *Completions, token uint64, path string) (Request, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	return Request{Token: token, Path: path, Dir: "d", Context: ctx, Done: done}, cancel
}

func TestMeshCacheSharesLoads(t *testing.T) {
	released := 0
	inner := &heldLoader{}
	c := NewMeshCache(inner, 50)
	var done Completions
	for token := uint64(1); token <= 3; token++ {
		q, cancel := cacheRequest(&done, token, "tree")
		defer cancel()
		c.Start(q)
	}
	if len(inner.requests) != 1 {
		t.Fatalf("%d loads of one file", len(inner.requests))
	}
	inner.answer(Result{Asset: assetOf(&released, nodesAt(40, 0)...), GeometryBytes: 40})
	answers := done.box.Drain(nil)
	if len(answers) != 3 || answers[2].token != 3 || answers[0].result.Asset == answers[1].result.Asset {
		t.Fatalf("%+v", answers)
	}
	q, cancel := cacheRequest(&done, 4, "tree")
	defer cancel()
	c.Start(q) // at once
	if more := done.box.Drain(nil); len(more) != 1 || more[0].result.GeometryBytes != 40 || len(inner.requests) != 0 {
		t.Fatalf("%+v", more)
	} else {
		answers = append(answers, more...)
	}
	if u := c.Usage(); u != (CacheUsage{Files: 1, Bytes: 40, Holders: 4}) || c.EvictUnused() != 0 {
		t.Errorf("%+v", u)
	}
	for i := range answers {
		answers[i].result.Asset.Release()
	}
	if u := c.Usage(); u.Unused != 40 || released != 0 {
		t.Errorf("%+v, released %d", u, released)
	}
	if c.EvictUnused() != 40 || released != 1 || c.Usage() != (CacheUsage{}) {
		t.Errorf("%+v, released %d", c.Usage(), released)
	}
}

// Of what nobody uses the oldest goes when there is too much of it.
func TestMeshCacheKeepsTheLatest(t *testing.T) {
	inner := &heldLoader{}
	c := NewMeshCache(inner, 100)
	var done Completions
	load := func(path string) {
		q, cancel := cacheRequest(&done, 1, path)
		defer cancel()
		c.Start(q)
		if len(inner.requests) > 0 {
			inner.answer(Result{Asset: assetOf(nil, nodesAt(40, 0)...)})
		}
		for _, a := range done.box.Drain(nil) {
			a.result.Asset.Release()
		}
	}
	for _, path := range []string{"a", "b", "a", "c", "d"} {
		load(path)
	}
	// d makes 160; b, then a go until 100 at most are left beside it.
	q, cancel := cacheRequest(&done, 1, "b")
	defer cancel()
	c.Start(q)
	if len(inner.requests) != 1 {
		t.Error("b was kept")
	}
	if u := c.Usage(); u.Unused > 120 {
		t.Errorf("%+v", u)
	}
	inner.answer(Result{Err: errFake})
	if answers := done.box.Drain(nil); len(answers) != 1 || answers[0].result.Err == nil {
		t.Errorf("%+v", answers)
	}
	c.Start(q) // a failure is not kept
	if len(inner.requests) != 1 {
		t.Error("the failure was kept")
	}
	inner.answer(Result{}) // neither is nothing
	if done.box.Drain(nil); c.Usage().Files > 3 {
		t.Errorf("%+v", c.Usage())
	}
}

// A load is cancelled when the last who waits for it has gone.
func TestMeshCacheCancels(t *testing.T) {
	inner := &heldLoader{}
	c := NewMeshCache(inner, 0)
	var done Completions
	first, cancelFirst := cacheRequest(&done, 1, "a")
	second, cancelSecond := cacheRequest(&done, 2, "a")
	c.Start(first)
	c.Start(second)
	cancelFirst()
	cancelSecond()
	<-inner.requests[0].Context.Done()
	inner.answer(Result{Err: context.Canceled})
	if answers := done.box.Drain(nil); len(answers) != 2 {
		t.Errorf("%d answers", len(answers))
	}
}

func TestMeshCacheConcurrently(t *testing.T) {
	c := NewMeshCache(loaderFunc(func(q Request) {
		go func() { q.Done.Loaded(q.Token, Result{Asset: assetOf(nil, nodesAt(10, 0)...)}) }()
	}), 25)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			done := &Completions{box: mailbox.New[completion]()}
			for i := range 100 {
				q, cancel := cacheRequest(done, uint64(i+1), fmt.Sprint((g+i)%5))
				c.Start(q)
				<-done.box.Ready()
				for _, a := range done.box.Drain(nil) {
					if a.result.Err != nil || a.result.Asset.View(0) == nil {
						t.Errorf("%+v", a.result)
					}
					a.result.Asset.Release()
				}
				cancel()
			}
		})
	}
	wg.Wait()
}

// Two entities of one file load it once.
func TestEntitiesShareAFile(t *testing.T) {
	r := newRig(t, sceneOf())
	r.loader.asset = func(Request) *Asset { return assetOf(nil, nodesAt(10, 5)...) }
	cache := NewMeshCache(r.loader, 1000)
	r.s.evictor.cache, r.s.loads.loader = cache, cache
	for i := range 3 {
		if _, err := r.s.AddEntity("block", Entity{ID: fmt.Sprint("car", i), Path: "car.untold", Bounds: face(5)}); err != nil {
			t.Fatal(err)
		}
	}
	r.until(2)
	if st := r.s.Stats(); len(r.loader.started) != 1 || st.MeshesLoaded != 3 {
		t.Errorf("%d loads, %+v", len(r.loader.started), st)
	}
	r.path(30, [2]float64{0, -900})
	if u := cache.Usage(); u.Unused != 10 {
		t.Errorf("%+v", u)
	}
	r.s.NotifyMemoryPressure(PressureWarning)
	r.step()
	if u := cache.Usage(); u != (CacheUsage{}) || r.s.Stats().CPUReleased != 10 {
		t.Errorf("%+v", u)
	}
}
