package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/human"
)

// followInterval is how often files are looked at, and how long they must have rested
// before they are read: programs write a scene in several steps.
const followInterval = 400 * time.Millisecond

// followTicks are the times at which files are looked at.
func followTicks() (<-chan time.Time, func()) {
	t := time.NewTicker(followInterval)
	return t.C, t.Stop
}

// stamps say of files when they were written, "" of those that are not there.
type stamps map[string]string

// follower cooks a scene again whenever its files have changed and rest.
type follower struct {
	files  []string                 // that are looked at
	more   func() []string          // what is there now of the inputs' folders and patterns; nil: no such
	cook   func() ([]string, error) // returns the files of the scene; nil: those of before
	cooked stamps                   // of the files as they were before they were cooked
	stale  bool                     // what is there has not been cooked
}

// follow runs until ctx ends, or stop says that there is no use in it.
func (f *follower) follow(ctx context.Context, ticks <-chan time.Time, stop func() bool) {
	for last := f.look(); stop == nil || !stop(); {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		last = f.tick(last)
	}
}

// tick looks at the files once more, and cooks if they have changed and are as they were
// the last time. It returns how they are.
func (f *follower) tick(last stamps) stamps {
	now := f.look()
	if maps.Equal(now, last) && (f.stale || !maps.Equal(now, f.cooked)) {
		f.again()
	}
	return now
}

// again cooks. What has changed while it was read is an error, and not cooked yet.
func (f *follower) again() {
	before, began := f.look(), time.Now()
	files, err := f.cook()
	if files != nil {
		f.files = files
	}
	f.settle(before, began)
	f.stale = errors.Is(err, gltfscene.ErrChanged)
}

// settle notes which files have been cooked: as they were before, and those that were not
// known then as they are, but for what was written since the cook began.
func (f *follower) settle(before stamps, began time.Time) {
	f.cooked = f.look()
	for name := range f.cooked {
		if was, ok := before[name]; ok {
			f.cooked[name] = was
		} else if st, err := os.Stat(name); err == nil && !st.ModTime().Before(began) {
			f.cooked[name] = "" // it may have been read before or after
		}
	}
}

// look returns the stamps of all files.
func (f *follower) look() stamps {
	out := stamps{}
	for _, name := range f.files {
		out[name] = stampOf(name)
	}
	if f.more != nil {
		for _, name := range f.more() {
			out[name] = stampOf(name)
		}
	}
	return out
}

// stampOf changes when a file is written anew; "" while it is not there.
func stampOf(path string) string {
	st, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(st.ModTime().UnixNano(), st.Size())
}

// follow cooks, and again whenever a file of the scene or its settings have changed, until
// the context ends. Each cook reads the command line, the environment and the settings
// anew.
func (c *cookFlags) follow(cmd *cobra.Command, a *app, args []string) error {
	if c.shard != "" {
		return errors.New("--watch and --shard do not go together: a shard makes its share once")
	}
	for _, in := range args {
		if !isLocal(in) {
			return fmt.Errorf("--watch looks at files, and %s is none: download it first", oneLine(in))
		}
	}
	settings := a.config
	if settings == "" {
		settings = profileOf(args[0])
	}
	ctx := cmd.Context()
	var failed error // of the last cook
	begun := false   // it came to that: the command line is in order
	first := true
	f := follower{files: append(args[:len(args):len(args)], settings), more: func() []string { return inputFiles(args) }}
	f.cook = func() (files []string, err error) {
		inner := &app{stdout: a.stdout, stderr: a.stderr, stdoutTerminal: a.stdoutTerminal, args: a.args, watched: true}
		root := newRoot(inner)
		root.SetArgs(a.args)
		root.SetOut(a.stdout)
		root.SetErr(a.stderr)
		failed = root.ExecuteContext(ctx)
		begun = begun || inner.begun
		debug.FreeOSMemory() // until something changes
		if inner.files != nil {
			files = append(inner.files[:len(inner.files):len(inner.files)], settings)
		}
		if ctx.Err() != nil || !begun || first && errors.Is(failed, fs.ErrNotExist) {
			return files, failed
		}
		first = false
		if failed != nil && !errors.Is(failed, errFindings) {
			fmt.Fprintln(a.stderr, a.paint(red, "error:"), messageFor(failed))
		}
		looked := f.files
		if files != nil {
			looked = files
		}
		a.info("watching %s; Ctrl-C ends", human.Plural(len(looked), "file"))
		return files, failed
	}
	if f.again(); first {
		return failed
	}
	ticks, stop := followTicks()
	defer stop()
	broken := func() error {
		if w, ok := a.stdout.(*checkedWriter); ok {
			return w.err
		}
		return nil
	}
	f.follow(ctx, ticks, func() bool { return broken() != nil })
	return broken() // a signal is how it ends
}

// inputFiles are the files that arguments name now.
func inputFiles(args []string) (names []string) {
	items, err := localInputs(args)
	if err != nil {
		return nil // the cook says it
	}
	for i := range items {
		names = append(names, items[i].File)
	}
	return names
}
