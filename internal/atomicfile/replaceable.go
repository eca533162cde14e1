package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// ErrInTheWay says that what has the name of an output must not be replaced.
var ErrInTheWay = errors.New("it is in the way; choose another output")

// Replaceable returns an error when something is at path that a new file must
// not replace: a folder, a device, a pipe, a socket, or a link to one. To
// rename over /dev/null, which root can, would break the whole machine. The
// error matches ErrInTheWay.
func Replaceable(path string) error {
	st, err := os.Lstat(path)
	if err == nil && st.Mode()&fs.ModeSymlink != 0 {
		// Links of /dev such as stdout may lead to plain files.
		if to, _ := os.Readlink(path); strings.HasPrefix(to, "/proc/") {
			return fmt.Errorf("%s is no plain file: %w", path, ErrInTheWay)
		}
		st, err = os.Stat(path)
	}
	switch {
	case err != nil: // the usual case, or writing will tell
		return nil
	case st.IsDir():
		return fmt.Errorf("%s is a folder: %w", path, ErrInTheWay)
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is no plain file: %w", path, ErrInTheWay)
	}
	return nil
}
