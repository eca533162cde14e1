package remote

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

// A folder is a cache of ours by its mark: the file versionName, whose text names
// the form of the folder. tagName beside it tells programs that make backups, by a
// convention of theirs. An empty folder is marked; one that holds anything else
// and has no mark is left as it is, but for caches of versions that set no mark.
// Within a cache, too, only files whose names the index proves to be the cache's
// are removed.

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

// claim makes sure that the folder is a cache of ours, and marks one that is
// empty. Nothing is changed in a folder that is not.
func (c *Cache) claim() (older bool, err error) {
	text, err := c.readSmall(versionName)
	switch {
	case err == nil && string(text) == versionText:
		return false, c.tag()
	case err == nil && bytes.HasPrefix(text, []byte("untold cache ")) && !strings.HasPrefix(versionText, string(text)):
		return false, fmt.Errorf("%w: a later version of untold has made it", ErrForeign)
	case err == nil && !strings.HasPrefix(versionText, string(text)):
		return false, fmt.Errorf("%w: its file %s is not untold's", ErrForeign, versionName)
	case errors.Is(err, fs.ErrInvalid):
		return false, fmt.Errorf("%w: its file %s is not untold's: %w", ErrForeign, versionName, err)
	case err != nil && !missing(err):
		return false, err
	}
	list, err := c.root.ReadDir(".")
	if err != nil {
		return false, err
	}
	list = slices.DeleteFunc(list, func(d fs.DirEntry) bool { return c.newborn(d) })
	if older = len(list) > 0; older {
		if err := c.unmarked(list); err != nil {
			return false, err
		}
	}
	if err := c.mark(); err != nil {
		return false, err
	}
	return older, c.tag()
}

// newborn reports whether an entry is one that an empty cache has: another process
// may be making it at this moment.
func (c *Cache) newborn(d fs.DirEntry) bool {
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
		text, err := c.readSmall(tagName)
		return err == nil && strings.HasPrefix(tagText, string(text))
	case lockName, usersName:
		info, err := d.Info()
		return err == nil && info.Size() == 0
	}
	return false
}

// unmarked judges a folder without a mark that is not empty: a cache of an earlier
// version has an index, and all that is in it has a name of the cache.
func (c *Cache) unmarked(list []fs.DirEntry) error {
	var x index
	err := x.catchUp(c.root)
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

// isSidecar reports whether a name is one of a file beside a file of the cache.
func isSidecar(name string) bool {
	stem, ok := strings.CutSuffix(name, ".meta")
	whole, have := strings.CutSuffix(name, haveSuffix)
	return ok && isKey(stem) || have && validName(whole)
}

// readSmall reads a file that is no longer than a line of the index.
func (c *Cache) readSmall(name string) ([]byte, error) {
	f, err := openPlain(c.root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxIndexLine+1))
}

// openPlain opens a plain file for reading: to open a pipe would wait.
func openPlain(d disk, name string) (diskFile, error) {
	info, err := d.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no plain file", fs.ErrInvalid, name)
	}
	return d.Open(name)
}

// mark writes the mark to the disk, before anything else is put into the folder.
func (c *Cache) mark() error {
	f, err := c.root.OpenFile(versionName, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(versionText))
	if err == nil && !c.opts.NoSync {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// tag writes the tag for other programs, unless there is one.
func (c *Cache) tag() error {
	f, err := c.root.OpenFile(tagName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrInvalid) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(tagText))
	if e := f.Close(); err == nil {
		err = e
	}
	if noSpace(err) {
		err = nil // it comes at another time
	}
	return err
}

// IsEmptyFolder reports whether there is nothing in a folder: OpenCache would make
// a cache of it.
func IsEmptyFolder(dir string) bool {
	list, err := os.ReadDir(dir)
	return err == nil && len(list) == 0
}
