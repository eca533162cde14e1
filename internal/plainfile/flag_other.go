//go:build !unix

package plainfile

// NonBlocking is nothing here.
const NonBlocking = 0
