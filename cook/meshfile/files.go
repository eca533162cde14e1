package meshfile

import (
	"io"

	"github.com/untoldkit/untold/cook/internal/beside"
)

// files are what lies beside a mesh file. Names are slash-separated and relative to its
// folder.
type files interface {
	// open opens a regular file for reading and returns its path.
	open(name string) (io.ReadCloser, string, error)
	// find returns the name under which a file is there, whose letters may differ by
	// case; "" for none.
	find(name string) string
}

// folder is one of the operating system.
type folder struct{ *beside.Folder }

func (f folder) open(name string) (io.ReadCloser, string, error) {
	file, at, err := f.Open(name)
	if err != nil {
		return nil, "", err
	}
	return file, at, nil
}

func (f folder) find(name string) string { return f.Find(name) }

func newFolder(dir string, parents bool) (folder, error) {
	f, err := beside.NewFolder(dir, parents)
	return folder{f}, err
}

func (f folder) close() { f.Close() }

// tidyName is beside.TidyName.
func tidyName(from, name string, parents bool) (string, bool, error) {
	return beside.TidyName(from, name, parents)
}
