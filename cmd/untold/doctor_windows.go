package main

import (
	"math"

	"golang.org/x/sys/windows"
)

// mostFiles is 0: Windows has no such limit.
func mostFiles() uint64 { return 0 }

// freeSpace is what a folder's disk has for this user in bytes, 0 where that is
// not known.
func freeSpace(dir string) int64 {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0
	}
	return int64(min(free, math.MaxInt64))
}
