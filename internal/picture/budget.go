package picture

import (
	"context"
	"runtime"
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
// What they have given back is collected before others would make it more than
// the budget: garbage takes memory as well, and the collector by itself lets it
// grow to the size of the largest pictures.
type Budget struct {
	size int64
	sem  *semaphore.Weighted

	collect func() // runtime.GC

	mu         sync.Mutex
	used, peak int64
	left       int64 // given back since the last collection
}

// NewBudget returns a budget of size bytes, at least 1.
func NewBudget(size int64) *Budget {
	size = max(1, size)
	return &Budget{size: size, sem: semaphore.NewWeighted(size), collect: runtime.GC}
}

// Take waits until n bytes are free, or all of them when n is more, and
// returns what gives them back. The error is ctx's. Whoever holds some must
// not take more: two of them would wait for each other.
func (b *Budget) Take(ctx context.Context, n int64) (free func(), err error) {
	need := max(0, min(n, b.size))
	if err := b.sem.Acquire(ctx, need); err != nil {
		return nil, err
	}
	if b.count(n) {
		b.collect()
	}
	return func() {
		b.count(-n)
		b.sem.Release(need)
	}, nil
}

// count takes or gives back n bytes and reports whether what has been given back
// is to be collected now.
func (b *Budget) count(n int64) (collect bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used += n
	b.peak = max(b.peak, b.used)
	if n < 0 {
		b.left -= n
		return false
	}
	if b.left > 0 && b.left+b.used > b.size {
		b.left = 0
		return true
	}
	return false
}

// Peak returns the most bytes that were held at a time.
func (b *Budget) Peak() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.peak
}
