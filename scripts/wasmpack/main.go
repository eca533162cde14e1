// Command wasmpack makes a WebAssembly program of Go shorter for who fetches it:
//
//	go run ./scripts/wasmpack PROGRAM.wasm
//
// It rewrites the file. The linker writes memory as up to 100,000 segments, one for each
// run between a few zero bytes, whose addresses hardly compress: they become some hundred.
// And it writes which file and line each instruction is of, which stack traces alone
// read: they name functions then, and "?" for files. Nothing that the program computes
// changes.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: wasmpack PROGRAM.wasm")
		os.Exit(2)
	}
	if err := packFile(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "wasmpack:", err)
		os.Exit(1)
	}
}

func packFile(path string) error {
	in, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	out, err := pack(in)
	if errors.Is(err, errTable) {
		// Of a Go that keeps its tables in another way: the program is as good, and longer.
		fmt.Fprintf(os.Stderr, "wasmpack: %s keeps its line numbers: %v\n", path, err)
	} else if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, out, 0o644)
}
