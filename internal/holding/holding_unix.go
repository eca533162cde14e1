//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package holding

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Folder marks a folder as in use until release is called or the process ends,
// however it ends. The error is about a folder that is not there.
func Folder(dir string) (release func(), state State, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, Unsure, err
	}
	release = func() { f.Close() }
	err = unix.EINTR
	for errors.Is(err, unix.EINTR) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		release()
		return nil, Busy, nil
	case err != nil: // a file system without locks
		return release, Unsure, nil
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
		return nil, Unsure, err
	}
	return release, Held, nil
}
