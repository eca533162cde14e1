package verify

import (
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/format/utex"
)

// isTexture reports whether a path names a cooked texture.
func isTexture(path string) bool { return strings.EqualFold(filepath.Ext(path), ".utex") }

// addTexture judges a cooked texture. There are at most a few findings per
// level, so none is held back, but that the reference engine does not load a
// format is said only of a file that was named: a folder has many alike.
func (f *File) addTexture(many bool) error {
	found, err := utex.ValidateFile(f.Path)
	for _, x := range found {
		if many && x.Code == utex.CodeEngine {
			continue
		}
		f.add(x)
	}
	return err
}
