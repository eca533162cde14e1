//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package diskcache

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks an open file against other processes, or other handles of this
// one; the lock ends with the process, however that ends. A shared lock takes
// the place of an exclusive one. Without wait it reports whether the lock was to
// be had. File systems without locks report an error.
func lockFile(f *os.File, exclusive, wait bool) (bool, error) {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(f.Fd()), how)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return false, err
		}
	}
}

func unlockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
