package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/untoldkit/untold/internal/atomicfile"
)

// ErrUnfinished says that a change is committed, but that not all files could
// be brought to their places. Readers see the new scene, and Recover goes on.
var ErrUnfinished = errors.New("the new scene is complete and will be read, but not all of its files have their final names; the next cook into the folder moves the rest")

// SyncJobs is how many files are flushed at a time: file systems flush many at
// once for little more than one.
const SyncJobs = 32

// Change is what Publish does to a folder.
type Change struct {
	Stage string
	// Files are the staged files in the order of the renames, the manifest
	// last. A size and hash that are not known yet are 0 and "".
	Files []Entry
	// Removes are files of the old scene that the new one does not have, in the
	// order in which they go: those that others name before these.
	Removes []string
	// Jobs is how many files are hashed and flushed at a time; 0 means SyncJobs.
	Jobs int
}

// Publish makes a change. Until committed is true the folder is as it was; then
// the stage belongs to the journal and must not be removed. The error matches
// ErrUnfinished when the change is committed all the same.
func Publish(f FS, c Change) (committed bool, err error) {
	j := &Journal{Stage: c.Stage, Files: c.Files, Removes: c.Removes}
	if err := j.check(CheckPath); err != nil {
		return false, err
	}
	if err := checkWay(f, j); err != nil {
		return false, err
	}
	if err := seal(f, j, c.Jobs); err != nil {
		return false, err
	}
	if err := j.write(f); err != nil {
		return false, err
	}
	if err := f.Rename(j.stageOf(tempName), Name); err != nil {
		// A network file system may have done it all the same.
		if there, e := Load(f); e != nil || there == nil || there.sum != j.sum {
			return false, err
		}
		return true, fmt.Errorf("%w (%w)", ErrUnfinished, err)
	}
	if err := finish(f, j); err != nil {
		return true, fmt.Errorf("%w (%w)", ErrUnfinished, err)
	}
	return true, nil
}

// Move brings staged files to their places one by one, without a journal: for
// files of which the last alone refers to the others. Those that moved before
// an error stay.
func Move(f FS, stage string, files []Entry, jobs int) error {
	j := &Journal{Stage: stage, Files: files}
	// The user has chosen the name of the last.
	if err := j.check(checkLocal); err != nil {
		return err
	}
	if err := checkWay(f, j); err != nil {
		return err
	}
	if err := seal(f, j, jobs); err != nil {
		return err
	}
	last := max(len(files)-1, 0)
	first := &Journal{Stage: stage, Files: files[:last]}
	for _, part := range []*Journal{first, {Stage: stage, Files: files[last:]}} {
		if err := apply(f, part); err != nil {
			return err
		}
	}
	return nil
}

// checkLocal refuses names that leave the folder.
func checkLocal(name string) error {
	if !fs.ValidPath(name) || name == "." {
		return fmt.Errorf("%.200q: %w", name, ErrPath)
	}
	return nil
}

// Judge says which files a journal may remove that was found in a folder: it may
// have come with the folder from elsewhere. An error leaves the journal alone.
type Judge func(j *Journal) (mayGo []string, err error)

// Recover finishes the change that a stopped program has committed. The caller
// must be the only one who writes to the folder. A damaged journal is left to
// the next Publish, which replaces it. Of the files that the journal removes
// those stay that judge does not name; without a judge all may go.
func Recover(f FS, judge Judge) (done bool, err error) {
	j, err := Load(f)
	if j == nil || err != nil {
		return false, err
	}
	if judge != nil {
		mayGo, err := judge(j)
		if err != nil {
			return false, err
		}
		j.Removes = slices.DeleteFunc(j.Removes, func(name string) bool {
			_, err := f.Lstat(name)
			// Of what has gone already the folders may be left.
			return !slices.Contains(mayGo, name) && !errors.Is(err, fs.ErrNotExist)
		})
	}
	if err := finish(f, j); err != nil {
		return false, fmt.Errorf("finishing what an earlier cook has committed: %w", err)
	}
	return true, nil
}

