package diskcache

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/internal/plainfile"
)

// Disk is the folder of a cache as the cache uses it. Names are relative to the
// folder, with the separators of the system. Tests replace it with one that fails
// and forgets.
type Disk interface {
	Open(name string) (File, error)
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	ReadFile(name string) ([]byte, error)
	WriteFile(name string, data []byte, perm fs.FileMode) error
	ReadDir(name string) ([]fs.DirEntry, error)
	Lstat(name string) (fs.FileInfo, error)
	MkdirAll(name string, perm fs.FileMode) error
	Rename(from, to string) error
	Remove(name string) error
	Close() error
}

// File is an open file of a Disk.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}

// rootDisk is a folder of the system. It opens regular files alone: a pipe would
// make its reader wait, a device may never end. It follows no links, not even those
// that stay inside: what a link names is not the cache's.
type rootDisk struct{ root *os.Root }

// Open opens a file for reading.
func (d rootDisk) Open(name string) (File, error) { return d.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a file, or makes it.
func (d rootDisk) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	info, err := d.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, &kindError{name, info.Mode().Type()}
	}
	if err != nil && (!missing(err) || flag&os.O_CREATE == 0) {
		return nil, err
	}
	f, err := openRegular(d.root, name, flag, perm)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// openRegular opens a file, or makes it; what is none by now is an error and waits
// for nobody.
func openRegular(root *os.Root, name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := root.OpenFile(name, flag|plainfile.NonBlocking, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &kindError{name, info.Mode().Type()}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// kindError says that a name stands for something else than a file: a folder, a
// link, a pipe or a device, of which nothing is read. It matches fs.ErrInvalid.
type kindError struct {
	name string
	mode fs.FileMode // the type bits
}

// Error names it.
func (e *kindError) Error() string {
	kind := plainfile.Kind(e.mode)
	if e.mode&fs.ModeSymlink != 0 {
		kind = "link"
	}
	return fmt.Sprintf("%s is a %s, not a regular file", e.name, kind)
}

// Is makes errors.Is find fs.ErrInvalid.
func (e *kindError) Is(target error) bool { return target == fs.ErrInvalid }

// ReadFile reads a file.
func (d rootDisk) ReadFile(name string) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// WriteFile makes a file with a content.
func (d rootDisk) WriteFile(name string, data []byte, perm fs.FileMode) error {
	f, err := d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// ReadDir lists a folder by name.
func (d rootDisk) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := d.noLinks(name); err != nil {
		return nil, err
	}
	return fs.ReadDir(d.root.FS(), filepath.ToSlash(name))
}

// Lstat tells what a name is, without following it.
func (d rootDisk) Lstat(name string) (fs.FileInfo, error) {
	if err := d.noLinks(name); err != nil {
		return nil, err
	}
	return d.root.Lstat(name)
}

// MkdirAll makes a folder and those above it.
func (d rootDisk) MkdirAll(name string, perm fs.FileMode) error {
	err := d.noLinks(filepath.Join(name, "x"))
	if missing(err) {
		err = d.root.MkdirAll(name, perm)
	}
	return err
}

// Rename gives a file another name; a file of that name is replaced.
func (d rootDisk) Rename(from, to string) error {
	for _, name := range []string{from, to} {
		if err := d.noLinks(name); err != nil {
			return err
		}
	}
	return d.root.Rename(from, to)
}

// Remove removes a file, a link or an empty folder.
func (d rootDisk) Remove(name string) error {
	if err := d.noLinks(name); err != nil {
		return err
	}
	return d.root.Remove(name)
}

// Close closes the folder.
func (d rootDisk) Close() error { return d.root.Close() }

// noLinks refuses names whose folders are not folders themselves: links, or files.
func (d rootDisk) noLinks(name string) error {
	for i, c := range name {
		if c != filepath.Separator {
			continue
		}
		info, err := d.root.Lstat(name[:i])
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w: %s is no folder", fs.ErrInvalid, name[:i])}
		}
	}
	return nil
}

// folder is the files of a cache, by name: reading, changing and judging them. It knows
// no index and no locks.
type folder struct {
	Disk
	dir    string
	noSync bool
}

// path returns where a name lies.
func (r folder) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// edit opens a file of the cache, changes it and closes it.
func (r folder) edit(name string, flag int, change func(File) error) error {
	f, err := r.OpenFile(filepath.FromSlash(name), flag, 0o600)
	if err != nil {
		return err
	}
	err = change(f)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// tempName makes the name of a temporary file: stem, process and number.
func tempName(stem string) string {
	return fmt.Sprintf("%s.%d-%d%s", stem, os.Getpid(), temps.Add(1), tempSuffix)
}

// isTemp reports whether a name is one that tempName gives.
func isTemp(name string) bool {
	rest, ok := strings.CutSuffix(name, tempSuffix)
	stem, process, dotted := strings.Cut(rest, ".")
	pid, n, dashed := strings.Cut(process, "-")
	return ok && dotted && dashed && digits(pid) && digits(n) && (isKey(stem) || stem == indexStem)
}

// digits reports whether s is a number as it is printed.
func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && len(s) < 20
}
