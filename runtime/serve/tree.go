package serve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/internal/journal"
)

// errHidden is the error for files that may exist but are not served.
var errHidden = errors.New("hidden, outside of the folder, or no plain file")

// tree is the folder that is served. It is opened anew for each file, so that a
// folder that a cook has replaced as a whole is served from then on.
type tree struct{ dir string }

// newTree checks that a folder is there and that files in it can be found.
func newTree(dir string) (*tree, error) {
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, forbidden(dir, err)
	case err != nil:
		return nil, fmt.Errorf("serve: %w: name the folder of the cooked scene", err)
	case !st.IsDir():
		return nil, fmt.Errorf("serve: %s is no folder: name the folder of the cooked scene", dir)
	}
	if err := searchable(dir); err != nil {
		return nil, forbidden(dir, err)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	return &tree{abs}, nil
}

// searchable tries what every request needs: to open the folder, to list it and to
// look at what is in it.
func searchable(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for _, name := range names {
		if _, err := root.Lstat(name); errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// forbidden is the error for a folder that this user may not read.
func forbidden(dir string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // what was tried tells less than where
	}
	return fmt.Errorf("serve: %s cannot be read: %w: let the user who runs this list and enter it (chmod u+rx), and enter the folders above", dir, err)
}

// open opens the plain file of a request: name is a decoded path without the
// slash in front. What is hidden or lies outside does not exist.
func (t *tree) open(name string) (*os.File, fs.FileInfo, error) {
	if !fs.ValidPath(name) || hidden(name) {
		return nil, nil, errHidden
	}
	local, err := filepath.Localize(name)
	if err != nil {
		return nil, nil, errHidden
	}
	f, err := journal.Follow(t.dir, filepath.Join(t.dir, local), func() (*os.File, error) { return t.openLocal(local) })
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, st, nil
}

// openLocal opens a file in its place.
func (t *tree) openLocal(local string) (*os.File, error) {
	dir, err := filepath.EvalSymlinks(t.dir)
	if err != nil {
		return nil, err
	}
	// Links may be used inside the folder, but not to show what is hidden.
	real, err := filepath.EvalSymlinks(filepath.Join(dir, local))
	if err != nil {
		return nil, err
	}
	if local, err = filepath.Rel(dir, real); err != nil || !filepath.IsLocal(local) || hidden(filepath.ToSlash(local)) {
		return nil, errHidden
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return openPlain(root, local)
}

// openPlain opens a plain file below an open folder; a link that was put there
// in the meantime does not lead out either.
func openPlain(root *os.Root, local string) (*os.File, error) {
	// Opening a pipe would block.
	if st, err := root.Stat(local); err != nil {
		return nil, err
	} else if !st.Mode().IsRegular() {
		return nil, errHidden
	}
	f, err := root.Open(local)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errHidden
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// hidden reports whether an element of a slash-separated path starts with a
// dot.
func hidden(name string) bool {
	return name != "." && (strings.HasPrefix(name, ".") || strings.Contains(name, "/."))
}
