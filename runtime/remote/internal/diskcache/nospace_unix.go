//go:build unix

package diskcache

import (
	"errors"
	"syscall"
)

// noSpace reports whether a write failed because the disk, or the user's share
// of it, is full.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
