// Command assemble builds a large city or dungeon out of a folder of glTF kit
// parts. Parts become shared meshes that many nodes place on the kit's grid;
// materials and images that several parts hold are written once.
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
