// Package web is the page that shows scenes in a browser: package preview in
// WebAssembly (internal/viewer), and what a browser needs around it (page). make build puts
// the program beside the page; where that was not done, FS says so.
package web

import (
	"embed"
	"errors"
	"io/fs"
)

//go:embed page
var files embed.FS

// ErrNotBuilt is matched by the error of FS in a program that was built without the
// viewer, as go build and go install do.
var ErrNotBuilt = errors.New("this program was built without the page that shows scenes in a browser: make build, in a copy of the repository, makes one with it")

// program are the files that make build makes.
var program = [...]string{"viewer.wasm.gz", "wasm_exec.js"}

// FS returns the page: index.html, which refers to the other files as .viewer/NAME.
func FS() (fs.FS, error) {
	page, err := fs.Sub(files, "page")
	if err != nil {
		return nil, err
	}
	for _, name := range program {
		if _, err := fs.Stat(page, name); err != nil {
			return nil, ErrNotBuilt
		}
	}
	return page, nil
}
