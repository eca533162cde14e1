package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/plainfile"
)

// Folder is a folder as a place: the names of keys are those of folders and files in
// it. It never leads out of the folder, and follows no link inside of it. The ETag of
// an object is its size and time of change.
//
// On file systems without hard links a Put with IfAbsent shows an empty object for a
// moment before the whole one.
type Folder struct {
	dir string
	// NoSync leaves out flushing to the disk, as atomicfile.Options.NoSync does.
	NoSync bool
}

// OpenFolder returns a folder, which need not exist before the first Put.
func OpenFolder(dir string) (*Folder, error) {
	f := &Folder{dir: dir}
	switch st, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, f.fail("open", "", err)
	case !st.IsDir():
		return nil, &Error{Op: "open", Place: dir, Err: errors.New("it is no folder"), Hint: "name a folder, or a path that is free"}
	}
	return f, nil
}

// String is the folder's path.
func (f *Folder) String() string { return f.dir }

// File returns the path of the file that holds an object, or will.
func (f *Folder) File(key string) (string, error) {
	local, err := f.local("open", key)
	if err != nil {
		return "", err
	}
	return filepath.Join(f.dir, local), nil
}

// Get opens an object.
func (f *Folder) Get(ctx context.Context, key string) (io.ReadCloser, Info, error) {
	in, st, err := f.open(ctx, key)
	if err != nil {
		return nil, Info{}, err
	}
	return in, info(key, st), nil
}

// GetRange opens a part of an object.
func (f *Folder) GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	in, st, err := f.open(ctx, key)
	if err != nil {
		return nil, err
	}
	if err := checkRange(offset, length, st.Size()); err != nil {
		return nil, errors.Join(&Error{Op: "get", Place: f.dir, Key: key, Err: err}, in.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(in, offset, length), in}, nil
}

// checkRange refuses ranges that servers answer in different ways.
func checkRange(offset, length, size int64) error {
	if offset < 0 || length <= 0 || offset >= size {
		return fmt.Errorf("no range of %d bytes at %d in %d bytes", length, offset, size)
	}
	return nil
}

func (f *Folder) open(ctx context.Context, key string) (*os.File, fs.FileInfo, error) {
	var in *os.File
	var st fs.FileInfo
	err := f.within(ctx, "get", key, func(root *os.Root, local string) (err error) {
		in, st, err = plainfile.OpenIn(root, local)
		return err
	})
	return in, st, err
}

// Put writes a file beside the object's and renames it.
func (f *Folder) Put(ctx context.Context, key string, content io.ReaderAt, size int64, o PutOptions) error {
	if _, err := f.local("put", key); err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o777); err != nil {
		return f.fail("put", key, err)
	}
	const attempts = 8 // a Delete may remove the emptied folder in between
	for i := 1; ; i++ {
		err := f.within(ctx, "put", key, func(root *os.Root, local string) error {
			if dir := filepath.Dir(local); dir != "." {
				if err := root.MkdirAll(dir, 0o777); err != nil {
					return err
				}
			}
			opts := atomicfile.Options{NoSync: f.NoSync, IfAbsent: o.IfAbsent}
			return atomicfile.WriteWith(filepath.Join(f.dir, local), opts, func(w io.Writer) error {
				n, err := io.Copy(w, &ctxReader{ctx, io.NewSectionReader(content, 0, size)})
				if err == nil && n != size {
					err = fmt.Errorf("the content has %d bytes, not %d: %w", n, size, io.ErrUnexpectedEOF)
				}
				return err
			})
		})
		if i == attempts || !errors.Is(err, ErrNotFound) {
			return err
		}
	}
}

// Copy stores the content of one key under another.
func (f *Folder) Copy(ctx context.Context, from, to string, o PutOptions) error {
	in, st, err := f.open(ctx, from)
	if err != nil {
		return err
	}
	defer in.Close()
	o.IfAbsent = false
	return f.Put(ctx, to, in, st.Size(), o)
}

// ctxReader ends with its context.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

// Read reads unless the context has ended.
func (c *ctxReader) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

// Stat looks at an object.
func (f *Folder) Stat(ctx context.Context, key string) (Info, error) {
	var out Info
	err := f.within(ctx, "stat", key, func(root *os.Root, local string) error {
		st, err := root.Lstat(local)
		if err == nil && !st.Mode().IsRegular() {
			err = fmt.Errorf("it is %s: %w", plainfile.Kind(st.Mode()), fs.ErrNotExist)
		}
		if err == nil {
			out = info(key, st)
		}
		return err
	})
	return out, err
}

