package cook

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/clock"
	"github.com/untoldkit/untold/internal/holding"
	"github.com/untoldkit/untold/internal/journal"
)

// output gathers the files of a cook in a stage inside the output folder, on
// the same file system, and publishes them as one change when all of them are
// complete. Until then an older cook in the folder stays as it was.
type output struct {
	dir     string     // the user's folder
	files   journal.FS // the same
	stage   string     // where files are gathered, for those who write there themselves
	name    string     // of the stage
	created []string   // folders that were not there before, the deepest first
	opts    outputOptions
	ends    []func() // end the holds on dir and stage, and close files
	done    bool     // the stage belongs to a commit

	mu    sync.Mutex
	known map[string]journal.Entry // what write has written, by folded names

	ownOnce sync.Once
	own     fs.FileInfo // of a file that this cook writes, nil where that cannot be told
}

// probeName is a file of the stage that is there for a moment.
const probeName = ".probe"

// outputOptions change how files are written.
type outputOptions struct {
	noSync bool
	adopts bool                            // results of killed cooks are taken over, not swept away
	wrap   func(io.Writer) io.Writer       // tests: a disk that runs full
	faults func(dir journal.FS) journal.FS // tests: a folder that fails
}

func (o *Options) output() outputOptions {
	return outputOptions{noSync: o.NoSync, wrap: o.wrap, faults: o.faults}
}

// newOutput creates the folders and removes the stages of killed cooks. Call
// discard when the files are not published.
func newOutput(dir string, opts outputOptions) (*output, error) {
	o := &output{dir: dir, opts: opts, known: map[string]journal.Entry{}}
	if err := o.makeFolder(filepath.Clean(dir)); err != nil {
		o.discard()
		return nil, fmt.Errorf("cook: output folder: %w", err)
	}
	root, err := journal.OpenDir(dir, opts.noSync)
	if err != nil {
		o.discard()
		return nil, fmt.Errorf("cook: output folder: %w", err)
	}
	o.ends = append(o.ends, func() { root.Close() })
	if o.files = root; opts.faults != nil {
		o.files = opts.faults(root)
	}
	sweep(dir, o.files, holding.Folder, journal.Idle(clock.System{}.Now()), opts.adopts)
	name, release, err := makeStage(dir, o.files)
	if err != nil {
		o.discard()
		return nil, fmt.Errorf("cook: output folder %s is not writable: %w", dir, err)
	}
	o.name, o.ends = name, append(o.ends, release)
	o.stage = filepath.Join(dir, journal.Folder, name)
	return o, nil
}

// claim keeps other cooks out of the output folder, where the tiles of two
// would overwrite each other, and finishes what a killed one has committed. The
// error matches ErrBusy.
func (o *output) claim() error {
	release, state, err := holding.Folder(o.dir)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil // writable, but not readable: it cannot be held
	case err != nil:
		return fmt.Errorf("cook: output folder: %w", err)
	case state == holding.Busy:
		return fmt.Errorf("cook: %s: %w; wait for it or choose another folder", o.dir, ErrBusy)
	}
	o.ends = append(o.ends, release)
	// What is damaged is replaced by the next commit.
	if _, err := journal.Recover(o.files, o.judge); err != nil && !errors.Is(err, journal.ErrDamaged) {
		return fmt.Errorf("cook: %s: %w", o.dir, err)
	}
	return nil
}

// finishOthers finishes what a killed cook has committed to the folder, unless
// the cook is alive and does that itself.
func (o *output) finishOthers() error {
	if j, err := journal.Load(o.files); j == nil && err == nil {
		return nil
	}
	if err := o.claim(); !errors.Is(err, ErrBusy) {
		return err
	}
	return nil
}

// endHolds lets others use the folder.
func (o *output) endHolds() {
	for _, end := range slices.Backward(o.ends) {
		end()
	}
	o.ends = nil
}

// discardStage removes the stage of a cook that has changed nothing.
func (o *output) discardStage() {
	_ = journal.RemoveStage(o.files, o.name) // or the next cook will
	o.done = true
}

// discard removes everything that this cook has written, and the folders that
// it created.
func (o *output) discard() {
	if !o.done {
		if o.name != "" {
			_ = journal.RemoveStage(o.files, o.name) // or the next cook will
		}
		for _, d := range o.created {
			os.Remove(d) // fails when somebody uses it by now: it is not empty
		}
	}
	o.endHolds()
}

// written describes a staged file.
type written struct {
	size   int64
	sha256 string
}

// write stores a file in the stage under a path with slashes.
func (o *output) write(name string, put func(io.Writer) error) (written, error) {
	h := sha256.New()
	size, err := o.put(name, put, h)
	if err != nil {
		return written{}, err
	}
	out := written{size, hex.EncodeToString(h.Sum(nil))}
	o.note(journal.Entry{Path: name, Size: out.size, SHA256: out.sha256})
	return out, nil
}

