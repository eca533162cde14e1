// Command licenses gathers the licence texts of everything that is compiled
// into the binaries, for all systems that they are built for, and writes them
// to internal/licenses/THIRD_PARTY_LICENSES:
//
//	go run ./scripts/licenses
//
// What is compiled in comes from the module graph, not from a list. A module
// without a licence text is an error.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("o", "internal/licenses/THIRD_PARTY_LICENSES", "file to write")
	flag.Parse()
	text, err := generate(".")
	if err == nil {
		err = os.WriteFile(*out, []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}
