package atomicfile

import (
	"errors"

	"golang.org/x/sys/windows"
)

// inUse reports whether a rename failed because the target is open; a variable
// for the tests.
var inUse = func(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
		errors.Is(err, windows.ERROR_ACCESS_DENIED) ||
		errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

// SyncDir does nothing: Windows has no flush of a folder.
func SyncDir(string) {}
