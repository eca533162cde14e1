//go:build linux || darwin

package main

import "golang.org/x/sys/unix"

// mostFiles is how many files this program may have open, 0 where that is not
// known.
func mostFiles() uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0
	}
	return l.Cur
}

// freeSpace is what a folder's disk has for this user in bytes, 0 where that is
// not known.
func freeSpace(dir string) int64 {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
