//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package diskcache

import (
	"errors"
	"os"
)

// lockFile cannot exclude other processes here: a cache folder should be used by
// one process at a time.
func lockFile(*os.File, bool, bool) (bool, error) { return false, errors.ErrUnsupported }

func unlockFile(*os.File) error { return nil }
