//go:build unix

package stats

import (
	"syscall"
	"time"
)

// CPUTime returns what all threads of the program have computed so far, those
// of a software renderer included: on a machine that others use as well it says
// more than the clock.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
