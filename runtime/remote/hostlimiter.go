package remote

import (
	"context"
	"slices"
	"sync"
)

// hostLimiter bounds the requests per host. Those that wait are admitted in the order
// of arrival, payloads and manifests before textures; textures never take all places,
// so that geometry need not wait for them. A third of the places is theirs first: a camera that
// moves always waits for geometry, and would see none of them.
type hostLimiter struct {
	limit, textures int
	m               *counters

	mu    sync.Mutex
	hosts map[string]*hostQueue
}

// hostQueue is the state of one host. It exists while requests do.
type hostQueue struct {
	active, textures int
	waiting          [2][]*waiter // payloads, textures
}

type waiter struct {
	texture bool
	admit   chan struct{} // closed on admission
}

func newHostLimiter(limit, textures int, m *counters) *hostLimiter {
	return &hostLimiter{limit: limit, textures: max(1, min(textures, limit-1)), m: m, hosts: map[string]*hostQueue{}}
}

// enter waits for a place. leave must be called once if err is nil.
func (l *hostLimiter) enter(ctx context.Context, host string, texture bool) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	l.mu.Lock()
	q := l.hosts[host]
	if q == nil {
		q = &hostQueue{}
		l.hosts[host] = q
	}
	w := &waiter{texture: texture, admit: make(chan struct{})}
	q.waiting[class(texture)] = append(q.waiting[class(texture)], w)
	l.admit(q)
	l.mu.Unlock()
	select {
	case <-w.admit:
		return func() { l.leave(host, texture) }, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	list := &q.waiting[class(texture)]
	at := slices.Index(*list, w)
	if at >= 0 {
		*list = slices.Delete(*list, at, at+1)
		l.forget(host, q)
	}
	l.mu.Unlock()
	if at < 0 { // admitted at the same moment
		l.leave(host, texture)
	}
	return nil, context.Cause(ctx)
}

func class(texture bool) int {
	if texture {
		return 1
	}
	return 0
}

// admit admits as many as there are places.
func (l *hostLimiter) admit(q *hostQueue) {
	for q.active < l.limit {
		var c int
		textures := len(q.waiting[class(true)]) > 0
		switch {
		case textures && q.textures < min(l.textures, l.limit/3):
			c = class(true)
		case len(q.waiting[class(false)]) > 0:
			c = class(false)
		case textures && q.textures < l.textures:
			c = class(true)
		default:
			return
		}
		w := q.waiting[c][0]
		q.waiting[c] = q.waiting[c][1:]
		q.active++
		if w.texture {
			q.textures++
		}
		l.m.active.Add(1)
		l.m.maxActive.raise(int64(q.active))
		close(w.admit)
	}
}

func (l *hostLimiter) leave(host string, texture bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.hosts[host]
	q.active--
	if texture {
		q.textures--
	}
	l.m.active.Add(-1)
	l.admit(q)
	l.forget(host, q)
}

// forget drops the state of a host that nobody uses.
func (l *hostLimiter) forget(host string, q *hostQueue) {
	if q.active == 0 && len(q.waiting[0])+len(q.waiting[1]) == 0 {
		delete(l.hosts, host)
	}
}
