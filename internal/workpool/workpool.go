// Package workpool runs work in a bounded number of goroutines, which exist only
// while there is some.
package workpool

import (
	"context"
	"errors"
	"sync"
)

// Pool does work in the order in which it came. Its methods are safe for
// concurrent use.
type Pool[T any] struct {
	work func(T)

	mu      sync.Mutex
	queue   []T
	running int
	limit   int
	closed  bool
	workers sync.WaitGroup
}

// New returns a pool of at most so many goroutines, at least one, that call work.
func New[T any](limit int, work func(T)) *Pool[T] {
	return &Pool[T]{work: work, limit: max(1, limit)}
}

// Start queues work; it is false once the pool is closed.
func (p *Pool[T]) Start(x T) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.queue = append(p.queue, x)
	if p.running < p.limit {
		p.running++
		p.workers.Go(p.run)
	}
	return true
}

// Beside calls f at once in a goroutine of its own, for work that mostly waits
// and should take no place; Close waits for it too. It is false once the pool is
// closed.
func (p *Pool[T]) Beside(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.workers.Go(f)
	}
	return !p.closed
}

// Wait returns when there is nothing left to do.
func (p *Pool[T]) Wait() { p.workers.Wait() }

// Close hands what is queued to drop, in order, and waits for what is being
// worked at. It may be called more than once.
func (p *Pool[T]) Close(drop func(T)) {
	p.mu.Lock()
	p.closed = true
	queue := p.queue
	p.queue = nil
	p.mu.Unlock()
	for _, x := range queue {
		drop(x)
	}
	p.Wait()
}

func (p *Pool[T]) run() {
	for {
		p.mu.Lock()
		if len(p.queue) == 0 {
			p.running--
			p.mu.Unlock()
			return
		}
		x := p.queue[0]
		var zero T
		p.queue[0] = zero // whatever it holds may go when it is done
		p.queue = p.queue[1:]
		p.mu.Unlock()
		p.work(x)
	}
}

// FirstFailure returns the first of the errors of several pieces of work, in their
// order and not that of the workers. A cancellation is only the echo of another
// failure; err, which may be nil, is returned if there is nothing else.
func FirstFailure(errs []error, err error) error {
	for _, e := range errs {
		if e != nil && !errors.Is(e, context.Canceled) {
			return e
		}
	}
	return err
}
