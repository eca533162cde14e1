package runtime

import (
	"cmp"
	"slices"
	"sync"
)

// Completions collects the answers of loaders and fetchers until the next
// Update. Its methods are safe for concurrent use and never block.
type Completions struct {
	mu     sync.Mutex
	queue  []completion
	closed bool
	notify chan struct{}    // holds a token while answers wait; may be nil
	divert func(completion) // takes the answers instead of the queue, when set
}

// completion is one answer: of a Fetcher when fetched is set, else of a Loader.
type completion struct {
	token   uint64
	fetched bool
	local   Fetched
	result  Result
}

// Loaded answers a Loader's request.
func (c *Completions) Loaded(token uint64, r Result) {
	if !c.post(completion{token: token, result: r}) {
		r.Asset.Release()
	}
}

// Fetched is what a Fetcher brought.
type Fetched struct {
	File string // path of the payload on the local disk
	// Dir is the folder that the payload's texture URIs are relative to; "": the
	// folder of File.
	Dir string
	// Ranges is set in the place of File when the payload comes in parts: its
	// tables have been brought. Only where Request.Split allows it.
	Ranges Ranges
}

// Fetched answers a Fetcher's request with a local file, or an error.
func (c *Completions) Fetched(token uint64, local Fetched, err error) {
	c.post(completion{token: token, fetched: true, local: local, result: Result{Err: err}})
}

func (c *Completions) post(x completion) bool {
	if c.divert != nil {
		c.divert(x)
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.queue = append(c.queue, x)
	c.wake()
	return true
}

// wake says that there is something for the next Update.
func (c *Completions) wake() {
	select {
	case c.notify <- struct{}{}:
	default:
	}
}

// drain moves all answers to dst[:0], in order of their tokens. Two answers of
// one token (fetched, then loaded) keep the order in which they came.
func (c *Completions) drain(dst []completion) []completion {
	c.mu.Lock()
	select {
	case <-c.notify:
	default:
	}
	dst = append(dst[:0], c.queue...)
	clear(c.queue)
	c.queue = c.queue[:0]
	c.mu.Unlock()
	slices.SortStableFunc(dst, func(a, b completion) int { return cmp.Compare(a.token, b.token) })
	return dst
}

// close drops what is queued and everything that comes later.
func (c *Completions) close() {
	c.mu.Lock()
	queue := c.queue
	c.queue, c.closed = nil, true
	c.mu.Unlock()
	for i := range queue {
		queue[i].result.Asset.Release()
	}
}
