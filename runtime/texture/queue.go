package texture

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrClosed is the answer of a closed Loader.
var ErrClosed = errors.New("texture: the loader is closed")

// Loader reads textures for a Streamer.
type Loader interface {
	// Start begins to read and returns at once. It is called on the owner
	// goroutine of the Streamer, with requests in ascending Token order. Every
	// request is answered exactly once by req.Done.Loaded, from any goroutine and
	// at any later time, also after its Context was cancelled.
	Start(req Request)
}

// Request asks for a texture at a size.
type Request struct {
	// Token is unique and ascends in the order of requests. Answers whose token
	// is no longer current are dropped.
	Token uint64
	Dir   string // the folder that URI is relative to
	URI   string // as the payload has it: not to be trusted
	Use   Use
	// MaxSize is the longest edge of the first level in texels: larger levels
	// of the file are not wanted. At least 1.
	MaxSize int
	Context context.Context
	Done    *Completions
}

// Completions collects the answers of a Loader until the next Update. Its
// methods are safe for concurrent use and do not wait.
type Completions struct {
	mu     sync.Mutex
	queue  []completion
	posted uint64 // answers so far
	closed bool
	notify chan struct{} // capacity 1: holds a token while answers wait
}

type completion struct {
	token uint64
	image *Image
	err   error
}

func newCompletions() *Completions { return &Completions{notify: make(chan struct{}, 1)} }

// Loaded answers a request with an image, or with an error.
func (c *Completions) Loaded(token uint64, img *Image, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.queue = append(c.queue, completion{token, img, err})
	c.posted++
	c.ring()
}

// ring says that answers wait.
func (c *Completions) ring() {
	select {
	case c.notify <- struct{}{}:
	default:
	}
}

// await waits until so many answers have been posted.
func (c *Completions) await(ctx context.Context, answers uint64) error {
	for {
		c.mu.Lock()
		enough, waiting := c.posted >= answers, len(c.queue) > 0
		c.mu.Unlock()
		if enough {
			if waiting {
				c.ring() // the loop may have taken the token
			}
			return nil
		}
		select {
		case <-c.notify:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// drain moves all answers to dst[:0], in order of their tokens, whatever the
// order in which they came.
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
	c.queue, c.closed = nil, true
	c.mu.Unlock()
}
