//go:build unix

// Package filemap maps files into memory.
package filemap

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Range maps n bytes of a file from off on. Bytes behind the file's end fault when
// they are touched. Where there is no mapping the error matches
// errors.ErrUnsupported.
func Range(f *os.File, off, n int64) (b []byte, release func(), err error) {
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

// Whole maps a file of size bytes for reading.
func Whole(f *os.File, size int64) ([]byte, func() error, error) {
	if int64(int(size)) != size {
		return nil, nil, errors.New("untold: file too large to map")
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return mem, func() error { return unix.Munmap(mem) }, nil
}
