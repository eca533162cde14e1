package batch

import (
	"cmp"
	"slices"
	"sync"
)

// answers collects results until the next Update.
type answers struct {
	mu     sync.Mutex
	queue  []answer
	closed bool
}

type answer struct {
	job    *Job
	result Result
}

func (a *answers) post(x answer) {
	a.mu.Lock()
	closed := a.closed
	if !closed {
		a.queue = append(a.queue, x)
	}
	a.mu.Unlock()
	if closed {
		x.result.release()
	}
}

// drain appends all answers to dst, in order of their tokens.
func (a *answers) drain(dst []answer) []answer {
	a.mu.Lock()
	n := len(dst)
	dst = append(dst, a.queue...)
	clear(a.queue)
	a.queue = a.queue[:0]
	a.mu.Unlock()
	slices.SortFunc(dst[n:], func(x, y answer) int { return cmp.Compare(x.job.Token, y.job.Token) })
	return dst
}

// close releases what has come and all that will.
func (a *answers) close() {
	a.mu.Lock()
	queue := a.queue
	a.queue, a.closed = nil, true
	a.mu.Unlock()
	for i := range queue {
		queue[i].result.release()
	}
}

func (r *Result) release() {
	for i := range r.Merged {
		r.Merged[i].Buffers.Release()
		r.Merged[i].Buffers = nil
	}
}
