package remote

import (
	"context"
	"slices"
	"sync"
)

// hostLimiter bounds the requests per host. Those that wait are admitted in the order
// of arrival, payloads and manifests before textures; textures never take all places,
// so that geometry need not wait for them. A third of the places is theirs first: a camera that
// moves always waits for geometry, and would see none of them. Small requests have places of
// their own, those of nodes of a pyramid and those of textures: what they take is the latency of
// a network more than its bandwidth.
type hostLimiter struct {
	limit int
	most  [classes]int // of a class
	m     *counters

	mu    sync.Mutex
	hosts map[string]*hostQueue
}

// class is what a request is for.
type class uint8

const (
	forPayload   class = iota // all that are not small nodes, or a manifest
	forTexture                // of more than smallTexture bytes
	forSmallNode              // of no more
	forSmallTexture

	classes // their number
)

// hostQueue is the state of one host. It exists while requests do.
type hostQueue struct {
	active  [classes]int
	waiting [classes][]chan struct{} // closed on admission
}

// running returns how many requests have a place.
func (q *hostQueue) running() (n int) {
	for _, k := range q.active {
		n += k
	}
	return n
}

// newHostLimiter returns a limiter to so many requests for payloads and textures, of these so
// many for textures, and beside them to so many small ones for textures and two thirds of that
// for nodes.
func newHostLimiter(limit, textures, small int, m *counters) *hostLimiter {
	return &hostLimiter{
		limit: limit, most: [...]int{forPayload: limit, forTexture: max(1, min(textures, limit-1)), forSmallNode: nodesBeside(small), forSmallTexture: small},
		m: m, hosts: map[string]*hostQueue{},
	}
}

// nodesBeside is how many small requests for nodes there may be beside so many for textures.
func nodesBeside(textures int) int { return textures * 2 / 3 }

// enter waits for a place. leave must be called once if err is nil.
func (l *hostLimiter) enter(ctx context.Context, host string, c class) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	l.mu.Lock()
	q := l.hosts[host]
	if q == nil {
		q = &hostQueue{}
		l.hosts[host] = q
	}
	admitted := make(chan struct{})
	q.waiting[c] = append(q.waiting[c], admitted)
	l.admit(q)
	l.mu.Unlock()
	select {
	case <-admitted:
		return func() { l.leave(host, c) }, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	at := slices.Index(q.waiting[c], admitted)
	if at >= 0 {
		q.waiting[c] = slices.Delete(q.waiting[c], at, at+1)
		l.forget(host, q)
	}
	l.mu.Unlock()
	if at < 0 { // admitted at the same moment
		l.leave(host, c)
	}
	return nil, context.Cause(ctx)
}

// admit admits as many as there are places.
func (l *hostLimiter) admit(q *hostQueue) {
	for {
		c, ok := l.next(q)
		if !ok {
			return
		}
		admitted := q.waiting[c][0]
		q.waiting[c] = q.waiting[c][1:]
		q.active[c]++
		l.m.active.Add(1)
		l.m.maxActive.raise(int64(q.running()))
		close(admitted)
	}
}

// next returns of which class there is a request that may be admitted.
func (l *hostLimiter) next(q *hostQueue) (class, bool) {
	may := func(c class, most int) bool { return len(q.waiting[c]) > 0 && q.active[c] < most }
	switch textures := l.most[forTexture]; {
	case may(forSmallTexture, l.most[forSmallTexture]):
		return forSmallTexture, true
	case may(forSmallNode, l.most[forSmallNode]):
		return forSmallNode, true
	case q.active[forPayload]+q.active[forTexture] >= l.limit:
		return 0, false
	case may(forTexture, min(textures, l.limit/3)):
		return forTexture, true
	case may(forPayload, l.limit):
		return forPayload, true
	case may(forTexture, textures):
		return forTexture, true
	}
	return 0, false
}

func (l *hostLimiter) leave(host string, c class) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.hosts[host]
	q.active[c]--
	l.m.active.Add(-1)
	l.admit(q)
	l.forget(host, q)
}

// forget drops the state of a host that nobody uses.
func (l *hostLimiter) forget(host string, q *hostQueue) {
	for c := range q.waiting {
		if len(q.waiting[c]) > 0 {
			return
		}
	}
	if q.running() == 0 {
		delete(l.hosts, host)
	}
}
