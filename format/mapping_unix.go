//go:build unix

package format

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the whole file for reading.
func mapFile(f *os.File, size int64) ([]byte, func() error, error) {
	if int64(int(size)) != size {
		return nil, nil, errors.New("untold: file too large to map")
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return mem, func() error { return unix.Munmap(mem) }, nil
}
