//go:build !unix && !windows

package diskcache

// noSpace cannot tell here.
func noSpace(error) bool { return false }
