package remote

import "time"

// Clock tells the time and wakes sleepers. Tests replace it.
type Clock interface {
	// Now returns the time of day. It need not be monotonic.
	Now() time.Time
	// AfterFunc calls f in a goroutine of its own when d has passed. stop
	// prevents the call and reports whether it did.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// SystemClock is the clock of the machine.
type SystemClock struct{}

// Now returns time.Now.
func (SystemClock) Now() time.Time { return time.Now() }

// AfterFunc is time.AfterFunc.
func (SystemClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}