// checkWay finds what is in the way of the files before the first one moves.
func checkWay(f FS, j *Journal) error {
	seen := map[string]bool{".": true}
	volumes, ok := f.(interface{ SameVolume(a, b string) bool })
	for _, e := range j.Files {
		dirs := parents(e.Path)
		slices.Reverse(dirs)
		for _, d := range dirs {
			if seen[d] {
				continue
			}
			seen[d] = true
			there, err := isFolder(f, d)
			if err != nil {
				return err
			}
			if there && ok && !volumes.SameVolume(".", d) {
				return fmt.Errorf("%s lies on another volume than the folder itself, and files cannot be moved there in one step: %w", d, atomicfile.ErrInTheWay)
			}
		}
		st, err := f.Lstat(e.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case st.IsDir():
			return fmt.Errorf("%s is a folder: %w", e.Path, atomicfile.ErrInTheWay)
		case !st.Mode().IsRegular() && st.Mode().Type() != fs.ModeSymlink: // a link itself is replaced
			return fmt.Errorf("%s is no plain file: %w", e.Path, atomicfile.ErrInTheWay)
		}
	}
	return nil
}

// CheckFolder refuses a folder of new files, there already or not, that is or
// passes a link or something else than a folder.
func CheckFolder(f FS, name string) error {
	dirs := append([]string{name}, parents(name)...)
	slices.Reverse(dirs)
	for _, d := range dirs {
		if there, err := isFolder(f, d); !there {
			return err
		}
	}
	return nil
}

// Reaches reports whether all folders above a name are there and none is a
// link.
func Reaches(f FS, name string) (bool, error) {
	_, ok, err := reaches(f, name)
	return ok, err
}

// isFolder reports whether a folder is there. Another thing of that name is an
// error, also a link to a folder: files must not be moved through it.
func isFolder(f FS, name string) (bool, error) {
	st, err := f.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case st.Mode().Type() == fs.ModeSymlink:
		return false, fmt.Errorf("%s is a link, and nothing is written through links: remove it, or choose another folder (%w)", name, atomicfile.ErrInTheWay)
	case !st.IsDir():
		return false, fmt.Errorf("%s is no folder: %w", name, atomicfile.ErrInTheWay)
	}
	return true, nil
}

// seal fills in sizes and hashes and flushes the staged files.
func seal(f FS, j *Journal, jobs int) error {
	if jobs <= 0 {
		jobs = SyncJobs
	}
	errs := make([]error, len(j.Files))
	var next atomic.Int64
	var wait sync.WaitGroup
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(errs) {
				return
			}
			if errs[i] = sealOne(f, j.stageOf(j.Files[i].Path), &j.Files[i]); errs[i] != nil {
				next.Store(int64(len(errs))) // the others need not begin
			}
		}
	}
	if jobs == 1 {
		work()
	} else {
		for range min(jobs, len(errs)) {
			wait.Go(work)
		}
		wait.Wait()
	}
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("%s: %w", j.Files[i].Path, err)
		}
	}
	return nil
}

func sealOne(f FS, name string, e *Entry) error {
	st, err := f.Lstat(name)
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("the staged file is no plain file: %w", fs.ErrInvalid)
	}
	if e.SHA256 == "" {
		in, err := f.Open(name)
		if err != nil {
			return err
		}
		h := sha256.New()
		_, err = io.Copy(h, in)
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
		e.SHA256 = hex.EncodeToString(h.Sum(nil))
	} else if st.Size() != e.Size {
		return fmt.Errorf("the staged file has %d bytes, %d were written: %w", st.Size(), e.Size, io.ErrUnexpectedEOF)
	}
	e.Size = st.Size()
	return f.SyncFile(name)
}

// write stores the journal in the stage and flushes all names of the stage.
func (j *Journal) write(f FS) error {
	text, err := j.encode()
	if err != nil {
		return err
	}
	temp := j.stageOf(tempName)
	out, err := f.Create(temp)
	if err != nil {
		return err
	}
	n, err := out.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if err := f.SyncFile(temp); err != nil {
		return err
	}
	dirs := map[string]bool{}
	for _, e := range j.Files {
		for _, d := range parents(e.Path) {
			dirs[j.stageOf(d)] = true
		}
	}
	for _, d := range append(deepestFirst(dirs), Folder+"/"+j.Stage, Folder, ".") {
		if err := f.SyncDir(d); err != nil {
			return err
		}
	}
	return nil
}

