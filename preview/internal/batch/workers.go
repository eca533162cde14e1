package batch

import "github.com/untoldkit/untold/internal/workpool"

// Workers is a Builder with a bounded number of goroutines, which exist only
// while there is work.
type Workers struct {
	jobs *workpool.Pool[*Job]
	pool *Pool
}

// NewWorkers returns a Builder with at most so many goroutines; 0 means 1, which
// merges some gigabytes per second. Pack may be nil.
func NewWorkers(source Source, goroutines int, pack Pack) *Workers {
	pool := &Pool{Pack: pack}
	return &Workers{workpool.New(goroutines, func(job *Job) { job.Finish(job.Merge(source, pool)) }), pool}
}

// Start queues a job.
func (w *Workers) Start(job *Job) {
	if !w.jobs.Start(job) {
		cancel(job)
	}
}

// Close answers what is queued with nothing and waits for the goroutines.
func (w *Workers) Close() error {
	w.jobs.Close(cancel)
	return nil
}

func cancel(job *Job) { job.Finish(Result{}) }
