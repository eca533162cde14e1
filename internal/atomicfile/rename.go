package atomicfile

import (
	"fmt"
	"os"
	"time"
)

// What rename uses; tests replace it.
var (
	osRename = os.Rename
	sleep    = time.Sleep
)

// renameTries bounds the retries, which take 0.6 s in all.
const renameTries = 7

// rename gives the file its final name. On Windows this fails while another
// program (a viewer, a virus scanner) has the target open, usually for a short
// time.
func rename(from, to string) error {
	pause := 10 * time.Millisecond
	for try := 1; ; try++ {
		err := osRename(from, to)
		if err == nil {
			return nil
		}
		if !inUse(err) {
			return err
		}
		if try == renameTries {
			return fmt.Errorf("%w (another program has the file open: close it and try again)", err)
		}
		sleep(pause)
		pause *= 2
	}
}
