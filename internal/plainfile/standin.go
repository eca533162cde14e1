package plainfile

import (
	"bytes"

	"github.com/untoldkit/untold/internal/bom"
)

// StandIn tells what stands in the place of a file that was never fetched, by its first
// bytes, and what to do about it; both are empty for any other file.
func StandIn(head []byte) (what, remedy string) {
	switch head = bytes.TrimLeft(bom.Trim(head), " \t\r\n"); {
	case bytes.HasPrefix(head, []byte("version https://git-lfs")):
		return "a Git LFS pointer", "run `git lfs pull`"
	case len(head) > 1 && head[0] == '<' && (head[1] == '!' || head[1] == '?' || head[1]|0x20 >= 'a' && head[1]|0x20 <= 'z'):
		return "HTML or XML", "is it a download's error page?"
	}
	return "", ""
}
