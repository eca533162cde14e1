package diskcache

import (
	"errors"

	"golang.org/x/sys/windows"
)

// inUse reports whether a rename failed because the target is open.
func inUse(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED) ||
		errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}
