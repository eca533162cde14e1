//go:build !unix

package plainfile

const nonblocking = 0