func deepestFirst(dirs map[string]bool) []string {
	var out []string
	for d := range dirs {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b string) int {
		if n := strings.Count(b, "/") - strings.Count(a, "/"); n != 0 {
			return n
		}
		return compare(a, b)
	})
	return out
}

// finish brings a committed change to its end. It may begin anywhere.
func finish(f FS, j *Journal) error {
	// The commit must last before the first old file goes.
	if err := f.SyncDir(Folder); err != nil {
		return err
	}
	if err := apply(f, j); err != nil {
		return err
	}
	// All is in place and flushed: only now may the journal go, and for good
	// before anybody changes the scene's files by other means.
	if err := f.Remove(Name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.SyncDir(Folder); err != nil {
		return err
	}
	// What is left of the stage goes with the next cook at the latest.
	if RemoveStage(f, j.Stage) == nil {
		_ = f.SyncDir(".")
	}
	return nil
}

// apply renames and removes what is not renamed and removed yet, and flushes
// the folders.
//
// The removals come first and last before the first rename: while there is one
// to do, all files of the old scene that say that it is its file are in their
// places, for a Judge to read.
func apply(f FS, j *Journal) error {
	left, err := applyRemoves(f, j)
	if err != nil {
		return err
	}
	folders := map[string]bool{".": true} // that are there, and not links
	for _, e := range j.Files {
		staged := j.stageOf(e.Path)
		st, err := f.Lstat(staged)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has moved
		}
		if err != nil {
			return err
		}
		if !st.Mode().IsRegular() {
			return fmt.Errorf("%s: %w (no plain file)", staged, ErrDamaged)
		}
		if err := makeFolders(f, e.Path, folders); err != nil {
			return err
		}
		if err := f.Rename(staged, e.Path); err != nil {
			return fmt.Errorf("%s: %w", e.Path, err)
		}
	}
	dirs := map[string]bool{}
	for _, e := range j.Files {
		for _, d := range parents(e.Path) {
			dirs[d] = true
		}
	}
	for _, d := range append(deepestFirst(dirs), ".") {
		if err := syncThere(f, d); err != nil {
			return err
		}
	}
	// Folders go when it is certain that what was in them is gone.
	for _, d := range deepestFirst(left) {
		if f.Remove(d) != nil {
			continue // it holds something
		}
		if err := f.SyncDir(path.Dir(d)); err != nil {
			return err
		}
	}
	return nil
}

// applyRemoves removes the stale files and flushes their folders, one before a
// file of the next goes. A name behind a link is not in the folder and stays. The
// answer lists the folders above the names.
func applyRemoves(f FS, j *Journal) (touched map[string]bool, err error) {
	touched = map[string]bool{}
	for i, name := range j.Removes {
		if i > 0 && path.Dir(name) != path.Dir(j.Removes[i-1]) {
			if err := syncThere(f, path.Dir(j.Removes[i-1])); err != nil {
				return nil, err
			}
		}
		dirs, reached, err := reaches(f, name)
		if err != nil {
			return nil, err
		}
		for _, d := range dirs {
			touched[d] = true // also of a file that went before a stop
		}
		if !reached {
			continue
		}
		st, err := f.Lstat(name)
		if err == nil && !st.IsDir() {
			err = f.Remove(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, d := range append(deepestFirst(touched), ".") {
		if err := syncThere(f, d); err != nil {
			return nil, err
		}
	}
	return touched, nil
}

// syncThere flushes a folder, if it is there.
func syncThere(f FS, dir string) error {
	if err := f.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// reaches lists the folders above a name that are there and not behind a link,
// and reports whether they are all.
func reaches(f FS, name string) (dirs []string, all bool, err error) {
	want := parents(name)
	for _, d := range slices.Backward(want) {
		there, err := isFolder(f, d)
		if errors.Is(err, atomicfile.ErrInTheWay) {
			return dirs, false, nil
		}
		if !there {
			return dirs, false, err
		}
		dirs = append(dirs, d)
	}
	return dirs, true, nil
}

// makeFolders makes the folders above a name that are not there.
func makeFolders(f FS, name string, known map[string]bool) error {
	dirs := parents(name)
	slices.Reverse(dirs)
	for _, d := range dirs {
		if known[d] {
			continue
		}
		there, err := isFolder(f, d)
		if err != nil {
			return err
		}
		if !there {
			if err := f.Mkdir(d); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		known[d] = true
	}
	return nil
}
