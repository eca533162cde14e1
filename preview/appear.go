package preview

import (
	"math"
	"time"

	"github.com/untoldkit/untold/runtime"
)

// appear fades in tiles that come where nothing was, and out those that nothing
// follows. The runtime fades from one representation to the next, of which both
// are there. What goes is there until the grace period behind its unload radius is
// over, and has faded by then: its memory is given back when it always was. What
// budgets and signals take has no grace period, and goes at once.
type appear struct {
	tiles   map[tileKey]appearance
	leaving map[tileKey]leaving
	frame   uint64
}

// leaving is a tile in its grace period.
type leaving struct {
	end    time.Duration // when it may go
	length time.Duration // of the fade, which ends then
}

// opacity returns how much of it is left.
func (l leaving) opacity(now time.Duration) float64 {
	return min(max(float64(l.end-now)/float64(l.length), 0), 1)
}

type tileKey struct {
	scene runtime.SceneID
	tile  int32
}

type appearance struct {
	since time.Duration // when it came
	frame uint64        // in which it was drawn last
}

// fadeIn changes the opacity of what came less than length ago. dt is the time
// since the frame before, of which the first one has its part. While the tiles of
// a scene before scene are drawn, what comes takes their place at once.
func (f *appear) fadeIn(drawn []runtime.Drawn, scene runtime.SceneID, now, dt, length time.Duration) {
	if f.tiles == nil {
		f.tiles = map[tileKey]appearance{}
	}
	f.frame++
	replaces := false
	for i := range drawn {
		replaces = replaces || drawn[i].Scene != scene
	}
	eachTile(drawn, func(key tileKey, list []runtime.Drawn) {
		at, known := f.tiles[key]
		if !known || at.frame != f.frame-1 {
			if at.since = now - dt; replaces {
				at.since = now - length
			}
		}
		at.frame = f.frame
		f.tiles[key] = at
		if !plain(list) {
			return
		}
		opacity := 1.0
		if age := now - at.since; age < length {
			opacity = float64(age) / float64(length)
		}
		if l, ok := f.leaving[key]; ok {
			opacity = min(opacity, l.opacity(now))
		}
		for i := range list {
			list[i].Fade = opacity
		}
	})
	for key, at := range f.tiles {
		if at.frame != f.frame {
			delete(f.tiles, key)
			delete(f.leaving, key)
		}
	}
}

// leave notes that nothing wants a tile any more, which goes after a time, but is
// there for least.
func (f *appear) leave(key tileKey, now, after, least, length time.Duration) {
	if at, ok := f.tiles[key]; ok {
		after = max(after, at.since+least-now)
	}
	if length = min(length, after); length <= 0 {
		return
	}
	if f.leaving == nil {
		f.leaving = map[tileKey]leaving{}
	}
	f.leaving[key] = leaving{now + after, length}
}

// stay takes that back: the tile fades in from what is left of it.
func (f *appear) stay(key tileKey, now, length time.Duration) {
	l, ok := f.leaving[key]
	if !ok {
		return
	}
	delete(f.leaving, key)
	if at, ok := f.tiles[key]; ok {
		at.since = min(at.since, now) // it may be fading in
		if left := l.opacity(now); left < 1 {
			at.since = now - time.Duration(left*float64(length))
		}
		f.tiles[key] = at
	}
}

// end shows what still fades in.
func (f *appear) end(drawn []runtime.Drawn) {
	if f.tiles == nil {
		return
	}
	eachTile(drawn, func(_ tileKey, list []runtime.Drawn) {
		for i := range list {
			if list[i].Rep != list[0].Rep {
				return // fades into another one
			}
		}
		for i := range list {
			list[i].Fade = 1
		}
	})
}

// eachTile calls f with the entries of each tile.
func eachTile(drawn []runtime.Drawn, f func(tileKey, []runtime.Drawn)) {
	for len(drawn) > 0 {
		n := 1
		for n < len(drawn) && drawn[n].Scene == drawn[0].Scene && drawn[n].Tile == drawn[0].Tile {
			n++
		}
		f(tileKey{drawn[0].Scene, drawn[0].Tile}, drawn[:n])
		drawn = drawn[n:]
	}
}

// plain reports whether nothing of a tile fades.
func plain(list []runtime.Drawn) bool {
	for i := range list {
		if list[i].Fade < 1 {
			return false
		}
	}
	return true
}

// appearing fades in what is new in this frame, and out what is about to go.
func (a *app) appearing() {
	if a.fades() {
		a.appear.fadeIn(a.drawn, a.id, a.clock.elapsed(), a.dt, a.fadeLength())
	}
}

// fades reports whether tiles that come and go fade.
func (a *app) fades() bool { return a.o.Config.EnableFadeTransitions && !a.o.Whole }

func (a *app) fadeLength() time.Duration { return duration(a.o.Config.FadeDuration) }

// duration converts the seconds of a parameter.
func duration(seconds float64) time.Duration {
	return time.Duration(min(seconds, math.MaxInt32) * float64(time.Second))
}

// leaves notes the grace periods of tiles without levels: in that of one with
// levels these take over.
func (a *app) leaves(e *runtime.Event) {
	if e.Kind != runtime.EventTileGrace && e.Kind != runtime.EventTileGraceCleared || !a.fades() || e.Scene != a.id {
		return
	}
	tile, ok := a.tiles[e.Tile]
	if !ok {
		return
	}
	key, now := tileKey{e.Scene, tile}, a.clock.elapsed()
	if e.Kind == runtime.EventTileGraceCleared {
		a.appear.stay(key, now, a.fadeLength())
		return
	}
	if info, ok := a.s.TileInfo(e.Scene, tile); ok && info.HLOD == 0 && len(info.LODs) == 0 {
		c := &a.o.Config
		a.appear.leave(key, now, duration(c.UnloadGracePeriod), duration(c.MinimumParsedTileResidentSeconds), a.fadeLength())
	}
}
