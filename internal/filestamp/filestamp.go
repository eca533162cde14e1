// Package filestamp tells whether a file is the one that it was, without reading it:
// by its size, the time of its last change and its number in the file system.
package filestamp

import "io/fs"

// Stamp is how a file was seen.
type Stamp struct {
	Size   int64  `json:"size"`
	Time   int64  `json:"mtime_ns"`        // of the last change, nanoseconds since 1970
	Number uint64 `json:"inode,omitempty"` // 0 where the system has none
}

// Of returns the stamp of a file.
func Of(info fs.FileInfo) Stamp {
	return Stamp{info.Size(), info.ModTime().UnixNano(), number(info)}
}

// Racy reports whether a file that was read at a time may have changed since without
// that its stamp shows it: it had changed so shortly before that a further change could
// fall on the same tick of the file system's clock, which can be as long as two seconds.
func (s Stamp) Racy(read int64) bool { return read-s.Time < 2_000_000_000 }