// writeKnown stores a file whose bytes put compares with their hash itself.
func (o *output) writeKnown(f fileRecord, put func(io.Writer) error) error {
	_, err := o.put(f.Name, put, nil)
	if err == nil {
		o.note(f.entry())
	}
	return err
}

// put stores a file, hashed by h unless that is nil, and returns its size.
func (o *output) put(name string, put func(io.Writer) error, h hash.Hash) (int64, error) {
	if err := o.reserve(name); err != nil {
		return 0, fmt.Errorf("cook: %w", err)
	}
	f, err := o.create(o.at(name))
	if err != nil {
		return 0, fmt.Errorf("cook: writing %s: %w", name, err)
	}
	w := io.Writer(f)
	if o.opts.wrap != nil {
		w = o.opts.wrap(f)
	}
	if h != nil {
		w = io.MultiWriter(w, h)
	}
	n := &counter{w: w}
	buf := bufio.NewWriterSize(n, 256<<10)
	err = put(buf)
	if err == nil {
		err = buf.Flush()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return 0, fmt.Errorf("cook: writing %s: %w", name, err)
	}
	return n.n, nil
}

// link makes a file elsewhere on the same file system one of the stage, too, and reports
// whether it could, and whether it has the bytes that it should; else it is not there. It
// links what could as well have been written: see likeWritten.
func (o *output) link(from string, f fileRecord) (linked, good bool) {
	if o.opts.wrap != nil || o.opts.faults != nil || !o.likeWritten(from, f.Name) || o.reserve(f.Name) != nil {
		return false, false
	}
	at := o.at(f.Name)
	to := filepath.Join(o.dir, filepath.FromSlash(at))
	err := os.Link(from, to)
	if errors.Is(err, fs.ErrNotExist) && o.mkdirAll(path.Dir(at)) == nil {
		err = os.Link(from, to)
	}
	if err == nil {
		if good = o.has(at, f); good {
			o.note(f.entry())
			return true, true
		}
		_ = o.files.Remove(at)
	}
	o.forget(f.Name)
	return err == nil, false
}

// likeWritten reports whether a file has the owner and the permissions of those that this cook
// writes, and takes the place of no other: what does is to be newer than that, or who asks
// for what has changed since, as browsers and copying programs do, would not get it.
func (o *output) likeWritten(from, name string) bool {
	st, err := os.Lstat(from)
	if err != nil || !st.Mode().IsRegular() {
		return false
	}
	switch there, err := o.files.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || !os.SameFile(there, st):
		return false
	}
	o.ownOnce.Do(o.findOwn)
	return o.own != nil && st.Mode() == o.own.Mode() && sameOwner(st, o.own)
}

// findOwn looks at a file that this cook writes.
func (o *output) findOwn() {
	at := o.at(probeName)
	f, err := o.files.Create(at)
	if err != nil {
		return
	}
	o.own, err = f.Stat()
	if err := errors.Join(err, f.Close(), o.files.Remove(at)); err != nil {
		o.own = nil
	}
}

// has reads a file of the output folder and reports whether it has certain bytes.
func (o *output) has(name string, f fileRecord) bool {
	st, err := o.files.Lstat(name)
	if err != nil || !st.Mode().IsRegular() || st.Size() != f.Size {
		return false
	}
	in, err := o.files.Open(name)
	if err != nil {
		return false
	}
	defer in.Close()
	hash, _, err := hashAll(in)
	return err == nil && hash == f.SHA256
}

// at is where a file of the stage lies in the output folder.
func (o *output) at(name string) string { return path.Join(journal.Folder, o.name, name) }

// note remembers what is known of a file of the stage.
func (o *output) note(e journal.Entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known[journal.Fold(e.Path)] = e
}

// reserve refuses a second file of a name: where case is ignored it would
// replace the first in the stage already.
func (o *output) reserve(name string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if there, ok := o.known[journal.Fold(name)]; ok {
		return &journal.CaseError{A: there.Path, B: name}
	}
	o.known[journal.Fold(name)] = journal.Entry{Path: name}
	return nil
}

// create makes a file of the stage, with the folders above it.
func (o *output) create(at string) (journal.File, error) {
	f, err := o.files.Create(at)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := o.mkdirAll(path.Dir(at)); err != nil {
		return nil, err
	}
	return o.files.Create(at)
}

