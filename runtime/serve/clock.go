package serve

import (
	"context"
	"time"
)

// Clock tells the time and waits. Its methods are called from many goroutines.
type Clock interface {
	Now() time.Time
	// Sleep returns nil when d has passed, or the error of ctx when that ends
	// first.
	Sleep(ctx context.Context, d time.Duration) error
}
