package payload_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

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

func cacheRequest(done *payload.Completions, token uint64, path string) (payload.Request, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	return payload.Request{Token: token, Path: path, Dir: "d", Context: ctx, Done: done}, cancel
}

func TestMeshCacheSharesLoads(t *testing.T) {
	released := 0
	inner := &heldLoader{}
	c := payload.NewMeshCache(inner, 50)
	done := payload.NewCompletions()
	for token := uint64(1); token <= 3; token++ {
		q, cancel := cacheRequest(done, token, "tree")
		defer cancel()
		c.Start(q)
	}
	if len(inner.requests) != 1 {
		t.Fatalf("%d loads of one file", len(inner.requests))
	}
	inner.answer(payload.Result{Asset: fake.Asset(&released, fake.NodesAt(40, 0)...), GeometryBytes: 40})
	answers := done.Take(nil)
	if len(answers) != 3 || answers[2].Token != 3 || answers[0].Result.Asset == answers[1].Result.Asset {
		t.Fatalf("%+v", answers)
	}
	q, cancel := cacheRequest(done, 4, "tree")
	defer cancel()
	c.Start(q) // at once
	if more := done.Take(nil); len(more) != 1 || more[0].Result.GeometryBytes != 40 || len(inner.requests) != 0 {
		t.Fatalf("%+v", more)
	} else {
		answers = append(answers, more...)
	}
	if u := c.Usage(); u != (payload.CacheUsage{Files: 1, Bytes: 40, Holders: 4}) || c.EvictUnused() != 0 {
		t.Errorf("%+v", u)
	}
	for i := range answers {
		answers[i].Result.Asset.Release()
	}
	if u := c.Usage(); u.Unused != 40 || released != 0 {
		t.Errorf("%+v, released %d", u, released)
	}
	if c.EvictUnused() != 40 || released != 1 || c.Usage() != (payload.CacheUsage{}) {
		t.Errorf("%+v, released %d", c.Usage(), released)
	}
}

// Of what nobody uses the oldest goes when there is too much of it.
func TestMeshCacheKeepsTheLatest(t *testing.T) {
	inner := &heldLoader{}
	c := payload.NewMeshCache(inner, 100)
	done := payload.NewCompletions()
	load := func(path string) {
		q, cancel := cacheRequest(done, 1, path)
		defer cancel()
		c.Start(q)
		if len(inner.requests) > 0 {
			inner.answer(payload.Result{Asset: fake.Asset(nil, fake.NodesAt(40, 0)...)})
		}
		for _, a := range done.Take(nil) {
			a.Result.Asset.Release()
		}
	}
	for _, path := range []string{"a", "b", "a", "c", "d"} {
		load(path)
	}
	// d makes 160; b, then a go until 100 at most are left beside it.
	q, cancel := cacheRequest(done, 1, "b")
	defer cancel()
	c.Start(q)
	if len(inner.requests) != 1 {
		t.Error("b was kept")
	}
	if u := c.Usage(); u.Unused > 120 {
		t.Errorf("%+v", u)
	}
	inner.answer(payload.Result{Err: fake.ErrFake})
	if answers := done.Take(nil); len(answers) != 1 || answers[0].Result.Err == nil {
		t.Errorf("%+v", answers)
	}
	c.Start(q) // a failure is not kept
	if len(inner.requests) != 1 {
		t.Error("the failure was kept")
	}
	inner.answer(payload.Result{}) // neither is nothing
	if done.Take(nil); c.Usage().Files > 3 {
		t.Errorf("%+v", c.Usage())
	}
}

// A load is cancelled when the last who waits for it has gone.
func TestMeshCacheCancels(t *testing.T) {
	inner := &heldLoader{}
	c := payload.NewMeshCache(inner, 0)
	done := payload.NewCompletions()
	first, cancelFirst := cacheRequest(done, 1, "a")
	second, cancelSecond := cacheRequest(done, 2, "a")
	c.Start(first)
	c.Start(second)
	cancelFirst()
	cancelSecond()
	<-inner.requests[0].Context.Done()
	inner.answer(payload.Result{Err: context.Canceled})
	if answers := done.Take(nil); len(answers) != 2 {
		t.Errorf("%d answers", len(answers))
	}
}

func TestMeshCacheConcurrently(t *testing.T) {
	c := payload.NewMeshCache(fake.LoaderFunc(func(q payload.Request) {
		go func() { q.Done.Loaded(q.Token, payload.Result{Asset: fake.Asset(nil, fake.NodesAt(10, 0)...)}) }()
	}), 25)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			done := payload.NewCompletions()
			for i := range 100 {
				q, cancel := cacheRequest(done, uint64(i+1), fmt.Sprint((g+i)%5))
				c.Start(q)
				<-done.Ready()
				for _, a := range done.Take(nil) {
					if a.Result.Err != nil || a.Result.Asset.View(0) == nil {
						t.Errorf("%+v", a.Result)
					}
					a.Result.Asset.Release()
				}
				cancel()
			}
		})
	}
	wg.Wait()
}
