// Package testfile reads and writes the files of tests, which it ends where that
// fails.
package testfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Read returns what a file holds.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Write writes a file, and the folders above it that are not there; it returns
// the path.
func Write[T ~string | ~[]byte](t testing.TB, path string, data T) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// WriteTree writes the files below a folder, by their names with slashes.
func WriteTree(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
}

// ReadTree is the reverse of WriteTree, without the state of cooked folders; a folder
// that is not there holds nothing.
func ReadTree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if at := filepath.Dir(path); filepath.Base(at) == ".untold" {
			switch filepath.Ext(path) { // what a cook remembers is no part of what it made
			case ".kept":
				return filepath.SkipDir
			case ".state":
				return nil
			}
		}
		if d.IsDir() {
			return nil
		}
		name, err := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(Read(t, path))
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}
