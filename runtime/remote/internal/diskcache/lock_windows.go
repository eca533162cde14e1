package diskcache

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks an open file against other processes, or other handles of this
// one; the lock ends with the process, however that ends. The handle must hold
// no lock. Without wait it reports whether the lock was to be had.
func lockFile(f *os.File, exclusive, wait bool) (bool, error) {
	var flags uint32
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func unlockFile(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
}
