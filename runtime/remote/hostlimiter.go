package remote

import (
	"context"
	"sync"

	"github.com/untoldkit/untold/runtime/internal/hostqueue"
)

// hostLimiter bounds the requests per host, by the rule of package hostqueue.
type hostLimiter struct {
	limits hostqueue.Limits
	m      *counters

	mu    sync.Mutex
	hosts map[string]*hostQueue
}

// hostQueue is the state of one host; the channel of a request is closed on its admission. It
// exists while requests do.
type hostQueue = hostqueue.Queue[chan struct{}]

func newHostLimiter(l hostqueue.Limits, m *counters) *hostLimiter {
	return &hostLimiter{limits: l, m: m, hosts: map[string]*hostQueue{}}
}

// enter waits for a place. leave must be called once if err is nil.
func (l *hostLimiter) enter(ctx context.Context, host string, c hostqueue.Class) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	l.mu.Lock()
	q := l.hosts[host]
	if q == nil {
		q = hostqueue.New[chan struct{}](l.limits)
		l.hosts[host] = q
	}
	admitted := make(chan struct{})
	q.Arrive(c, admitted)
	l.admit(q)
	l.mu.Unlock()
	select {
	case <-admitted:
		return func() { l.leave(host, c) }, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	waited := q.Withdraw(c, admitted)
	if waited {
		l.forget(host, q)
	}
	l.mu.Unlock()
	if !waited { // admitted at the same moment
		l.leave(host, c)
	}
	return nil, context.Cause(ctx)
}

// admit admits as many as there are places.
func (l *hostLimiter) admit(q *hostQueue) {
	for {
		admitted, ok := q.Admit()
		if !ok {
			return
		}
		l.m.active.Add(1)
		l.m.maxActive.raise(int64(q.Running()))
		close(admitted)
	}
}

func (l *hostLimiter) leave(host string, c hostqueue.Class) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.hosts[host]
	q.Leave(c)
	l.m.active.Add(-1)
	l.admit(q)
	l.forget(host, q)
}

// forget drops the state of a host that nobody uses.
func (l *hostLimiter) forget(host string, q *hostQueue) {
	if q.Running() == 0 && q.Waiting() == 0 {
		delete(l.hosts, host)
	}
}
