//go:build !windows

package atomicfile

import "os"

// inUse reports whether a rename failed because the target is open, which only
// Windows minds.
var inUse = func(error) bool { return false }

// SyncDir flushes a folder, so that the new name survives a crash of the
// machine. Not every file system can; the file itself is already safe.
func SyncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}
