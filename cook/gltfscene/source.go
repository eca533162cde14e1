package gltfscene

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/untoldkit/untold/internal/filestamp"
	"github.com/untoldkit/untold/internal/plainfile"
)

// source opens the files beside a glTF file. Names are slash-separated and
// relative to its folder.
type source interface {
	// open returns a regular file, and what it is.
	open(name string) (file, fs.FileInfo, error)
	// path returns the absolute path of name for messages and Image.file, ""
	// if there is none.
	path(name string) string
}

// file is an open file that can be read by ranges.
type file interface {
	io.ReaderAt
	io.Closer
}

// noSource is the source of a file in memory.
type noSource struct{}

func (noSource) open(string) (file, fs.FileInfo, error) { return nil, nil, fs.ErrNotExist }
func (noSource) path(string) string                     { return "" }

// fsSource reads from an fs.FS, which by its contract cannot be left.
type fsSource struct {
	fsys fs.FS
	dir  string
}

func (s fsSource) path(string) string { return "" }

func (s fsSource) open(name string) (file, fs.FileInfo, error) {
	name = path.Join(s.dir, name)
	if !fs.ValidPath(name) {
		return nil, nil, &Error{Reason: "uri " + quote(name) + " leaves the file system", Err: ErrOutsideFolder}
	}
	f, err := s.fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	if at, ok := f.(file); ok {
		return at, info, nil
	}
	return &forward{f: f, size: info.Size()}, info, nil
}

// forward is a file that can only be read from its beginning to its end, such as one in a
// zip archive: all of it is kept once some of it is read.
type forward struct {
	f    fs.File
	size int64
	once sync.Once
	data []byte
	err  error
}

func (f *forward) ReadAt(b []byte, off int64) (int, error) {
	f.once.Do(func() {
		// It may hold less than it says.
		f.data, f.err = io.ReadAll(io.LimitReader(f.f, f.size))
	})
	if f.err != nil {
		return 0, f.err
	}
	return bytes.NewReader(f.data).ReadAt(b, off)
}

func (f *forward) Close() error { return f.f.Close() }

var errNotRegular = errors.New("is not a regular file")

// dirSource reads from a folder of the operating system. Unless parents is
// set, neither ".." nor a symbolic link gets out of it.
type dirSource struct {
	dir     string
	parents bool
}

func (s dirSource) path(name string) string {
	p := filepath.Join(s.dir, filepath.FromSlash(name))
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return p
}

func (s dirSource) open(name string) (file, fs.FileInfo, error) {
	local := filepath.FromSlash(name)
	if s.parents {
		f, info, err := openRegular(filepath.Join(s.dir, local))
		if err != nil {
			return nil, nil, err
		}
		return f, info, nil
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	f, st, err := plainfile.OpenIn(root, local)
	if err == nil {
		return f, st, nil
	}
	if errors.Is(err, plainfile.ErrNotPlain) {
		return nil, nil, errNotRegular
	}
	if !errors.Is(err, fs.ErrNotExist) {
		// The file exists for the system, but not within the root: a link.
		if _, statErr := os.Stat(filepath.Join(s.dir, local)); statErr == nil && !errors.Is(err, fs.ErrPermission) {
			err = &Error{
				Reason: "file " + quote(name) + " is reached by a link that leaves the file's folder",
				Hint:   "Options.AllowParentPaths permits it for files that you trust", Err: ErrOutsideFolder,
			}
		}
	}
	return nil, nil, err
}

// openRegular opens a file by its path; messages name it already.
func openRegular(name string) (*os.File, fs.FileInfo, error) {
	f, st, err := plainfile.Open(name)
	if errors.Is(err, plainfile.ErrNotPlain) {
		err = errNotRegular
	}
	if err != nil {
		return nil, nil, err
	}
	return f, st, nil
}

// external is a file that a URI names.
type external struct {
	src   source
	name  string
	size  int64
	stamp filestamp.Stamp // when it was found
}

// find looks up the file that a relative URI names.
func find(src source, uri string, parents bool) (external, error) {
	names, err := localNames(uri, parents)
	if err != nil {
		return external{}, err
	}
	for _, name := range names {
		f, info, err := src.open(name)
		if err == nil {
			f.Close()
			return external{src, name, info.Size(), filestamp.Of(info)}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return external{}, openError(name, err)
		}
	}
	e := &Error{Reason: fmt.Sprintf("file %s is missing", quote(names[0])), Err: errors.Join(ErrMissingFile, fs.ErrNotExist)}
	if p := src.path(names[0]); p != "" {
		e.Hint = "looked for " + p
	}
	return external{}, e
}

func openError(name string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	return &Error{Reason: fmt.Sprintf("file %s %s", quote(name), unreadable(err)), Err: errors.Join(ErrMissingFile, err)}
}

// sceneError is openError about the scene itself, whose name the caller puts in front.
func sceneError(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	return &Error{Reason: unreadable(err), Err: errors.Join(ErrMissingFile, err)}
}

// unreadable says why a file was not opened.
func unreadable(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "may not be read (permission denied)"
	}
	return fmt.Sprintf("cannot be read: %v", err)
}

// reader makes an external file a store. The file is opened for every use, since a scene
// may name more files than can be open at a time.
func (x *external) reader() (ranges, func(), error) {
	f, info, err := x.src.open(x.name)
	if err != nil {
		return ranges{}, nil, openError(x.name, err)
	}
	if filestamp.Of(info) != x.stamp {
		f.Close()
		return ranges{}, nil, changed(x.name)
	}
	return ranges{at: namedReader{f, x.name}}, func() { f.Close() }, nil
}

// extent returns the first n bytes of the file, which has as many.
func (x external) extent(n int64) (extent, error) {
	const pointer = 200 // a pointer is shorter; one may be as long as the buffer
	if x.size < max(n, pointer) {
		if what, remedy := x.standIn(); what != "" {
			e := malformed("", "file %s is %s", quote(x.name), what)
			e.Hint = remedy
			return extent{}, e
		}
	}
	if x.size < n {
		return extent{}, malformed("", "file %s has %d bytes, %d are needed", quote(x.name), x.size, n)
	}
	return extent{&x, 0, int(n)}, nil
}

// standIn says what stands in the place of a file that was never fetched, if it does.
func (x *external) standIn() (what, remedy string) {
	head, err := extent{x, 0, int(min(x.size, 64))}.bytes()
	if err != nil {
		return "", ""
	}
	return plainfile.StandIn(head)
}

// baseName returns a file's name without folder and without extension.
func baseName(name string) (base, stem string) {
	base = filepath.Base(name)
	return base, strings.TrimSuffix(base, filepath.Ext(base))
}
