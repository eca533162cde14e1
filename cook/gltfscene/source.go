package gltfscene

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/internal/plainfile"
)

// source opens the files beside a glTF file. Names are slash-separated and
// relative to its folder.
type source interface {
	// open returns a regular file and its size.
	open(name string) (io.ReadCloser, int64, error)
	// path returns the absolute path of name for messages and Image.file, ""
	// if there is none.
	path(name string) string
}

// noSource is the source of a file in memory.
type noSource struct{}

func (noSource) open(string) (io.ReadCloser, int64, error) { return nil, 0, fs.ErrNotExist }
func (noSource) path(string) string                        { return "" }

// fsSource reads from an fs.FS, which by its contract cannot be left.
type fsSource struct {
	fsys fs.FS
	dir  string
}

func (s fsSource) path(string) string { return "" }

func (s fsSource) open(name string) (io.ReadCloser, int64, error) {
	name = path.Join(s.dir, name)
	if !fs.ValidPath(name) {
		return nil, 0, &Error{Reason: "uri " + quote(name) + " leaves the file system", Err: ErrOutsideFolder}
	}
	f, err := s.fsys.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

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

func (s dirSource) open(name string) (io.ReadCloser, int64, error) {
	local := filepath.FromSlash(name)
	if s.parents {
		return openRegular(filepath.Join(s.dir, local))
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	f, st, err := plainfile.OpenIn(root, local)
	if err == nil {
		return f, st.Size(), nil
	}
	if errors.Is(err, plainfile.ErrNotPlain) {
		return nil, 0, errNotRegular
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
	return nil, 0, err
}

// openRegular opens a file by its path; messages name it already.
func openRegular(name string) (io.ReadCloser, int64, error) {
	f, st, err := plainfile.Open(name)
	if errors.Is(err, plainfile.ErrNotPlain) {
		err = errNotRegular
	}
	if err != nil {
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// external is a file that a URI names.
type external struct {
	src  source
	name string
	size int64
}

// find looks up the file that a relative URI names.
func find(src source, uri string, parents bool) (external, error) {
	names, err := localNames(uri, parents)
	if err != nil {
		return external{}, err
	}
	for _, name := range names {
		f, size, err := src.open(name)
		if err == nil {
			f.Close()
			return external{src, name, size}, nil
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
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return &Error{Reason: fmt.Sprintf("file %s cannot be read: %v", quote(name), err), Err: errors.Join(ErrMissingFile, err)}
}

// read returns the first n bytes of the file.
func (x external) read(n int64) ([]byte, error) {
	f, size, err := x.src.open(x.name)
	if err != nil {
		return nil, openError(x.name, err)
	}
	defer f.Close()
	if size < n {
		return nil, malformed("", "file %s has %d bytes, %d are needed", quote(x.name), size, n)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, openError(x.name, err)
	}
	return data, nil
}

// baseName returns a file's name without folder and without extension.
func baseName(name string) (base, stem string) {
	base = filepath.Base(name)
	return base, strings.TrimSuffix(base, filepath.Ext(base))
}
