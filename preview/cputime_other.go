//go:build !unix

package preview

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
