package serve

import "github.com/untoldkit/untold/internal/clock"

// Clock tells the time and waits: Now returns the time of day, and Sleep nil when a
// duration has passed, or the error of its context when that ends first. Its methods
// are called from many goroutines.
type Clock = clock.Clock
