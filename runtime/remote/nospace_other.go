//go:build !unix && !windows

package remote

// noSpace cannot tell here.
func noSpace(error) bool { return false }
