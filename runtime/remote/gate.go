package remote

import (
	"context"
	"slices"
	"sync"
)

// gate bounds the requests per host. Who waits is served in the order of
// arrival, payloads and manifests before textures; textures never take all
// places, so that geometry need not wait for them.
type gate struct {
	limit, textures int
	m               *counters

	mu    sync.Mutex
	hosts map[string]*queue
}

// queue is the state of one host. It exists while requests do.
type queue struct {
	active, textures int
	waiting          [2][]*waiter // payloads, textures
}

type waiter struct {
	texture bool
	admit   chan struct{} // closed on admission
}

func newGate(limit, textures int, m *counters) *gate {
	return &gate{limit: limit, textures: max(1, min(textures, limit-1)), m: m, hosts: map[string]*queue{}}
}

// enter waits for a place. leave must be called once if err is nil.
func (g *gate) enter(ctx context.Context, host string, texture bool) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	g.mu.Lock()
	q := g.hosts[host]
	if q == nil {
		q = &queue{}
		g.hosts[host] = q
	}
	w := &waiter{texture: texture, admit: make(chan struct{})}
	q.waiting[class(texture)] = append(q.waiting[class(texture)], w)
	g.admit(q)
	g.mu.Unlock()
	select {
	case <-w.admit:
		return func() { g.leave(host, texture) }, nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	list := &q.waiting[class(texture)]
	at := slices.Index(*list, w)
	if at >= 0 {
		*list = slices.Delete(*list, at, at+1)
		g.forget(host, q)
	}
	g.mu.Unlock()
	if at < 0 { // admitted at the same moment
		g.leave(host, texture)
	}
	return nil, context.Cause(ctx)
}

func class(texture bool) int {
	if texture {
		return 1
	}
	return 0
}

// admit lets in as many as there are places.
func (g *gate) admit(q *queue) {
	for q.active < g.limit {
		var w *waiter
		for c := range q.waiting {
			if len(q.waiting[c]) == 0 || c == 1 && q.textures >= g.textures {
				continue
			}
			w, q.waiting[c] = q.waiting[c][0], q.waiting[c][1:]
			break
		}
		if w == nil {
			return
		}
		q.active++
		if w.texture {
			q.textures++
		}
		g.m.active.Add(1)
		g.m.maxActive.raise(int64(q.active))
		close(w.admit)
	}
}

func (g *gate) leave(host string, texture bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := g.hosts[host]
	q.active--
	if texture {
		q.textures--
	}
	g.m.active.Add(-1)
	g.admit(q)
	g.forget(host, q)
}

// forget drops the state of a host that nobody uses.
func (g *gate) forget(host string, q *queue) {
	if q.active == 0 && len(q.waiting[0])+len(q.waiting[1]) == 0 {
		delete(g.hosts, host)
	}
}
