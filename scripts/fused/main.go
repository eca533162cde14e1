// Command fused lists what may round differently on another machine in what a cook
// writes:
//
//	go run ./scripts/fused
//
// Go allows x*y + z to be one instruction that rounds once, and compilers for arm64,
// ppc64, riscv64, s390x and for amd64 from GOAMD64=v3 make use of it, also across
// statements and calls that are inlined. Only a conversion, float64(x*y) + z, keeps them
// from it. So the program is built for arm64, which fuses all that any of the others
// does, and read: every such instruction, and every call of a function of package math
// that has one, is an error, unless its function is allowed with a reason (allowed.go).
// Calls through variables are not seen.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	all := flag.Bool("all", false, "list what is allowed, too")
	flag.Parse()
	if err := run(*all); err != nil {
		fmt.Fprintln(os.Stderr, "fused:", err)
		os.Exit(1)
	}
}

func run(all bool) error {
	dir, err := os.MkdirTemp("", "fused")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := build(dir, "./cmd/untold")
	if err != nil {
		return err
	}
	found, err := scan(binary)
	if err != nil {
		return err
	}
	bad, stale := judge(found, allowed)
	if all {
		bad = found
	}
	for _, f := range bad {
		fmt.Println(f)
	}
	for _, a := range stale {
		fmt.Printf("allowed.go: %s: nothing there is fused any more\n", a.function)
	}
	switch {
	case all:
		return nil
	case len(bad)+len(stale) > 0:
		return fmt.Errorf("%d places that round differently where products are fused: convert each product that is summed, float64(x*y) + z, "+
			"and replace functions of math by those of internal/geom; %d entries of allowed.go that are not needed", len(bad), len(stale))
	}
	fmt.Printf("nothing that a cook writes depends on fused instructions; %d allowed elsewhere\n", len(found))
	return nil
}

// build builds a package for arm64 and returns the program's path. The system is the one
// whose programs a test builds, too, so that its packages are compiled once.
func build(dir, pkg string) (string, error) {
	goTool := os.Getenv("GO")
	if goTool == "" {
		goTool = "go"
	}
	out := filepath.Join(dir, "program")
	cmd := exec.Command(goTool, "build", "-trimpath", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go build %s for arm64: %w", pkg, err)
	}
	return out, nil
}
