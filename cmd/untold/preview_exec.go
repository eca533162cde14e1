package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/untoldkit/untold/preview"
)

// previewProgram is the same program, built with cgo.
const previewProgram = "untold-preview"

// previewGuard is set for the program that is started, so that two programs
// without a preview do not call each other for ever.
const previewGuard = "UNTOLD_IS_PREVIEW"

// execPreview lets untold-preview do the work of this command line.
func execPreview(ctx context.Context, a *app) error {
	path, err := findPreview()
	if err != nil {
		return err
	}
	if a.verbose {
		a.info("running %s", path)
	}
	return replaceProcess(ctx, a, path, os.Args[1:], append(os.Environ(), previewGuard+"=1"))
}

// findPreview looks for the program beside this one, then in the PATH.
func findPreview() (string, error) {
	if os.Getenv(previewGuard) != "" {
		return "", fmt.Errorf("%s: %w", os.Args[0], preview.ErrUnavailable)
	}
	name := previewProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	self, err := os.Executable()
	if err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		if path := filepath.Join(filepath.Dir(self), name); isProgram(path) && !sameFile(path, self) {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if err == nil && sameFile(path, self) {
		err = errors.New("it is this program")
	}
	if err != nil {
		return "", fmt.Errorf("this program was built without OpenGL, and there is no %s beside it or in the PATH: make build makes both; or go build ./cmd/untold with cgo, a C compiler and the headers that scripts/install-deps.sh installs", name)
	}
	return path, nil
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
