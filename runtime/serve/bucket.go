package serve

import (
	"context"
	"sync"
	"time"
)

// burstTime is how much of an idle line's bandwidth is kept for the next
// writer. It makes up for timers that fire late.
const burstTime = 20 * time.Millisecond

// Limits of the pieces in which a limited body is sent: small ones share a
// bandwidth evenly, large ones cost fewer timers.
const (
	minPiece = 1 << 10
	maxPiece = 64 << 10
)

// bucket is a token bucket that all responses of a server share. Writers take
// their turn piece by piece, so that concurrent bodies get equal shares.
type bucket struct {
	rate  float64 // bytes per second
	clock Clock

	mu   sync.Mutex
	free time.Time // when everything that was promised is on the line
}

func newBucket(rate float64, clock Clock) *bucket {
	return &bucket{rate: rate, clock: clock, free: clock.Now()}
}

// piece returns how many bytes to ask for at a time: a hundredth of a second's.
func (b *bucket) piece() int { return int(max(minPiece, min(maxPiece, b.rate/100))) }

// take waits until n more bytes have passed.
func (b *bucket) take(ctx context.Context, n int) error {
	if wait := b.reserve(n); wait > 0 {
		return b.clock.Sleep(ctx, wait)
	}
	return ctx.Err()
}

// reserve returns the time until n more bytes have passed. Who gives up in the
// meantime has used them all the same.
func (b *bucket) reserve(n int) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	if earliest := now.Add(-burstTime); b.free.Before(earliest) {
		b.free = earliest
	}
	b.free = b.free.Add(time.Duration(float64(n) / b.rate * float64(time.Second)))
	return b.free.Sub(now)
}
