//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package cook

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// hold marks a folder as in use until release is called or the process ends,
// however it ends. The error is about a folder that is not there.
func hold(dir string) (release func(), state holding, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, unsure, err
	}
	release = func() { f.Close() }
	err = unix.EINTR
	for errors.Is(err, unix.EINTR) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		release()
		return nil, busy, nil
	case err != nil: // a file system without locks
		return release, unsure, nil
	}
	// Between the opening and the lock somebody may have removed the folder.
	mine, err := f.Stat()
	if err == nil {
		var there fs.FileInfo
		if there, err = os.Stat(dir); err == nil && !os.SameFile(mine, there) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		release()
		return nil, unsure, err
	}
	return release, held, nil
}
