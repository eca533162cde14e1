//go:build !unix

package journal

import (
	"io/fs"
	"os"
)

// syncDir does nothing: this system has no flush of a folder.
func syncDir(*os.Root, string) error { return nil }

// sameVolume cannot tell here.
func sameVolume(_, _ fs.FileInfo) bool { return true }
