// Command lodbench measures the simplifier: it reduces models to several
// ratios, measures how far each result lies from its original, and compares
// the figures with those of other simplifiers.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	default:
		fmt.Fprintln(os.Stderr, "lodbench:", err)
		os.Exit(1)
	}
}
