package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

// A payload that is not the one that the manifest declares was usually cooked
// after the manifest was read. So the manifest is read again, beside the frames,
// and when it has changed, a scene made of it takes over from the old one: see
// succession.go.

// reloading is what a scene knows of its manifest being read again.
type reloading struct {
	read    func(ctx context.Context) (Source, error) // nil: it cannot be
	running bool
	fails   uint16        // readings in a row after which nothing could be loaded
	next    time.Duration // not again before
}

// reloaded is the answer of one reading.
type reloaded struct {
	old  *scene
	tile int32 // whose file gave the reason
	rep  payload.Rep
	next *scene
	err  error
}

// reloads reads manifests again beside the frames, rarely enough, and keeps
// the answers until they are taken.
type reloads struct {
	*env
	ctx      context.Context
	run      func(task func())
	register func(Source) (*scene, error)
	notify   func() // that there is an answer; from any goroutine

	tasks   sync.WaitGroup
	running int // on the owner goroutine
	mu      sync.Mutex
	answers []reloaded
}

// reader returns what reads a scene anew; nil when nothing can.
func (src *Source) reader() func(ctx context.Context) (Source, error) {
	switch {
	case src.Reload != nil:
		return src.Reload
	case src.Path == "" || src.entities:
		return nil
	}
	again := *src
	return func(context.Context) (Source, error) {
		m, err := manifest.Load(again.Path)
		again.Manifest = m
		return again, err
	}
}

// reportMismatch starts to read the manifest of a tile again when an error
// says that its file is not the declared one, or is gone. Manifests without
// hashes are left alone: their versions cannot be told apart.
func (l *reloads) reportMismatch(r *record, rep payload.Rep, err error) {
	sc := r.scene
	if !errors.Is(err, payload.ErrMismatch) && !errors.Is(err, fs.ErrNotExist) || sc.tiles.fileOf(r.tile, rep).sha256 == "" ||
		sc.reloading.read == nil || sc.reloading.running || l.now < sc.reloading.next {
		return
	}
	sc.reloading.running = true
	l.running++
	l.run(func() {
		a := reloaded{old: sc, tile: r.tile, rep: rep}
		var src Source
		if src, a.err = sc.reloading.read(l.ctx); a.err == nil {
			a.next, a.err = l.register(src)
		}
		l.mu.Lock()
		l.answers = append(l.answers, a)
		l.mu.Unlock()
		l.notify()
	})
}

// take returns what has been read since the last call, by scene.
func (l *reloads) take() []reloaded {
	if l.running == 0 {
		return nil
	}
	l.mu.Lock()
	answers := l.answers
	l.answers = nil
	l.mu.Unlock()
	slices.SortFunc(answers, func(a, b reloaded) int { return int(a.old.id) - int(b.old.id) })
	l.running -= len(answers)
	return answers
}

// takeReloads takes over what has been read again.
func (s *Streamer) takeReloads() {
	answers := s.reloads.take()
	for i := range answers {
		s.takeReload(&answers[i])
	}
}

func (s *Streamer) takeReload(a *reloaded) {
	old := a.old
	old.reloading.running = false
	if !slices.Contains(s.scenes, old) {
		return // removed or replaced meanwhile
	}
	old.postponeReload()
	p := old.tiles.fileOf(a.tile, a.rep)
	switch {
	case a.err != nil:
		s.stats.ManifestReloadFailures++
		s.warnUnchanged(a, fmt.Sprintf("%s is not the file that the manifest declares, and the manifest could not be read again: %v", p.path, a.err))
	case a.next.tiles.declares(old.tiles):
		s.stats.ManifestReloadFailures++
		s.warnUnchanged(a, p.path+" is not the file that the manifest declares, and the manifest has not changed: cook the scene again, or copy all of its folder")
	default:
		s.succeedScene(old, a.next, p.path+" is not the file that the manifest declared: the scene was cooked again")
	}
}

// postponeReload puts the next reading off, longer with each that was of no use.
func (sc *scene) postponeReload() {
	if sc.reloading.fails < math.MaxUint16 {
		sc.reloading.fails++
	}
	sc.reloading.next = sc.now + sc.backoff(sc.reloading.fails)
}

// warnUnchanged reports a tile that stays failed.
func (s *Streamer) warnUnchanged(a *reloaded, message string) {
	s.emit(event.Event{Kind: event.Warn, Scene: a.old.id, Tile: a.old.tiles.id[a.tile], Rep: a.rep, Message: message})
	s.log.Warn(message, "tile", a.old.tiles.id[a.tile], "rep", a.rep)
}

// declares reports whether two tables say the same of all tiles.
func (t *table) declares(o *table) bool {
	same := func(x, y fileRef) bool { return x.path == y.path && x.sha256 == y.sha256 && x.size == y.size }
	return slices.Equal(t.id, o.id) && slices.Equal(t.box, o.box) && slices.Equal(t.radius, o.radius) &&
		slices.EqualFunc(t.full, o.full, same) && slices.Equal(t.memory, o.memory) && slices.Equal(t.centerY, o.centerY) &&
		slices.Equal(t.priority, o.priority) && slices.Equal(t.levelAt, o.levelAt) &&
		slices.EqualFunc(t.flags, o.flags, func(x, y uint8) bool { return x&^flagMeshes == y&^flagMeshes }) &&
		slices.EqualFunc(t.levels, o.levels, func(x, y level) bool { return x.from == y.from && same(x.fileRef, y.fileRef) })
}
