//go:build unix

package filestamp

import (
	"io/fs"
	"syscall"
)

func number(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}
