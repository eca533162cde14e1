package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// build is a way in which the program is built.
type build struct{ goos, goarch, cgo string }

// builds are those of the Makefile and of `go install`: a static binary for
// every system, and the preview's with cgo.
var builds = []build{
	{"linux", "amd64", "0"},
	{"linux", "arm64", "0"},
	{"darwin", "arm64", "0"},
	{"windows", "amd64", "0"},
	{"linux", "amd64", "1"},
	{"darwin", "arm64", "1"},
	{"windows", "amd64", "1"},
}

// pkg is what `go list` tells about a package.
type pkg struct {
	ImportPath string
	Dir        string
	Standard   bool
	CgoFiles   []string
	Module     *module
}

type module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *module
}

// goCommand is the go command that builds: $GO, else go.
func goCommand() string { return cmp.Or(os.Getenv("GO"), "go") }

// packages returns the foreign packages of a build.
func packages(root string, b build) ([]pkg, error) {
	cmd := exec.Command(goCommand(), "list", "-deps", "-json=ImportPath,Dir,Standard,CgoFiles,Module", "./cmd/untold")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+b.goos, "GOARCH="+b.goarch, "CGO_ENABLED="+b.cgo)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s/%s: %w: %s", b.goos, b.goarch, err, strings.TrimSpace(stderr.String()))
	}
	var list []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		case p.Standard || p.Module == nil || p.Module.Main:
			continue
		}
		if p.Module.Replace != nil {
			p.Module = p.Module.Replace
		}
		list = append(list, p)
	}
}

// linked is a module with those of its packages that are compiled in.
type linked struct {
	module
	packages []pkg
}

// graph returns the modules of all builds, sorted by path.
func graph(root string, builds []build) ([]*linked, error) {
	seen := map[string]bool{}
	byPath := map[string]*linked{}
	var all []*linked
	for _, b := range builds {
		list, err := packages(root, b)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			m := byPath[p.Module.Path]
			if m == nil {
				m = &linked{module: *p.Module}
				byPath[m.Path] = m
				all = append(all, m)
			}
			key := p.ImportPath
			if len(p.CgoFiles) > 0 {
				key += " cgo"
			}
			if !seen[key] {
				seen[key] = true
				m.packages = append(m.packages, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b *linked) int { return strings.Compare(a.Path, b.Path) })
	for _, m := range all {
		slices.SortFunc(m.packages, func(a, b pkg) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	}
	return all, nil
}
