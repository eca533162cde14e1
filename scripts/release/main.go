// Command release makes what a release consists of, out of a commit:
//
//	make release
//
// It writes an archive for every system (the static program, completions, man
// pages, licences), a CycloneDX bill of materials of each, a Homebrew formula, a
// Scoop manifest, and SHA256SUMS of them all. The same commit and toolchain give
// the same bytes: times are the commit's, entries are sorted, owners are nobody.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

// allTargets are the systems of a release.
const allTargets = "linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64"

func main() {
	var r release
	targets := flag.String("targets", allTargets, "systems, GOOS/GOARCH, separated by spaces")
	flag.StringVar(&r.dir, "o", "out/release", "folder to write: a new or empty one, or that of an earlier release, whose files (its SHA256SUMS names them) are replaced; one with anything else in it is refused")
	flag.StringVar(&r.base, "base", "", "address that the archives will have, for the formula and the manifest (default: the releases of the module's path)")
	flag.BoolVar(&r.withoutPage, "without-page", false, "leave the page of untold serve out, for a quick check")
	flag.BoolVar(&r.dirty, "dirty", false, "allow changes that are not committed; the archives are no release then")
	flag.Parse()
	for t := range strings.FieldsSeq(*targets) {
		goos, goarch, ok := strings.Cut(t, "/")
		if !ok || goos == "" || goarch == "" {
			fmt.Fprintf(os.Stderr, "release: %q is no system; write GOOS/GOARCH, such as linux/amd64\n", t)
			os.Exit(2)
		}
		r.targets = append(r.targets, target{goos, goarch})
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := r.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}
