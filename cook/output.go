package cook

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/atomicfile"
)

// output gathers the files of a cook in a hidden folder inside the output
// folder, on the same file system, and renames them into place when all of
// them are complete. Until then an older cook in the folder stays as it was.
type output struct {
	dir     string   // the user's folder
	stage   string   // hidden folder inside it
	created []string // folders that were not there before, the deepest first
	wrap    func(io.Writer) io.Writer
	holds   []func() // end the holds on dir and stage
}

// newOutput creates the folders and removes the stages of killed cooks. Call
// discard when commit is not reached or fails.
func newOutput(dir string, wrap func(io.Writer) io.Writer) (*output, error) {
	o := &output{dir: dir, wrap: wrap}
	if err := o.makeFolder(filepath.Clean(dir)); err != nil {
		o.removeCreated()
		return nil, fmt.Errorf("cook: output folder: %w", err)
	}
	sweep(dir)
	stage, release, err := makeStage(dir)
	if err != nil {
		o.removeCreated()
		return nil, fmt.Errorf("cook: output folder is not writable: %w", err)
	}
	o.stage, o.holds = stage, append(o.holds, release)
	return o, nil
}

// claim keeps other cooks out of the output folder: the tiles of two would
// overwrite each other. The error matches ErrBusy.
func (o *output) claim() error {
	release, state, err := hold(o.dir)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil // writable, but not readable: it cannot be held
	case err != nil:
		return fmt.Errorf("cook: output folder: %w", err)
	case state == busy:
		return fmt.Errorf("cook: %s: %w; wait for it or choose another folder", o.dir, ErrBusy)
	}
	o.holds = append(o.holds, release)
	return nil
}

func (o *output) endHolds() {
	for _, end := range o.holds {
		end()
	}
	o.holds = nil
}

// discard removes everything that this cook has written, and the folders that
// it created.
func (o *output) discard() {
	os.RemoveAll(o.stage)
	o.removeCreated()
	o.endHolds()
}

func (o *output) removeCreated() {
	for _, d := range o.created {
		os.Remove(d) // fails when somebody uses it by now: it is not empty
	}
}

// written describes a staged file.
type written struct {
	size   int64
	sha256 string
}

// write stores a file in the stage under a path with slashes.
func (o *output) write(name string, put func(io.Writer) error) (written, error) {
	path := filepath.Join(o.stage, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return written{}, err
	}
	f, err := os.Create(path)
	if err != nil {
		return written{}, err
	}
	w := io.Writer(f)
	if o.wrap != nil {
		w = o.wrap(f)
	}
	h := sha256.New()
	n := &counter{w: io.MultiWriter(w, h)}
	buf := bufio.NewWriterSize(n, 256<<10)
	err = put(buf)
	if err == nil {
		err = buf.Flush()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return written{}, fmt.Errorf("cook: writing %s: %w", name, err)
	}
	return written{n.n, hex.EncodeToString(h.Sum(nil))}, nil
}

// unstage removes staged files, named as for write.
func (o *output) unstage(names []string) error {
	for _, name := range names {
		if err := os.Remove(filepath.Join(o.stage, filepath.FromSlash(name))); err != nil {
			return fmt.Errorf("cook: %w", err)
		}
	}
	return nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// staged lists the files of the stage, relative, with slashes, sorted.
func (o *output) staged() ([]string, error) {
	var out []string
	err := filepath.WalkDir(o.stage, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(o.stage, p)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	slices.Sort(out)
	return out, err
}

// commit renames every staged file into the output folder, last of all the
// one named, and removes the stage. With retire an older file of that name
// goes first, so that it never stands beside files of another cook. It is
// called when nothing but a rename can fail any more.
func (o *output) commit(last string, retire bool) error {
	files, err := o.staged()
	if err != nil {
		return err
	}
	files = append(slices.DeleteFunc(files, func(f string) bool { return f == last }), last)
	// Whatever can be in the way is found before the first file moves.
	for _, f := range files {
		to := filepath.Join(o.dir, filepath.FromSlash(f))
		if err := o.makeFolder(filepath.Dir(to)); err != nil {
			return fmt.Errorf("cook: output folder: %w", err)
		}
		if err := atomicfile.Replaceable(to); err != nil {
			return fmt.Errorf("cook: output: %w", err)
		}
	}
	if retire {
		if err := os.Remove(filepath.Join(o.dir, filepath.FromSlash(last))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cook: replacing the manifest: %w", err)
		}
	}
	for _, f := range files {
		to := filepath.Join(o.dir, filepath.FromSlash(f))
		if err := os.Rename(filepath.Join(o.stage, filepath.FromSlash(f)), to); err != nil {
			return fmt.Errorf("cook: output: %w", err)
		}
	}
	return os.RemoveAll(o.stage)
}

// makeFolder creates a folder of the output and its parents; discard removes
// those that were not there.
func (o *output) makeFolder(dir string) error {
	isFolder := func() bool { st, err := os.Stat(dir); return err == nil && st.IsDir() }
	if isFolder() {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := o.makeFolder(parent); err != nil {
			return err
		}
	}
	err := os.Mkdir(dir, 0o755)
	switch {
	case err == nil:
		o.created = append([]string{dir}, o.created...)
	case isFolder(): // somebody else was faster
		return nil
	}
	return err
}

// removeStale deletes payloads that an earlier cook of ours left and that the
// new manifest does not name: keep holds the names that stay. Only files whose
// manifest entry is theirs are touched, and never outside the payload folder.
func (o *output) removeStale(old, keep []string, payloadDir string) {
	// Some file systems ignore case: there a.untold is A.untold.
	stays := map[string]bool{}
	for _, k := range keep {
		stays[strings.ToLower(k)] = true
	}
	for _, f := range old {
		if stays[strings.ToLower(f)] || !strings.HasPrefix(f, payloadDir+"/") || path.Clean(f) != f ||
			!filepath.IsLocal(filepath.FromSlash(f)) || !strings.HasSuffix(f, ".untold") {
			continue
		}
		os.Remove(filepath.Join(o.dir, filepath.FromSlash(f)))
	}
}
