package picture

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// What one picture of a scene may have, by its header, for those who decode
// pictures to look at them: 8192 x 8192 pixels, and 1 GiB while it is decoded,
// which all forms keep to but JPEG that comes in many passes.
const (
	MaxPixels = 8192 * 8192
	MaxBytes  = 1 << 30
)

// Budget shares memory among decoders: those that would need more together
// wait for each other, and one that needs all of it, or more, works alone.
type Budget struct {
	size int64
	sem  *semaphore.Weighted

	mu         sync.Mutex
	used, peak int64
}

// NewBudget returns a budget of size bytes, at least 1.
func NewBudget(size int64) *Budget {
	size = max(1, size)
	return &Budget{size: size, sem: semaphore.NewWeighted(size)}
}

// Take waits until n bytes are free, or all of them when n is more, and
// returns what gives them back. The error is ctx's. Whoever holds some must
// not take more: two of them would wait for each other.
func (b *Budget) Take(ctx context.Context, n int64) (free func(), err error) {
	need := max(0, min(n, b.size))
	if err := b.sem.Acquire(ctx, need); err != nil {
		return nil, err
	}
	b.count(n)
	return func() {
		b.count(-n)
		b.sem.Release(need)
	}, nil
}

func (b *Budget) count(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used += n
	b.peak = max(b.peak, b.used)
}

// Peak returns the most bytes that were held at a time.
func (b *Budget) Peak() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.peak
}
