// Package walltime is the clock on the wall for packages that take a clock.
package walltime

import (
	"context"
	"time"
)

// Clock tells the time of the machine and waits for it.
type Clock struct{}

// Now is time.Now.
func (Clock) Now() time.Time { return time.Now() }

// Sleep returns nil when d has passed, or the error of ctx when that ends first.
func (Clock) Sleep(ctx context.Context, d time.Duration) error {
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
