// Command gen makes test scenes: a procedural city, a forest, a coast, an office building or
// a field of box buildings as glTF, deterministic by seed and of any size.
// docs/test-scenes.md lists what the scenes hold.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	err := run(os.Args[1:], os.Stderr)
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	default:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