// Delete removes an object, and the folders that it leaves empty.
func (f *Folder) Delete(ctx context.Context, key string) error {
	err := f.within(ctx, "delete", key, func(root *os.Root, local string) error {
		if st, err := root.Lstat(local); err != nil || !st.Mode().IsRegular() {
			return err // folders are no objects
		}
		if err := root.Remove(local); err != nil {
			return err
		}
		for dir := filepath.Dir(local); dir != "."; dir = filepath.Dir(dir) {
			if root.Remove(dir) != nil {
				break // not empty
			}
		}
		return nil
	})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// List yields the objects whose keys begin with a prefix.
func (f *Folder) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		root, err := os.OpenRoot(f.dir)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Info{}, f.fail("list", prefix, err))
			return
		}
		defer root.Close()
		f.walk(ctx, root, "", prefix, yield)
	}
}

// walk lists a folder, whose key is "" or ends in a slash, and those below it. It
// returns false when the listing is to end.
func (f *Folder) walk(ctx context.Context, root *os.Root, at, prefix string, yield func(Info, error) bool) bool {
	names, err := folderNames(root, at)
	if errors.Is(err, fs.ErrNotExist) && at != "" {
		return true // removed since it was listed
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		yield(Info{}, f.fail("list", at, err))
		return false
	}
	for _, name := range names {
		key := at + name
		if strings.HasSuffix(key, "/") {
			if (strings.HasPrefix(key, prefix) || strings.HasPrefix(prefix, key)) && !f.walk(ctx, root, key, prefix, yield) {
				return false
			}
			continue
		}
		if !strings.HasPrefix(key, prefix) || CheckKey(key) != nil {
			continue
		}
		st, err := root.Lstat(filepath.FromSlash(key))
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && !st.Mode().IsRegular():
		case err != nil:
			yield(Info{}, f.fail("list", key, err))
			return false
		case !yield(info(key, st), nil):
			return false
		}
	}
	return true
}

// folderNames returns the files and folders in one, folders with a slash at the end,
// in the order of the keys below them. Links are left out.
func folderNames(root *os.Root, at string) ([]string, error) {
	d, err := root.Open(path.Clean("./" + at))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		switch {
		case e.IsDir():
			names = append(names, e.Name()+"/")
		case e.Type().IsRegular():
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// local returns the path of an object below the folder.
func (f *Folder) local(op, key string) (string, error) {
	if err := CheckKey(key); err != nil {
		return "", &Error{Op: op, Place: f.dir, Err: err}
	}
	local, err := filepath.Localize(key)
	if err != nil {
		return "", &Error{Op: op, Place: f.dir, Key: key, Kind: ErrKey, Err: errors.New("it is no name for a file on this system")}
	}
	return local, nil
}

// within calls do with the open folder and the path of an object in it, on which
// there are no links.
func (f *Folder) within(ctx context.Context, op, key string, do func(root *os.Root, local string) error) error {
	local, err := f.local(op, key)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return f.fail(op, key, err)
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return f.fail(op, key, err)
	}
	defer root.Close()
	for i := range len(local) + 1 {
		if i < len(local) && !os.IsPathSeparator(local[i]) {
			continue
		}
		st, err := root.Lstat(local[:i])
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err == nil && st.Mode()&fs.ModeSymlink != 0 {
			return &Error{Op: op, Place: f.dir, Key: key, Kind: ErrKey, Err: fmt.Errorf("%s is a link", local[:i]), Hint: "remove it, or name a folder without links"}
		}
	}
	return f.fail(op, key, do(root, local))
}

// fail returns nil for nil, else an *Error with the kind of a file's error.
func (f *Folder) fail(op, key string, err error) error {
	if err == nil {
		return nil
	}
	e := &Error{Op: op, Place: f.dir, Key: key, Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Kind = ErrNotFound
	case errors.Is(err, fs.ErrExist):
		e.Kind = ErrExists
	case errors.Is(err, fs.ErrPermission):
		e.Kind, e.Hint = ErrDenied, "let the user who runs this read and write the folder"
	}
	return e
}

func info(key string, st fs.FileInfo) Info {
	return Info{Key: key, Size: st.Size(), ModTime: st.ModTime(), ETag: fmt.Sprintf("%x-%x", st.Size(), st.ModTime().UnixNano())}
}
