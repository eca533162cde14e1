// Package inbox hands answers from any goroutine to the one that waits for them.
package inbox

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Message is what a Box holds. Tokens order messages.
type Message interface{ Order() uint64 }

// Box collects messages until their owner takes them. Its methods are safe for
// concurrent use, and none but Await waits. The zero Box has no bell.
type Box[M Message] struct {
	mu     sync.Mutex
	queue  []M
	posted uint64 // so far
	closed bool
	bell   chan struct{} // capacity 1: holds a token while messages wait
}

// New returns a Box with a bell.
func New[M Message]() Box[M] { return Box[M]{bell: make(chan struct{}, 1)} }

// Bell is readable while messages wait, or Ring was called. It is never closed,
// and nil when the Box has none.
func (b *Box[M]) Bell() <-chan struct{} { return b.bell }

// Post adds a message; it is false when the Box is closed.
func (b *Box[M]) Post(m M) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.queue = append(b.queue, m)
	b.posted++
	b.Ring()
	return true
}

// Ring says that there is something to look at.
func (b *Box[M]) Ring() {
	select {
	case b.bell <- struct{}{}:
	default:
	}
}

// Drain moves all messages to dst[:0], in their order, whatever that is in which
// they came; those of one token keep the order in which they came.
func (b *Box[M]) Drain(dst []M) []M {
	b.mu.Lock()
	select {
	case <-b.bell:
	default:
	}
	dst = append(dst[:0], b.queue...)
	clear(b.queue)
	b.queue = b.queue[:0]
	b.mu.Unlock()
	slices.SortStableFunc(dst, func(x, y M) int { return cmp.Compare(x.Order(), y.Order()) })
	return dst
}

// Await waits until so many messages have been posted. The error is that of ctx.
func (b *Box[M]) Await(ctx context.Context, messages uint64) error {
	for {
		b.mu.Lock()
		enough := b.posted >= messages
		b.mu.Unlock()
		if enough {
			b.ringAgain()
			return nil
		}
		select {
		case <-b.bell:
		case <-ctx.Done():
			b.ringAgain()
			return ctx.Err()
		}
	}
}

// ringAgain rings if messages wait, as Await may have taken the token.
func (b *Box[M]) ringAgain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) > 0 {
		b.Ring()
	}
}

// Close refuses everything that comes later and returns what is there.
func (b *Box[M]) Close() []M {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.queue
	b.queue, b.closed = nil, true
	return left
}
