package preview

import (
	"fmt"
	"reflect"
	"sync"
	"time"
)

// watchInterval is how often a file is looked at, and how long it must have
// been the same before it counts as complete: a cook writes the manifest last
// and at once, other programs do not.
const watchInterval = 400 * time.Millisecond

// watcher looks at a file now and then, beside the frames: a disk that sleeps
// must not stop them.
type watcher struct {
	changed chan string // paths
	paths   chan string
	quit    chan struct{}
	wait    sync.WaitGroup
}

func startWatcher(every time.Duration) *watcher {
	w := &watcher{changed: make(chan string, 1), paths: make(chan string, 1), quit: make(chan struct{})}
	w.wait.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		w.run(t.C)
	})
	return w
}

// run looks at every tick.
func (w *watcher) run(tick <-chan time.Time) {
	path, shown, last := "", "", ""
	for {
		select {
		case <-w.quit:
			return
		case path = <-w.paths:
			shown = modified(path)
			last = shown
			continue
		case <-tick:
		}
		if path == "" {
			continue
		}
		now := modified(path)
		if now == last && now != shown && now != "" {
			shown = now
			select {
			case w.changed <- path:
			case <-w.quit:
				return
			}
		}
		last = now
	}
}

// follow changes the file. It is called from one goroutine and never waits.
func (w *watcher) follow(path string) {
	select {
	case <-w.paths: // an earlier one that was not taken yet
	default:
	}
	w.paths <- path
}

func (w *watcher) stop() {
	close(w.quit)
	w.wait.Wait()
}

// newCook reloads the scene when it was cooked again.
func (a *app) newCook() {
	if a.watch == nil {
		return
	}
	select {
	case path := <-a.watch.changed:
		if path == a.scenes.list[a.scenes.current].Path {
			a.cookedAgain()
		}
	default:
	}
}

// cookedAgain reloads the scene, unless the runtime has done that already: it
// sees a new cook by the first payload, often before the watcher does, and keeps
// what is drawn, which a reload does not.
func (a *app) cookedAgain() {
	if a.scenes.taken {
		a.scenes.taken = false
		if open, err := a.scenes.load(a.scenes.current); err == nil && reflect.DeepEqual(open.Source.Manifest, a.shown.open.Source.Manifest) {
			return
		}
	}
	if err := a.reload(); err != nil {
		a.messages.reportError(fmt.Sprintf("%s was cooked again, but: %v", a.scenes.list[a.scenes.current].Path, err))
		return
	}
	a.messages.notify("cooked again: " + a.scenes.name())
}
