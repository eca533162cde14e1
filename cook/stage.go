package cook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/untoldkit/untold/internal/holding"
	"github.com/untoldkit/untold/internal/journal"
)

// ErrBusy says that another cook writes to the same output folder.
var ErrBusy = errors.New("another cook is at work in the output folder")

// ErrUnfinished says that a cook has committed its scene, so that all readers
// of this module see the new one, but could not bring every file to its name.
var ErrUnfinished = journal.ErrUnfinished

// oldStagePrefix starts the name of the folder in which cooks of earlier
// versions gathered their files. Digits follow.
const oldStagePrefix = ".untold-cook-"

// stages makes the names of this process's stages differ.
var stages atomic.Uint32

// makeStage creates a folder in the state folder of dir that no other cook
// takes for abandoned.
func makeStage(dir string, f journal.FS) (name string, release func(), err error) {
	for range 100 {
		if err := journal.MakeFolder(f); err != nil {
			return "", nil, err
		}
		name = fmt.Sprintf("%s%d%06d", journal.StagePrefix, os.Getpid(), stages.Add(1))
		if err = f.Mkdir(path.Join(journal.Folder, name)); errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
			continue // or another cook has removed the empty state folder
		}
		if err != nil {
			_ = f.Remove(journal.Folder) // fails while somebody uses it
			return "", nil, err
		}
		var state holding.State
		release, state, err = holding.Folder(filepath.Join(dir, journal.Folder, name))
		if err == nil && state != holding.Busy {
			return name, release, nil
		}
		// A sweep came between creation and hold: it removes the folder.
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			_ = journal.RemoveStage(f, name)
			return "", nil, err
		}
	}
	return "", nil, fmt.Errorf("no temporary folder in %s lasts", dir)
}

// holder is holding.Folder, which tests replace by that of a system without locks.
type holder func(dir string) (release func(), state holding.State, err error)

// sweep removes the stages of cooks that were killed. Those of living cooks
// are held, those that a journal names hold a committed scene; where there are no
// locks a stage goes when nothing in it has changed for a day. With adopts those stay
// that have results.
func sweep(dir string, f journal.FS, hold holder, idle func(f journal.FS, at string) bool, adopts bool) {
	sweepFolder(dir, ".", f, hold, idle, func(name string) bool {
		number, ours := strings.CutPrefix(name, oldStagePrefix)
		return ours && number != "" && strings.Trim(number, "0123456789") == ""
	})
	if st, err := f.Lstat(journal.Folder); err == nil && st.IsDir() {
		sweepFolder(dir, journal.Folder, f, hold, idle, func(name string) bool {
			if !journal.IsStage(name) {
				return false
			}
			_, err := f.Lstat(path.Join(journal.Folder, name, logName))
			return !adopts || err != nil
		})
	}
}

func sweepFolder(dir, in string, f journal.FS, hold holder, idle func(f journal.FS, at string) bool, ours func(name string) bool) {
	entries, err := f.ReadDir(in)
	if err != nil {
		return // creating the stage will say what is wrong
	}
	for _, e := range entries {
		if !e.IsDir() || !ours(e.Name()) {
			continue
		}
		release, state, err := hold(filepath.Join(dir, in, e.Name()))
		if err != nil || state == holding.Busy {
			continue
		}
		// Who is held now does not commit any more, so this look lasts.
		if j, err := journal.Load(f); err == nil && (j == nil || j.Stage != e.Name()) {
			at := path.Join(in, e.Name())
			if state == holding.Held {
				_ = journal.RemoveAll(f, at) // the next cook tries again
			} else if idle(f, at) {
				removeUnheld(f, at, e.Name())
			}
		}
		release()
	}
}

// removeUnheld removes a stage that nobody can hold. It gets another name first: a
// cook that is alive all the same cannot commit it from then on, and one that has
// committed it just now gets it back.
func removeUnheld(f journal.FS, at, name string) {
	aside := path.Join(path.Dir(at), fmt.Sprintf("%s%d%06d", journal.StagePrefix, os.Getpid(), stages.Add(1)))
	if path.Dir(at) == "." {
		aside = at // of earlier versions, which knew no commit
	} else if _, err := f.Lstat(aside); !errors.Is(err, fs.ErrNotExist) || f.Rename(at, aside) != nil {
		return // the next cook tries again
	}
	if j, err := journal.Load(f); err != nil || j != nil && j.Stage == name {
		_ = f.Rename(aside, at)
		return
	}
	_ = journal.RemoveAll(f, aside)
}
