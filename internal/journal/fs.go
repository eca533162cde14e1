package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/untoldkit/untold/internal/atomicfile"
)

// FS is the folder of a scene as this package uses it. Names are relative, with
// slashes, "." for the folder itself. Tests replace it to stop and to fail at
// every call.
type FS interface {
	Lstat(name string) (fs.FileInfo, error)
	// ReadDir lists a folder, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	Open(name string) (File, error)
	// Create makes a new file for writing; it fails when the name is taken.
	Create(name string) (File, error)
	Mkdir(name string) error
	Rename(from, to string) error
	// Remove removes a file, a link or an empty folder.
	Remove(name string) error
	// SyncFile flushes a file's bytes to the disk.
	SyncFile(name string) error
	// SyncDir flushes the names in a folder to the disk.
	SyncDir(name string) error
}

// File is an open file of an FS.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	Stat() (fs.FileInfo, error)
}

// Dir is the FS of a folder on the disk. No name leads out of the folder, also
// not by a link.
type Dir struct {
	root   *os.Root
	noSync bool
}

// OpenDir opens a folder. With noSync nothing is flushed: kills are survived,
// power failures are not.
func OpenDir(path string, noSync bool) (*Dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Dir{root, noSync}, nil
}

// Close ends the use of the folder.
func (d *Dir) Close() error { return d.root.Close() }

// Lstat describes a name; it does not follow a link.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) { return d.root.Lstat(filepath.FromSlash(name)) }

// ReadDir lists a folder.
func (d *Dir) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := d.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return compare(a.Name(), b.Name()) })
	return list, err
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Open opens a file for reading.
func (d *Dir) Open(name string) (File, error) { return d.openFile(name) }

func (d *Dir) openFile(name string) (*os.File, error) { return d.root.Open(filepath.FromSlash(name)) }

// Create makes a new file.
func (d *Dir) Create(name string) (File, error) {
	return d.root.OpenFile(filepath.FromSlash(name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

// Mkdir makes a folder.
func (d *Dir) Mkdir(name string) error { return d.root.Mkdir(filepath.FromSlash(name), 0o755) }

// Rename moves a file over another name. On Windows it waits a little for a
// program that has the target open.
func (d *Dir) Rename(from, to string) error {
	return atomicfile.Retry(func() error { return d.root.Rename(filepath.FromSlash(from), filepath.FromSlash(to)) })
}

// Remove removes a file, a link or an empty folder; it waits like Rename.
func (d *Dir) Remove(name string) error {
	return atomicfile.Retry(func() error { return d.root.Remove(filepath.FromSlash(name)) })
}

// SyncFile flushes a file.
func (d *Dir) SyncFile(name string) error {
	if d.noSync {
		return nil
	}
	// Windows flushes through handles for writing alone.
	f, err := d.root.OpenFile(filepath.FromSlash(name), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// SyncDir flushes a folder where the system can.
func (d *Dir) SyncDir(name string) error {
	if d.noSync {
		return nil
	}
	return syncDir(d.root, filepath.FromSlash(name))
}

// SameVolume reports whether a file can be renamed from one folder to another.
func (d *Dir) SameVolume(a, b string) bool {
	x, err1 := d.Lstat(a)
	y, err2 := d.Lstat(b)
	return err1 != nil || err2 != nil || sameVolume(x, y)
}

// RemoveAll removes a folder with all in it, links as links.
func RemoveAll(f FS, name string) error {
	list, err := f.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range list {
		at := name + "/" + e.Name()
		if e.IsDir() {
			err = RemoveAll(f, at)
		} else if err = f.Remove(at); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	if err := f.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RemoveStage removes a stage and the state folder once that is empty.
func RemoveStage(f FS, stage string) error {
	err := RemoveAll(f, Folder+"/"+stage)
	_ = f.Remove(Folder) // fails while it holds something else
	return err
}

// MakeFolder makes the state folder, if need be.
func MakeFolder(f FS) error {
	err := f.Mkdir(Folder)
	if err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	st, err := f.Lstat(Folder)
	if err == nil && !st.IsDir() {
		return fmt.Errorf("%s is no folder: %w", Folder, atomicfile.ErrInTheWay)
	}
	return err
}

// readAll reads a plain file.
func readAll(f FS, name string) ([]byte, error) {
	in, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(in)
	return data, errors.Join(err, in.Close())
}
