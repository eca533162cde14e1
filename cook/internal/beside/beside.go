// Package beside opens the files that lie beside the file of a scene, and keeps to their
// folder.
package beside

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/internal/plainfile"
)

// Folder is one of the operating system. Names are slash-separated and relative to it.
type Folder struct {
	dir     string
	parents bool
	root    *os.Root
	lists   map[string][]string // names in folders
}

// NewFolder opens a folder. Without parents nothing leads out of it.
func NewFolder(dir string, parents bool) (*Folder, error) {
	f := &Folder{dir: dir, parents: parents, lists: map[string][]string{}}
	if !parents {
		var err error
		if f.root, err = os.OpenRoot(dir); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Close lets go of it.
func (f *Folder) Close() {
	if f.root != nil {
		f.root.Close()
	}
}

// Open opens a regular file for reading and returns its absolute path.
func (f *Folder) Open(name string) (*os.File, string, error) {
	at, err := filepath.Abs(filepath.Join(f.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, "", err
	}
	var file *os.File
	if f.root == nil {
		file, _, err = plainfile.Open(at)
	} else {
		file, _, err = plainfile.OpenIn(f.root, filepath.FromSlash(name))
	}
	if err != nil {
		return nil, "", err
	}
	return file, at, nil
}

func (f *Folder) stat(name string) bool {
	var st fs.FileInfo
	var err error
	if f.root == nil {
		st, err = os.Stat(filepath.Join(f.dir, filepath.FromSlash(name)))
	} else {
		st, err = f.root.Stat(filepath.FromSlash(name))
	}
	return err == nil && st.Mode().IsRegular()
}

// Find returns the name under which a file is there, whose letters may differ by case; ""
// for none.
func (f *Folder) Find(name string) string {
	if f.stat(name) {
		return name
	}
	// Files that were made on a system that ignores case.
	dir := path.Dir(name)
	list, ok := f.lists[dir]
	if !ok {
		list = f.names(dir)
		f.lists[dir] = list
	}
	for _, n := range list {
		if strings.EqualFold(n, path.Base(name)) && f.stat(path.Join(dir, n)) {
			return path.Join(dir, n)
		}
	}
	return ""
}

// names lists a folder, sorted.
func (f *Folder) names(dir string) []string {
	var list []fs.DirEntry
	if f.root == nil {
		list, _ = os.ReadDir(filepath.Join(f.dir, filepath.FromSlash(dir)))
	} else {
		list, _ = fs.ReadDir(f.root.FS(), path.Clean(dir))
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

// ErrLeaves refuses a name that leads out of the folder.
var ErrLeaves = errors.New("leads out of the file's folder")

// TidyName turns the name of a file as scenes have it, perhaps with backslashes, a
// drive or a root, into one relative to the folder of the file that names it, which is
// from relative to the scene's. absolute says that the name was that of another machine, of
// which the last part is left.
func TidyName(from, name string, parents bool) (tidy string, absolute bool, err error) {
	name = strings.ReplaceAll(name, `\`, "/")
	if drive := len(name) >= 2 && name[1] == ':'; drive || strings.HasPrefix(name, "/") {
		if drive {
			name = name[2:]
		}
		name, absolute = path.Base(name), true
	}
	tidy = path.Join(from, name)
	if !parents && !filepath.IsLocal(filepath.FromSlash(tidy)) {
		return "", absolute, ErrLeaves
	}
	return tidy, absolute, nil
}
