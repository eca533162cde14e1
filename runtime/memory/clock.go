package memory

import "time"

// Clock tells the time and waits.
type Clock interface {
	// Now returns the time since an arbitrary but fixed origin. It never goes
	// back.
	Now() time.Duration
	// After returns a channel that delivers once d has passed.
	After(d time.Duration) <-chan time.Time
}

type systemClock struct{ start time.Time }

func (c systemClock) Now() time.Duration                     { return time.Since(c.start) }
func (c systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

func clockOr(c Clock) Clock {
	if c == nil {
		return systemClock{time.Now()}
	}
	return c
}
