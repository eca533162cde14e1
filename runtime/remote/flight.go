package remote

import (
	"context"
	"sync"
)

// flights lets callers that want the same thing at the same time share one
// download. It ends early only when all of them have gone.
type flights struct {
	mu sync.Mutex
	m  map[string]*flight
}

type flight struct {
	done    chan struct{}
	waiters int
	cancel  context.CancelFunc
	file    local
	err     error
}

// local is a file that a download or the cache gives.
type local struct {
	entry   Entry
	changed bool // the bytes are not those that the cache had
	stale   bool // the server was asked in vain
	cached  bool // no body came over the network
}

// do runs the download of a key, or joins the one that runs. run is started in
// a goroutine by start, unless that says that it is closed, with a context that
// ends with base or when nobody waits any more. joined says that the download is another caller's.
func (s *flights) do(ctx, base context.Context, key string, start func(func()) bool, run func(context.Context) (local, error)) (file local, joined bool, err error) {
	if ctx.Err() != nil {
		return local{}, false, context.Cause(ctx)
	}
	s.mu.Lock()
	fl, joined := s.m[key]
	if !joined {
		var inner context.Context
		fl = &flight{done: make(chan struct{})}
		inner, fl.cancel = context.WithCancel(base)
		ok := start(func() {
			defer fl.cancel()
			file, err := run(inner)
			s.mu.Lock()
			fl.file, fl.err = file, err
			s.remove(key, fl)
			s.mu.Unlock()
			close(fl.done)
		})
		if !ok {
			fl.cancel()
			s.mu.Unlock()
			return local{}, false, ErrClosed
		}
		s.m[key] = fl
	}
	fl.waiters++
	s.mu.Unlock()
	select {
	case <-fl.done:
		return fl.file, joined, fl.err
	case <-ctx.Done():
	}
	s.mu.Lock()
	if fl.waiters--; fl.waiters == 0 {
		fl.cancel()
		s.remove(key, fl) // who comes now must not join what is being cancelled
	}
	s.mu.Unlock()
	return local{}, joined, context.Cause(ctx)
}

func (s *flights) remove(key string, fl *flight) {
	if s.m[key] == fl {
		delete(s.m, key)
	}
}
