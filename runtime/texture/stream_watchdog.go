package texture

import (
	"errors"
	"fmt"
	"time"
)

// ErrTimeout is matched by the error of a texture that was on its way for too
// long.
var ErrTimeout = errors.New("texture: it did not come in time")

// defaultTimeout is that of the other tiers.
const defaultTimeout = 60 * time.Second

// watchdog gives up on loads and uploads that take too long: none may keep a slot
// for good. What comes after that is not waited for.
func (s *Streamer) watchdog() {
	for k := 0; k < len(s.flights); {
		f := &s.flights[k]
		if s.now-f.started <= s.options.Timeout {
			k++
			continue
		}
		s.stats.Timeouts++
		s.fail(f, fmt.Errorf("%w: it took more than %v", ErrTimeout, s.options.Timeout))
		s.drop(k)
	}
}
