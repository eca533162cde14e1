package manifest

import "time"

// stopwatch adds up the time of several runs.
type stopwatch struct{ total time.Duration }

func (s *stopwatch) time(f func()) {
	start := time.Now()
	f()
	s.total += time.Since(start)
}