func (o *output) mkdirAll(dir string) error {
	err := o.files.Mkdir(dir)
	if errors.Is(err, fs.ErrNotExist) && dir != "." {
		if err := o.mkdirAll(path.Dir(dir)); err != nil {
			return err
		}
		err = o.files.Mkdir(dir)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// adopt moves a file from elsewhere in the output folder into the stage.
func (o *output) adopt(from string, e journal.Entry) error {
	if err := o.reserve(e.Path); err != nil {
		return fmt.Errorf("cook: %w", err)
	}
	to := o.at(e.Path)
	err := o.files.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		if err = o.mkdirAll(path.Dir(to)); err == nil {
			err = o.files.Rename(from, to)
		}
	}
	if err != nil {
		return fmt.Errorf("cook: %s: %w", e.Path, err)
	}
	o.note(e)
	return nil
}

// copy writes a file of the stage from another one in the output folder.
func (o *output) copy(from string, f fileRecord) error {
	in, err := o.files.Open(from)
	if err != nil {
		return fmt.Errorf("cook: %s: %w", f.Name, err)
	}
	defer in.Close()
	w, err := o.write(f.Name, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
	if err == nil && w.sha256 != f.SHA256 {
		err = fmt.Errorf("cook: %s: its bytes have changed since they were checked; cook again", from)
	}
	return err
}

// hash completes what is known of a staged file.
func (o *output) hash(e journal.Entry) (journal.Entry, error) {
	f, err := o.files.Open(o.at(e.Path))
	if err != nil {
		return e, fmt.Errorf("cook: %w", err)
	}
	defer f.Close()
	if e.SHA256, e.Size, err = hashAll(f); err != nil {
		return e, fmt.Errorf("cook: %s: %w", e.Path, err)
	}
	o.note(e)
	return e, nil
}

// wrote reports whether a file is in the stage already.
func (o *output) wrote(f fileRecord) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known[journal.Fold(f.Name)] == f.entry()
}

// forget lets another file have a name.
func (o *output) forget(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.known, journal.Fold(name))
}

// unstage removes staged files, named as for write.
func (o *output) unstage(names []string) error {
	for _, name := range names {
		if err := o.files.Remove(o.at(name)); err != nil {
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

// staged lists the files of the stage by their names, but last as the last.
func (o *output) staged(last string) ([]journal.Entry, error) {
	var out []journal.Entry
	var walk func(dir, prefix string) error
	walk = func(dir, prefix string) error {
		list, err := o.files.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, d := range list {
			name := prefix + d.Name()
			switch {
			case name == logName: // no file of the scene
			case d.IsDir():
				err = walk(dir+"/"+d.Name(), name+"/")
			case name != last:
				out = append(out, o.entry(name))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	err := walk(o.at(""), "")
	return append(out, o.entry(last)), err
}

// entry is what is known of a staged file.
func (o *output) entry(name string) journal.Entry {
	if e := o.known[journal.Fold(name)]; e.Path == name {
		return e
	}
	return journal.Entry{Path: name}
}

// publish makes the staged files, last of all the one named, and the removal of
// others one change of the output folder.
func (o *output) publish(last string, removes []string) error {
	files, err := o.staged(last)
	if err != nil {
		return fmt.Errorf("cook: output: %w", err)
	}
	o.syncCreated()
	o.done, err = journal.Publish(o.files, journal.Change{Stage: o.name, Files: files, Removes: removes, Jobs: o.syncJobs()})
	if err != nil {
		return fmt.Errorf("cook: output %s: %w", o.dir, err)
	}
	return nil
}

// move brings the staged files to their places one by one, last of all the one
// named, which alone refers to the others.
func (o *output) move(last string) error {
	files, err := o.staged(last)
	if err != nil {
		return fmt.Errorf("cook: output: %w", err)
	}
	o.syncCreated()
	if err := journal.Move(o.files, o.name, files, o.syncJobs()); err != nil {
		return fmt.Errorf("cook: output %s: %w", o.dir, err)
	}
	// An empty stage is no reason to say that the cook failed.
	_ = journal.RemoveStage(o.files, o.name)
	o.done = true
	return nil
}

// syncJobs is one where tests count calls.
func (o *output) syncJobs() int {
	if o.opts.faults != nil {
		return 1
	}
	return 0
}

// syncCreated flushes the names of the folders above the output that were not
// there.
func (o *output) syncCreated() {
	if o.opts.noSync {
		return
	}
	for _, d := range o.created {
		atomicfile.SyncDir(filepath.Dir(d))
	}
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
	case errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s is no folder: choose another output, or move it away", dir)
	}
	return err
}

// Finish brings what a stopped cook has committed to a folder to its end, for
// those who are about to write there by other means. In most folders there is
// nothing to do. The error matches ErrBusy while a cook is at work.
func Finish(dir string) error {
	if pending, err := journal.Pending(dir); !pending && err == nil {
		return nil
	}
	root, err := journal.OpenDir(dir, false)
	if err != nil {
		return err
	}
	o := &output{dir: dir, files: root, ends: []func(){func() { root.Close() }}}
	defer o.endHolds()
	return o.claim()
}
