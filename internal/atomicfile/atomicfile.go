// Package atomicfile writes files that are either complete under their final
// name or not there at all.
//
// The bytes go to a temporary file in the same folder, which is flushed to the
// disk and renamed over the final name. A failure on the way (a full disk, an
// error of the caller, a panic) removes the temporary file and leaves an older
// file of that name as it was. The names of temporary files start with a dot
// and end in [TempSuffix], so that tools can tell them from payloads after a
// crash.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// TempSuffix ends the name of every temporary file.
const TempSuffix = ".untold-tmp"

// ErrDone is returned by the methods of a File after Commit or Abort.
var ErrDone = errors.New("atomicfile: the file is already committed or aborted")

// Options changes how a file is written. The zero value is right for most.
type Options struct {
	// NoSync leaves out the flush to the disk. Without it a crash of the whole
	// machine, not of the process, may leave an empty file under the final
	// name. Meant for the many payloads that a manifest names, which is itself
	// written last and synced.
	NoSync bool
	// IfAbsent makes Commit fail with fs.ErrExist where a file of that name is, also
	// when one appears in the meantime. On file systems without hard links an empty
	// file stands there for a moment.
	IfAbsent bool
	// Wrap, when set, is put between the caller and the temporary file. Tests
	// use it to fail like a full disk.
	Wrap func(io.Writer) io.Writer
}

// Write calls write with a buffered writer and puts what was written under
// path when write returns nil. The folder must exist.
func Write(path string, write func(io.Writer) error) error {
	return WriteWith(path, Options{}, write)
}

// WriteWith is Write with options.
func WriteWith(path string, opts Options, write func(io.Writer) error) error {
	f, err := Create(path, opts)
	if err != nil {
		return err
	}
	defer f.Abort() // after Commit it does nothing
	buf := bufio.NewWriterSize(f, 64<<10)
	if err := write(buf); err != nil {
		return fmt.Errorf("atomicfile: write %s: %w", path, err)
	}
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("atomicfile: write %s: %w", path, err)
	}
	return f.Commit()
}

// File is a file that does not exist under its final name yet. It is not safe
// for use by several goroutines.
type File struct {
	path string
	tmp  *os.File
	out  io.Writer
	opts Options
	err  error // the first failed write; Commit refuses then
	done bool
}

// temps makes the names of this process's temporary files differ.
var temps atomic.Uint64

// Create opens a temporary file beside path. Either Commit or Abort must be
// called on it.
func Create(path string, opts Options) (*File, error) {
	dir, base := filepath.Split(path)
	if base == "" || base == "." || base == ".." {
		return nil, fmt.Errorf("atomicfile: %q names no file: %w", path, fs.ErrInvalid)
	}
	if err := Replaceable(path); err != nil {
		return nil, fmt.Errorf("atomicfile: %w", err)
	}
	tmp, err := createTemp(dir, base)
	if err != nil {
		return nil, fmt.Errorf("atomicfile: %w", err)
	}
	f := &File{path: path, tmp: tmp, out: tmp, opts: opts}
	if opts.Wrap != nil {
		f.out = opts.Wrap(tmp)
	}
	return f, nil
}

// createTemp opens a new file. os.CreateTemp would give it mode 0600; a cooked
// scene should get what the user's umask says.
func createTemp(dir, base string) (*os.File, error) {
	// File systems allow names of 255 bytes; the longest addition has 50.
	if len(base) > 200 {
		// Some of them refuse names that are no UTF-8.
		base = strings.ToValidUTF8(base[:200], "")
	}
	for range 10_000 {
		name := fmt.Sprintf(".%s.%d-%d%s", base, os.Getpid(), temps.Add(1), TempSuffix)
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		// A crashed process with this number may have left the name behind.
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("too many temporary files of %s: remove *%s", filepath.Join(dir, base), TempSuffix)
}

// IsTemp reports whether name, a path or its last element, is that of a
// temporary file of this package.
func IsTemp(name string) bool {
	base := filepath.Base(name)
	return strings.HasPrefix(base, ".") && strings.HasSuffix(base, TempSuffix)
}

// Path returns the final name.
func (f *File) Path() string { return f.path }

// Write appends to the temporary file. After a failed write Commit refuses.
func (f *File) Write(p []byte) (int, error) {
	if f.done {
		return 0, ErrDone
	}
	n, err := f.out.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil && f.err == nil {
		f.err = err
	}
	return n, err
}

// Commit flushes the bytes to the disk and gives the file its final name. On
// an error the temporary file is removed and the final name is untouched.
func (f *File) Commit() error {
	if f.done {
		return ErrDone
	}
	if err := f.commit(); err != nil {
		f.Abort()
		return fmt.Errorf("atomicfile: write %s: %w", f.path, err)
	}
	return nil
}

func (f *File) commit() error {
	if f.err != nil {
		return f.err
	}
	if !f.opts.NoSync {
		if err := f.tmp.Sync(); err != nil {
			return err
		}
	}
	// Windows does not rename open files.
	if err := f.tmp.Close(); err != nil {
		return err
	}
	if f.opts.IfAbsent {
		if err := linkNew(f.tmp.Name(), f.path); err != nil {
			return err
		}
	} else if err := rename(f.tmp.Name(), f.path); err != nil {
		return err
	}
	f.done = true
	if !f.opts.NoSync {
		SyncDir(filepath.Dir(f.path))
	}
	return nil
}

// linkNew gives a file a name that nobody has.
func linkNew(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil:
		// The file is in its place; that its old name stays is no failure of that.
		_ = os.Remove(from)
		return nil
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return err
	}
	return renameNew(from, to)
}

// renameNew is linkNew where there are no hard links: it takes the name first.
func renameNew(from, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := rename(from, to); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// Abort removes the temporary file. After Commit or another Abort it does
// nothing, so that it can be deferred.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	f.tmp.Close() // already closed when the rename failed
	os.Remove(f.tmp.Name())
}
