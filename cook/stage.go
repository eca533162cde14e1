package cook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrBusy says that another cook writes to the same output folder.
var ErrBusy = errors.New("another cook is at work in the output folder")

// stagePrefix starts the name of the folder in which a cook gathers its files.
// Digits follow.
const stagePrefix = ".untold-cook-"

// holding is what is known about who uses a folder.
type holding int

const (
	unsure holding = iota // the system or the file system has no locks
	held                  // by the caller
	busy                  // by somebody else
)

// makeStage creates a folder inside dir that no other cook takes for
// abandoned.
func makeStage(dir string) (stage string, release func(), err error) {
	for range 100 {
		stage, err = os.MkdirTemp(dir, stagePrefix+"*")
		if err != nil {
			return "", nil, err
		}
		var state holding
		release, state, err = hold(stage)
		if err == nil && state != busy {
			return stage, release, nil
		}
		// A sweep came between creation and hold: it removes the folder.
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			os.Remove(stage)
			return "", nil, err
		}
	}
	return "", nil, fmt.Errorf("no temporary folder in %s lasts", dir)
}

// sweep removes the stages of cooks that were killed. Those of living cooks
// are held; where that cannot be known nothing is removed.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // creating the stage will say what is wrong
	}
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), stagePrefix)
		if !ours || !e.IsDir() || number == "" || strings.Trim(number, "0123456789") != "" {
			continue
		}
		path := filepath.Join(dir, e.Name())
		release, state, err := hold(path)
		if err != nil || state == busy {
			continue
		}
		if state == held {
			os.RemoveAll(path)
		}
		release()
	}
}
