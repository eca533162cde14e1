//go:build unix

package plainfile

import "golang.org/x/sys/unix"

// nonblocking makes opening a pipe return at once.
const nonblocking = unix.O_NONBLOCK
