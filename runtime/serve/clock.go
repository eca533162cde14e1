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

// systemClock is the Clock of the machine.
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
