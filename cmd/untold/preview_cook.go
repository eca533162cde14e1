package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/untoldkit/untold/internal/holding"
	"github.com/untoldkit/untold/preview"
)

// workshopPrefix starts the name of the folder in which scenes are cooked to be
// looked at.
const workshopPrefix = "untold-preview-"

// workshop cooks glTF scenes that are to be shown, in the process that shows
// them and below a temporary folder, which goes with it. What a killed one has
// left goes with the next.
type workshop struct {
	a     *app
	ctx   context.Context // ends with the run, and when the terminal hangs up
	stop  context.CancelFunc
	watch bool // scenes that change are cooked again

	mu      sync.Mutex // one cook at a time
	dir     string     // "" until there is something to cook
	release func()     // ends the hold on dir
	cooks   int
	sources map[string]string // by manifest, the glTF
	watches sync.WaitGroup
}

func newWorkshop(ctx context.Context, a *app, watch bool) *workshop {
	w := &workshop{a: a, watch: watch, sources: map[string]string{}}
	if signal.Ignored(syscall.SIGHUP) { // by nohup
		w.ctx, w.stop = context.WithCancel(ctx)
	} else {
		w.ctx, w.stop = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	return w
}

// close ends what still runs and removes what was cooked.
func (w *workshop) close() error {
	w.stop()
	w.watches.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir == "" {
		return nil
	}
	err := os.RemoveAll(w.dir)
	w.release()
	return err
}

// source is the glTF that a manifest was cooked from here, or the manifest.
func (w *workshop) source(manifest string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s, ok := w.sources[manifest]; ok {
		return s
	}
	return manifest
}

// open is preview.Open, and cooks glTF scenes and the one of a folder.
func (w *workshop) open(path string) ([]preview.Scene, error) {
	st, err := os.Stat(path)
	if err == nil && !st.IsDir() && isGLTF(path) {
		return w.add(path)
	}
	scenes, err := preview.Open(path)
	if !errors.Is(err, preview.ErrNoScene) || st == nil || !st.IsDir() {
		return scenes, err
	}
	switch found := gltfsIn(path); len(found) {
	case 0:
		return nil, fmt.Errorf("%w; nor is there a glTF scene", err)
	case 1:
		return w.add(found[0])
	default:
		return nil, fmt.Errorf("%s holds %d glTF scenes; name those to show: %s", path, len(found), nameSome(found))
	}
}

// add cooks a scene and returns it.
func (w *workshop) add(path string) ([]preview.Scene, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ctx.Err(); err != nil {
		return nil, err // or the folder would be made after it was removed
	}
	if err := w.setUp(); err != nil {
		return nil, err
	}
	w.cooks++
	out := filepath.Join(w.dir, fmt.Sprint(w.cooks))
	f := follower{files: []string{path, profileOf(path)}, cook: func() ([]string, error) { return w.again(path, out) }}
	before, began := f.look(), time.Now()
	manifest, files, err := w.cook(path, out)
	if err != nil {
		return nil, err
	}
	w.sources[manifest] = path
	scenes, err := preview.Open(manifest)
	if err != nil {
		return nil, err
	}
	scenes[0].Name = filepath.Base(path)
	if w.watch {
		w.watches.Go(func() {
			ticks, stop := followTicks()
			defer stop()
			f.files = files
			f.settle(before, began)
			f.follow(w.ctx, ticks, nil)
		})
	}
	return scenes, nil
}

// setUp makes the temporary folder.
func (w *workshop) setUp() error {
	if w.dir != "" {
		return nil
	}
	sweepWorkshops(os.TempDir())
	dir, err := os.MkdirTemp("", workshopPrefix+"*")
	if err != nil {
		return fmt.Errorf("a place to cook: %w (TMPDIR names another)", err)
	}
	release, _, err := holding.Folder(dir)
	if err != nil {
		return fmt.Errorf("a place to cook: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	w.dir, w.release = dir, release
	return nil
}

// sweepWorkshops removes what killed runs have left in a folder for temporary
// files.
func sweepWorkshops(temp string) {
	list, _ := os.ReadDir(temp) // making a folder there will say what is wrong
	for _, d := range list {
		if !d.IsDir() || !strings.HasPrefix(d.Name(), workshopPrefix) {
			continue
		}
		at := filepath.Join(temp, d.Name())
		release, state, err := holding.Folder(at)
		if err != nil {
			continue // somebody else's
		}
		if state == holding.Held {
			_ = os.RemoveAll(at) // the next one tries again
		}
		if release != nil {
			release()
		}
	}
}

// cook cooks a scene with the settings that untold cook would take: of the
// environment, and of the file that --config names or that lies beside it.
func (w *workshop) cook(scene, out string) (manifest string, files []string, err error) {
	a := w.a
	var c cookFlags
	cmd, err := a.cookSettings(&c, scene)
	if err != nil {
		return "", nil, err
	}
	// What decides about outputs is for cook itself.
	c.out, c.plan, c.report, c.sync, c.opts.DryRun = out, "", "", false, false
	if err := c.resolve(cmd, a); err != nil {
		return "", nil, err
	}
	a.info("cooking %s to look at it; untold cook keeps what it makes", oneLine(scene))
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(leastGC))
	}
	begin := time.Now()
	res, err := c.cook(w.ctx, a, scene)
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w (TMPDIR names another place for temporary files)", err)
	}
	if err != nil {
		return "", nil, err
	}
	debug.FreeOSMemory() // the scene of the cook is much, and no longer needed
	a.info("%s (%.1f s)", needsText(res), time.Since(begin).Seconds())
	return res.ManifestPath, append(res.Files[:len(res.Files):len(res.Files)], profileOf(scene)), nil
}

// again cooks a scene once more; the preview sees the new manifest. It returns the files
// that it came from.
func (w *workshop) again(path, out string) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, files, err := w.cook(path, out)
	if err != nil && w.ctx.Err() == nil {
		w.a.info("%s has changed, but: %s", oneLine(path), messageFor(err))
	}
	return files, err
}
