package remote

import (
	"context"
	"sync"
)

// singleflight lets callers that want the same file at the same time share one
// download, which ends early only when all of them have gone.
type singleflight struct {
	mu sync.Mutex
	m  map[string]*flight
}

type flight struct {
	done    chan struct{}
	waiters int
	cancel  context.CancelFunc
	file    cachedFile
	err     error
}

// cachedFile is a file that a download or the cache gives.
type cachedFile struct {
	entry   Entry
	changed bool // the bytes are not those that the cache had
	stale   bool // the server was asked in vain
}

// do runs the download of a key, or joins the one that runs. start runs it in a
// goroutine, unless it is closed and says so. The context of run ends with base, or
// when nobody waits any more. joined says that another caller has started the
// download.
func (s *singleflight) do(ctx, base context.Context, key string, start func(func()) bool, run func(context.Context) (cachedFile, error)) (file cachedFile, joined bool, err error) {
	if ctx.Err() != nil {
		return cachedFile{}, false, context.Cause(ctx)
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
			return cachedFile{}, false, ErrClosed
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
		s.remove(key, fl) // nobody may join a download that is being cancelled
	}
	s.mu.Unlock()
	return cachedFile{}, joined, context.Cause(ctx)
}

func (s *singleflight) remove(key string, fl *flight) {
	if s.m[key] == fl {
		delete(s.m, key)
	}
}
