//go:build unix

package journal

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// syncDir flushes a folder. Some file systems cannot; there the names last as
// well as that file system keeps them.
func syncDir(root *os.Root, name string) error {
	f, err := root.Open(name)
	if errors.Is(err, fs.ErrPermission) {
		return nil // writable, but not readable: it cannot be flushed
	}
	if err != nil {
		return err
	}
	err = f.Sync()
	for _, unable := range []error{syscall.EINVAL, syscall.ENOTSUP, syscall.ENOSYS, syscall.EBADF} {
		if errors.Is(err, unable) {
			err = nil
		}
	}
	return errors.Join(err, f.Close())
}

// sameVolume compares the devices of two files.
func sameVolume(a, b fs.FileInfo) bool {
	x, ok1 := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return !ok1 || !ok2 || x.Dev == y.Dev
}
