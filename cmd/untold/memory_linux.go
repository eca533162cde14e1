package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"
)

// addressSpace returns the bytes of address space that this process may still
// fill, by its resource limit and the system files below root: math.MaxInt64
// without a limit. A quarter is for stacks of threads and for what is reserved and
// not used.
func addressSpace(root string) int64 {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &l); err != nil {
		return math.MaxInt64
	}
	return spaceWithin(l.Cur, root)
}

// spaceWithin is addressSpace for a limit in bytes.
func spaceWithin(limit uint64, root string) int64 {
	if limit > math.MaxInt64 {
		return math.MaxInt64
	}
	var pages int64
	if text, err := os.ReadFile(filepath.Join(root, "proc", "self", "statm")); err == nil {
		_, _ = fmt.Sscan(string(text), &pages)
	}
	return max(1, (int64(limit)-pages*int64(os.Getpagesize()))/4*3)
}
