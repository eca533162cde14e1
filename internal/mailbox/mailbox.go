// Package mailbox hands messages from any goroutine to the one that owns a Mailbox.
package mailbox

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Message is what a Mailbox holds. Drain sorts messages by Order.
type Message interface{ Order() uint64 }

// Mailbox collects messages until their owner takes them. Its methods are safe for
// concurrent use, and none but Await waits. The zero Mailbox notifies nobody.
type Mailbox[M Message] struct {
	mu     sync.Mutex
	queue  []M
	pushed uint64 // so far
	closed bool
	ready  chan struct{} // capacity 1: holds a token while messages wait
}

// New returns a Mailbox that notifies its owner.
func New[M Message]() Mailbox[M] { return Mailbox[M]{ready: make(chan struct{}, 1)} }

// Ready is readable while messages wait, or after Notify. It is never closed, and nil
// for the zero Mailbox.
func (m *Mailbox[M]) Ready() <-chan struct{} { return m.ready }

// Push adds a message; it is false when the Mailbox is closed.
func (m *Mailbox[M]) Push(x M) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.queue = append(m.queue, x)
	m.pushed++
	m.Notify()
	return true
}

// Notify makes Ready readable without a message.
func (m *Mailbox[M]) Notify() {
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

// Drain moves all messages to dst[:0], sorted by Order; messages of one Order keep the
// order in which they came.
func (m *Mailbox[M]) Drain(dst []M) []M {
	m.mu.Lock()
	select {
	case <-m.ready:
	default:
	}
	dst = append(dst[:0], m.queue...)
	clear(m.queue)
	m.queue = m.queue[:0]
	m.mu.Unlock()
	slices.SortStableFunc(dst, func(x, y M) int { return cmp.Compare(x.Order(), y.Order()) })
	return dst
}

// Await waits until so many messages have been pushed. The error is that of ctx.
func (m *Mailbox[M]) Await(ctx context.Context, messages uint64) error {
	for {
		m.mu.Lock()
		enough := m.pushed >= messages
		m.mu.Unlock()
		if enough {
			m.notifyAgain()
			return nil
		}
		select {
		case <-m.ready:
		case <-ctx.Done():
			m.notifyAgain()
			return ctx.Err()
		}
	}
}

// notifyAgain notifies if messages wait, as Await may have taken the token.
func (m *Mailbox[M]) notifyAgain() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) > 0 {
		m.Notify()
	}
}

// Close refuses messages from now on and returns those that are there.
func (m *Mailbox[M]) Close() []M {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := m.queue
	m.queue, m.closed = nil, true
	return left
}
