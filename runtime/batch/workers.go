package batch

import "sync"

// Workers is a Builder with a bounded number of goroutines, which exist only
// while there is work.
type Workers struct {
	source  Source
	pool    *Pool
	limit   int
	mu      sync.Mutex
	queue   []*Job
	running int
	closed  bool
	done    sync.WaitGroup
}

// NewWorkers returns a Builder with at most so many goroutines; 0 means 1, which
// merges some gigabytes per second.
func NewWorkers(source Source, goroutines int) *Workers {
	return &Workers{source: source, pool: &Pool{}, limit: max(1, goroutines)}
}

// Start queues a job.
func (w *Workers) Start(job *Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		job.Finish(Result{})
		return
	}
	w.queue = append(w.queue, job)
	if w.running < w.limit {
		w.running++
		w.done.Go(w.work)
	}
}

func (w *Workers) work() {
	for {
		w.mu.Lock()
		if len(w.queue) == 0 {
			w.running--
			w.mu.Unlock()
			return
		}
		job := w.queue[0]
		w.queue = w.queue[1:]
		w.mu.Unlock()
		job.Finish(job.Merge(w.source, w.pool))
	}
}

// Close answers what is queued with nothing and waits for the goroutines.
func (w *Workers) Close() error {
	w.mu.Lock()
	w.closed = true
	queue := w.queue
	w.queue = nil
	w.mu.Unlock()
	for _, job := range queue {
		job.Finish(Result{})
	}
	w.done.Wait()
	return nil
}
