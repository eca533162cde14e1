package preview

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/untoldkit/untold/preview/surface"
)

// ticker runs a watcher by hand.
func ticker(t *testing.T) (*watcher, chan<- time.Time) {
	w := &watcher{changed: make(chan string, 1), paths: make(chan string), quit: make(chan struct{})}
	tick := make(chan time.Time)
	w.wait.Go(func() { w.run(tick) })
	t.Cleanup(func() {
		w.stop()
		goleak.VerifyNone(t)
	})
	return w, tick
}

func TestWatcher(t *testing.T) {
	w, tick := ticker(t)
	path := filepath.Join(t.TempDir(), "m.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("1")
	w.paths <- path // not through follow: it must be taken before the first look
	step := func() bool {
		tick <- time.Time{}
		tick <- time.Time{} // the first look is over
		select {
		case got := <-w.changed:
			if got != path {
				t.Errorf("%q changed", got)
			}
			return true
		default:
			return false
		}
	}
	twice := func() bool {
		first, second := step(), step()
		return first || second
	}
	if twice() {
		t.Error("nothing has changed")
	}
	write("longer")
	if !twice() {
		t.Error("a new cook is not seen")
	}
	if twice() {
		t.Error("it is seen twice")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if twice() {
		t.Error("a file that is gone is a new cook")
	}
	write("again")
	if !twice() {
		t.Error("the file that came back is not seen")
	}
}

// TestReload: a new cook is shown, a broken one is reported and the old one
// stays.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	path := writeTown(t, dir, 2)
	o := options(t, path)
	o.Frames = 80
	var news []string
	o.Message = func(s string) { news = append(news, s) }
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	r := newFakeRenderer()
	drawn := map[int]int{}
	s := &fakeSurface{w: 64, h: 48}
	s.onFrame = func(k int) []surface.Event {
		drawn[k] = len(r.last.Drawn)
		switch k {
		case 20:
			writeTown(t, dir, 3)
			return press(surface.KeyF5)
		case 50:
			if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
				t.Error(err)
			}
			return press(surface.KeyF5)
		}
		return nil
	}
	if _, err := run(t.Context(), &o, s, r); err != nil {
		t.Fatal(err)
	}
	if drawn[19] != 4 || drawn[49] != 9 || drawn[79] != 9 {
		t.Errorf("%d, %d, %d tiles", drawn[19], drawn[49], drawn[79])
	}
	if len(news) != 2 || news[0] != "reloaded" || !strings.Contains(news[1], "town.json") {
		t.Errorf("%q", news)
	}
}

// TestWatchInARun: what the watcher sees reaches the picture.
func TestWatchInARun(t *testing.T) {
	dir := t.TempDir()
	o := options(t, writeTown(t, dir, 1))
	o.FixedDT, o.Watch = 0, true
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	r := newFakeRenderer()
	s := &fakeSurface{w: 64, h: 48}
	cooked := false
	o.Message = func(text string) {
		if strings.HasPrefix(text, "cooked again") {
			s.script = map[int][]surface.Event{s.frame + 1: {{Kind: surface.EventClose}}}
		}
	}
	s.onFrame = func(k int) []surface.Event {
		if !cooked && len(r.last.Drawn) == 1 {
			cooked = true
			writeTown(t, dir, 2)
		}
		return nil
	}
	ctx := t.Context()
	if _, err := run(ctx, &o, s, r); err != nil {
		t.Fatal(err)
	}
	if !cooked {
		t.Error("nothing was drawn")
	}
}

// shownApp is an app with a scene, between two frames.
func shownApp(t *testing.T, o *Options) *app {
	t.Helper()
	o.Frames = 1
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	a := newApp(t.Context(), o, &fakeSurface{w: 64, h: 48}, newFakeRenderer())
	if err := a.choose(0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(a.closeShown(), a.closeLoader()); err != nil {
			t.Error(err)
		}
	})
	return a
}

// TestTakenBeforeWatched: a cook that the runtime has taken over is not loaded
// once more when the watcher sees it, which would clear the picture.
func TestTakenBeforeWatched(t *testing.T) {
	dir := t.TempDir()
	o := options(t, writeTown(t, dir, 1))
	var news []string
	o.Message = func(text string) { news = append(news, text) }
	a := shownApp(t, &o)
	for n := 2; n < 4; n++ {
		writeTown(t, dir, n)
		if _, err := a.shown.open.Source.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.succeeded(a.shown.id) // as when the runtime has told of it
		id := a.shown.id
		if a.cookedAgain(); a.shown.id != id || len(news) != 2*n-3 {
			t.Errorf("cook %d is loaded again: %q", n, news)
		}
		if a.cookedAgain(); a.shown.id == id || len(news) != 2*n-2 {
			t.Errorf("cook %d, written again, is not loaded: %q", n, news)
		}
	}
	// One that came since the runtime read is another one.
	if _, err := a.shown.open.Source.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.succeeded(a.shown.id)
	id := a.shown.id
	writeTown(t, dir, 1)
	if a.cookedAgain(); a.shown.id == id || len(a.shown.open.Source.Manifest.Tiles) != 1 {
		t.Error("a later cook is not loaded")
	}
}

// TestReadBesideDrops: the runtime reads a scene again beside the frames, while
// what is dropped onto the window makes the list another one.
func TestReadBesideDrops(t *testing.T) {
	path := writeTown(t, t.TempDir(), 1)
	o := options(t, path)
	o.Open = Open
	a := shownApp(t, &o)
	read := a.shown.open.Source.Reload
	done := make(chan error)
	go func() {
		_, err := read(t.Context())
		done <- err
	}()
	a.scenes.list = append(a.scenes.list[:1:1], a.scenes.list[0])
	if err := <-done; err != nil {
		t.Error(err)
	}
	a.scenes.list = nil
	if _, err := read(t.Context()); err != nil {
		t.Error(err)
	}
}
