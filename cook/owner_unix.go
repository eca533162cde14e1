//go:build unix

package cook

import (
	"io/fs"
	"syscall"
)

// sameOwner reports whether two files belong to the same user and the same group.
func sameOwner(a, b fs.FileInfo) bool {
	x, ok1 := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return ok1 && ok2 && x.Uid == y.Uid && x.Gid == y.Gid
}
