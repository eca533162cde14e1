package journal

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// found is a journal and what it says about a name.
type found struct {
	base    string // the folder of the journal
	j       *Journal
	staged  string // where the name lies until it moves, "" when it does not
	removed bool
}

// tries bounds how often a reader begins anew because a cook commits meanwhile.
const tries = 8

// follow opens a name as the journal says, or else in its place. A file leaves
// the stage for its place, never the other way: what is no longer in the stage
// is in its place. Only a commit between the look at the journal and the opening
// can make a name vanish, and then the journal is another one.
func follow[T any](find func() (found, error), staged func(found) (T, error), final func() (T, error)) (T, error) {
	var none T
	last, at, err := "", found{}, error(nil)
	for range tries {
		if at, err = find(); err != nil {
			return none, err
		}
		var out T
		err = fs.ErrNotExist
		if at.staged != "" {
			out, err = staged(at)
		}
		if !at.removed && errors.Is(err, fs.ErrNotExist) {
			out, err = final()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return out, err
		}
		if now := at.state(); now == last {
			break
		} else {
			last = now
		}
	}
	return none, err
}

// state differs between journals.
func (at *found) state() string {
	if at.j == nil {
		return "none"
	}
	return at.j.sum
}

// Open opens a file for reading as the journal of its scene says.
func Open(name string) (*os.File, error) {
	return Follow("", name, func() (*os.File, error) { return os.Open(name) })
}

// Follow is Open with another way to open the file in its place, which is asked
// unless the file lies in a stage. The name must begin with within, if that is
// not "": then links below within are not followed to a journal, so that no
// file outside is opened.
func Follow(within, name string, final func() (*os.File, error)) (*os.File, error) {
	f, err := follow(finder(within, name), openStaged, final)
	if err == fs.ErrNotExist { // removed by the journal
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return f, err
}

// Stat describes a file as the journal of its scene says, links followed.
func Stat(name string) (fs.FileInfo, error) {
	st, err := follow(finder("", name), func(at found) (fs.FileInfo, error) {
		f, err := openStaged(at)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return f.Stat()
	}, func() (fs.FileInfo, error) { return os.Stat(name) })
	if err == fs.ErrNotExist {
		err = &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return st, err
}

// openStaged opens a plain file in a stage.
func openStaged(at found) (*os.File, error) {
	d, err := OpenDir(at.base, true)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	st, err := d.Lstat(at.staged)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(at.base, at.staged), Err: ErrDamaged}
	}
	return d.openFile(at.staged)
}

// finder looks for the journal that moves or removes a file.
func finder(within, name string) func() (found, error) {
	return func() (found, error) {
		at, rel, err := scan(within, filepath.Dir(name), func(j *Journal, prefix string) bool {
			_, moves := j.files[prefix+filepath.Base(name)]
			return moves || j.gone[prefix+filepath.Base(name)]
		})
		if err == nil && at.j != nil {
			at.staged, at.removed = at.j.where(rel + filepath.Base(name))
		}
		return at, err
	}
}

// scan looks for a journal that concerns what lies in a folder: in the folder
// itself and those around it. prefix is what stands before the folder's names
// there.
func scan(within, dir string, concerns func(j *Journal, prefix string) bool) (at found, prefix string, err error) {
	if within != "" {
		real, ok := plainBelow(within, dir)
		if !ok {
			return found{}, "", nil
		}
		return scanUp(real, "", concerns)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			// The first cook into a folder has not moved anything yet.
			return scanMissing(dir, concerns)
		}
		return found{}, "", nil // the opening will say what is wrong
	}
	return scanUp(real, "", concerns)
}

// plainBelow returns the real path of a folder below another; the answer is
// false when a link leads there. Elements that are not there may be.
func plainBelow(within, dir string) (string, bool) {
	rel, err := filepath.Rel(within, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	real, err := filepath.EvalSymlinks(within)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		// The folder of the first cook's tiles, for instance.
		real, err = filepath.Abs(within)
	}
	if err != nil {
		return "", false
	}
	if rel == "." {
		return real, true
	}
	for seg := range strings.SplitSeq(rel, string(filepath.Separator)) {
		real = filepath.Join(real, seg)
		if st, err := os.Lstat(real); err == nil && st.Mode()&fs.ModeSymlink != 0 {
			return "", false
		}
	}
	return real, true
}

// scanMissing is scan for a folder that is not there: the journal may be in one
// that is.
func scanMissing(dir string, concerns func(j *Journal, prefix string) bool) (found, string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return found{}, "", nil
	}
	prefix := ""
	for range maxDepth {
		parent := filepath.Dir(abs)
		if parent == abs {
			break
		}
		prefix = filepath.Base(abs) + "/" + prefix
		abs = parent
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			return scanUp(real, prefix, concerns)
		}
	}
	return found{}, "", nil
}

// maxUp is how many folders are looked at for the journal of a file: as many as
// stand above the deepest name that one holds.
const maxUp = maxDepth

