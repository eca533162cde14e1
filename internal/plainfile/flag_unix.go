//go:build unix

package plainfile

import "golang.org/x/sys/unix"

// NonBlocking is a flag for os.OpenFile that makes opening a pipe return at once.
const NonBlocking = unix.O_NONBLOCK
