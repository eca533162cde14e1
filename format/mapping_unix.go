//go:build unix

package format

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Lend maps a range of a file for a Lender. Bytes behind the file's end fault
// when they are touched.
func Lend(f *os.File, off, n int64) (b []byte, release func(), err error) {
	page := int64(os.Getpagesize())
	from := off / page * page
	if off < 0 || n <= 0 || off+n < n || int64(int(off+n-from)) != off+n-from {
		return nil, nil, errors.ErrUnsupported
	}
	mem, err := unix.Mmap(int(f.Fd()), from, int(off+n-from), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return mem[off-from:], func() { _ = unix.Munmap(mem) }, nil
}

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