func scanUp(dir, prefix string, concerns func(j *Journal, prefix string) bool) (found, string, error) {
	for up := range maxUp {
		if up > 0 && strings.HasPrefix(filepath.Base(dir), Folder) {
			return found{}, "", nil // the state itself has no other places
		}
		j, err := load(dir, up > 0)
		if err != nil {
			return found{}, "", err
		}
		if j != nil && concerns(j, prefix) {
			return found{base: dir, j: j}, prefix, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		prefix = filepath.Base(dir) + "/" + prefix
		dir = parent
	}
	return found{}, "", nil
}

// load reads the journal of a folder. Above the folder that was asked for,
// those where everybody may write, such as /tmp, are passed over: anybody could
// put one there.
func load(dir string, above bool) (*Journal, error) {
	st, err := os.Lstat(filepath.Join(dir, Folder))
	if err != nil || !st.IsDir() {
		return nil, nil
	}
	if above {
		if st, err := os.Stat(dir); err != nil || st.Mode()&fs.ModeSticky != 0 {
			return nil, nil
		}
	}
	info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(Name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		if j := cache.get(dir, info); j != nil {
			return j, nil
		}
	}
	d, err := OpenDir(dir, true)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	j, err := Load(d)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: filepath.Join(dir, filepath.FromSlash(Name)), Err: err}
	}
	if j != nil && info != nil {
		cache.put(dir, info, j)
	}
	return j, nil
}

// journals keeps large journals, which are looked at for every file of a scene.
// Small ones are read again: they could be written twice within the resolution
// of a file's time.
type journals struct {
	mu    sync.Mutex
	known map[string]cached
}

type cached struct {
	info fs.FileInfo
	j    *Journal
}

const (
	cacheFrom = 32 << 10 // bytes
	maxCached = 8        // journals
)

var cache journals

func (c *journals) get(dir string, info fs.FileInfo) *Journal {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.known[dir]
	if ok && os.SameFile(e.info, info) && e.info.Size() == info.Size() && e.info.ModTime().Equal(info.ModTime()) {
		return e.j
	}
	return nil
}

func (c *journals) put(dir string, info fs.FileInfo, j *Journal) {
	if info.Size() < cacheFrom {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= maxCached || c.known == nil {
		c.known = map[string]cached{}
	}
	c.known[dir] = cached{info, j}
}

// anyBelow reports whether a journal says something about what lies below a prefix.
func anyBelow(j *Journal, prefix string) bool {
	below := func(name string) bool { return strings.HasPrefix(name, prefix) }
	return slices.ContainsFunc(j.Files, func(e Entry) bool { return below(e.Path) }) || slices.ContainsFunc(j.Removes, below)
}

// Names lists the files of a folder, without folders, as the journal says,
// sorted.
func Names(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, err
	}
	at, prefix, e := scan("", dir, anyBelow)
	if e != nil {
		return nil, e
	}
	if missing && at.j == nil {
		return nil, err
	}
	var out []string
	for _, d := range list {
		if !d.IsDir() && (at.j == nil || !at.j.gone[prefix+d.Name()]) {
			out = append(out, d.Name())
		}
	}
	if at.j != nil {
		for _, f := range at.j.Files {
			if rel, ok := strings.CutPrefix(f.Path, prefix); ok && !strings.Contains(rel, "/") {
				out = append(out, rel)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// WalkDir is filepath.WalkDir for a folder that may be named by a link: links
// below it are not followed.
func WalkDir(dir string, visit fs.WalkDirFunc) error {
	link, err := os.Lstat(dir)
	if err != nil || link.Mode()&fs.ModeSymlink == 0 {
		return filepath.WalkDir(dir, visit)
	}
	if to, err := os.Stat(dir); err != nil || !to.IsDir() {
		return filepath.WalkDir(dir, visit)
	}
	root := dir + string(filepath.Separator) // what the link leads to
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if p == root {
			p = dir
		}
		return visit(p, d, err)
	})
}

// Files lists all files below a folder as the journals there say, sorted. Below
// dir, links to folders are not followed, and folders whose name begins with a
// dot are left out.
func Files(dir string) ([]string, error) {
	var out []string
	gone := map[string]bool{}
	// The journals of folders around this one count, too.
	if at, prefix, err := scan("", dir, anyBelow); err != nil {
		return nil, err
	} else if at.j != nil {
		out = at.j.list(dir, prefix, gone)
	}
	err := WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			if !gone[p] {
				out = append(out, p)
			}
			return nil
		case p == dir:
			return nil
		case strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		}
		j, err := load(p, false)
		if j != nil {
			out = append(out, j.list(p, "", gone)...)
		}
		return err
	})
	slices.Sort(out)
	return slices.Compact(out), err
}

// list returns the files below a prefix that move, as they will be called in
// dir, and notes those that go.
func (j *Journal) list(dir, prefix string, gone map[string]bool) (out []string) {
	for _, name := range j.Removes {
		if rel, ok := strings.CutPrefix(name, prefix); ok {
			gone[filepath.Join(dir, filepath.FromSlash(rel))] = true
		}
	}
	for _, f := range j.Files {
		rel, ok := strings.CutPrefix(f.Path, prefix)
		if ok && !strings.HasPrefix(rel, ".") && !strings.Contains(rel, "/.") {
			out = append(out, filepath.Join(dir, filepath.FromSlash(rel)))
		}
	}
	return out
}

// Pending reports whether a committed change of a folder waits for its end.
func Pending(dir string) (bool, error) {
	j, err := load(dir, false)
	return j != nil, err
}

// Read reads a whole file of an FS as its journal says.
func Read(f FS, name string) ([]byte, error) {
	return follow(func() (found, error) {
		j, err := Load(f)
		at := found{j: j}
		if j != nil {
			at.staged, at.removed = j.where(path.Clean(name))
		}
		return at, err
	}, func(at found) ([]byte, error) { return readAll(f, at.staged) }, func() ([]byte, error) { return readAll(f, name) })
}

// Says tells what the journal of its scene says of a file: that it moves, so
// that it is there, or that it is removed, so that it is not; or nothing.
// As for Follow, name must begin with within.
func Says(within, name string) (moves, removed bool) {
	at, err := finder(within, name)()
	return err == nil && at.staged != "", err == nil && at.removed
}
