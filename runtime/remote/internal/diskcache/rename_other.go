//go:build !windows

package diskcache

// inUse reports whether a rename failed because the target is open, which only
// Windows minds.
func inUse(error) bool { return false }
