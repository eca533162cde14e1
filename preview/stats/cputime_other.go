//go:build !unix

package stats

import "time"

// CPUTime is not known here.
func CPUTime() time.Duration { return 0 }
