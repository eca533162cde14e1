// Package holding tells folders that a living process uses from those that a
// killed one has left behind.
package holding

// State is what is known about who uses a folder.
type State int

// The states.
const (
	Unsure State = iota // the system or the file system has no locks
	Held                // by the caller
	Busy                // by somebody else
)
