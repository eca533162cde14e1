package diskcache

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// The mark makes a folder a cache: the file versionName, whose text names the form of
// the folder. tagName beside it tells programs that make backups, by a convention
// that they share. An empty folder gets the mark. A folder that holds anything else
// and has no mark stays as it is, unless it is a cache of a version that set none.
// Within a cache, too, only files go whose names the index proves to be the cache's.

const (
	versionName = "untold-cache"
	versionText = "untold cache 2\n"
	tagName     = "CACHEDIR.TAG"
	tagText     = "Signature: 8a477f597d28d172789f06886806bc55\n" +
		"# This folder is a cache made by untold: it may be removed at any time.\n" +
		"# For information about cache directory tags see https://bford.info/cachedir/\n"
)

// leftBySystems are files that systems put into any folder; they stay.
var leftBySystems = []string{".DS_Store", "Thumbs.db", "desktop.ini", "lost+found"}

// claim makes sure that the folder is a cache, and marks one that is empty. It
// changes nothing in any other folder. unmarked says that the cache is of a version
// that set no mark.
func (r folder) claim() (unmarked bool, err error) {
	text, err := r.readSmall(versionName)
	switch {
	case err == nil && string(text) == versionText:
		return false, r.tag()
	case err == nil && bytes.HasPrefix(text, []byte("untold cache ")) && !strings.HasPrefix(versionText, string(text)):
		return false, fmt.Errorf("%w: a later version of untold has made it", ErrForeign)
	case err == nil && !strings.HasPrefix(versionText, string(text)):
		return false, fmt.Errorf("%w: its file %s is not untold's", ErrForeign, versionName)
	case errors.Is(err, fs.ErrInvalid):
		return false, fmt.Errorf("%w: its file %s is not untold's: %w", ErrForeign, versionName, err)
	case err != nil && !missing(err):
		return false, err
	}
	list, err := r.ReadDir(".")
	if err != nil {
		return false, err
	}
	list = slices.DeleteFunc(list, func(d fs.DirEntry) bool { return r.newborn(d) })
	if unmarked = len(list) > 0; unmarked {
		if err := r.checkUnmarked(list); err != nil {
			return false, err
		}
	}
	if err := r.mark(); err != nil {
		return false, err
	}
	return unmarked, r.tag()
}

// newborn reports whether an empty cache may have an entry of its folder: another
// process may be making the cache at this moment.
func (r folder) newborn(d fs.DirEntry) bool {
	if slices.Contains(leftBySystems, d.Name()) {
		return true
	}
	if !d.Type().IsRegular() {
		return false
	}
	switch d.Name() {
	case versionName: // as far as it is written
		return true
	case tagName:
		text, err := r.readSmall(tagName)
		return err == nil && strings.HasPrefix(tagText, string(text))
	case lockName, usersName:
		info, err := d.Info()
		return err == nil && info.Size() == 0
	}
	return false
}

// checkUnmarked accepts a folder without a mark that is a cache of an earlier
// version: it has an index, and everything in it has a name that a cache gives.
func (r folder) checkUnmarked(list []fs.DirEntry) error {
	var x index
	err := x.catchUp(r)
	old := err == nil && x.gen != ""
	for _, d := range list {
		name := d.Name()
		ours := d.Type().IsRegular() && (name == indexName || isTemp(name) || validName(name) || isSidecar(name)) ||
			d.IsDir() && name == texturesDir
		if !old || !ours {
			what := "no mark of a cache"
			if old {
				what = "a cache of an earlier version together with other files"
			}
			if ours {
				name = list[0].Name()
			}
			return fmt.Errorf("%w: it holds %q and %s", ErrForeign, name, what)
		}
	}
	return nil
}

// isSidecar reports whether a name is that of a sidecar or of a block map.
func isSidecar(name string) bool {
	stem, ok := strings.CutSuffix(name, sidecarSuffix)
	whole, mapped := strings.CutSuffix(name, mapSuffix)
	return ok && isKey(stem) || mapped && validName(whole)
}

// readSmall reads a file that is no longer than a line of the index.
func (r folder) readSmall(name string) ([]byte, error) {
	f, err := r.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxIndexLine+1))
}

// mark writes the mark to the disk, before anything else is put into the folder.
func (r folder) mark() error {
	return r.edit(versionName, os.O_WRONLY|os.O_CREATE, func(f File) error {
		_, err := f.Write([]byte(versionText))
		if err == nil && !r.noSync {
			err = f.Sync()
		}
		return err
	})
}

// tag writes the tag for other programs, unless there is one.
func (r folder) tag() error {
	err := r.edit(tagName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, func(f File) error {
		_, err := f.Write([]byte(tagText))
		return err
	})
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrInvalid) || noSpace(err) {
		err = nil // it is there, or comes at another time
	}
	return err
}
