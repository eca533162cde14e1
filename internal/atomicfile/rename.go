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

// rename gives the file its final name.
func rename(from, to string) error { return Retry(func() error { return osRename(from, to) }) }

// Retry calls a rename or removal until it no longer fails because another
// program (a viewer, a virus scanner) has the target open, which Windows minds,
// usually for a short time. It gives up after 0.6 s.
func Retry(op func() error) error {
	pause := 10 * time.Millisecond
	for try := 1; ; try++ {
		err := op()
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
