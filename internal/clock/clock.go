// Package clock is the time of day for packages that take a clock, and waiting for
// it. Packages that count from an origin of their own, and packages that need timers,
// have clocks of another kind.
package clock

import (
	"context"
	"time"
)

// Clock tells the time of day and waits for it. Its methods may be called from many
// goroutines.
type Clock interface {
	Now() time.Time
	// Sleep returns nil when d has passed, or the error of ctx when that ends first.
	Sleep(ctx context.Context, d time.Duration) error
}

// System is the clock of the machine.
type System struct{}

// Now is time.Now.
func (System) Now() time.Time { return time.Now() }

// Sleep returns nil when d has passed, or the error of ctx when that ends first.
func (System) Sleep(ctx context.Context, d time.Duration) error {
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
