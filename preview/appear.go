package preview

import (
	"math"
	"time"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

// appear fades in tiles that come where nothing was, and out those that nothing
// follows. The runtime fades from one representation to the next, of which both
// are there. What goes is there until the grace period behind its unload radius is
// over, and has faded by then: its memory is given back when it always was. What
// budgets and signals take has no grace period, and goes at once.
type appear struct {
	on     bool
	length time.Duration // of a fade
	grace  time.Duration // after which a tile that is not wanted may go
	least  time.Duration // for which a tile is there at least

	tiles    map[tileKey]appearance
	leaving  map[tileKey]leaving
	frame    uint64
	standIns bool // a pyramid draws what is not there
}

func newAppear(o *Options) appear {
	c := &o.Config
	return appear{
		on: c.EnableFadeTransitions && !o.Whole, length: duration(c.FadeDuration),
		grace: duration(c.UnloadGracePeriod), least: duration(c.MinimumParsedTileResidentSeconds),
	}
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
	scene payload.SceneID
	tile  int32
}

type appearance struct {
	since time.Duration // when it came
	frame uint64        // in which it was drawn last
}

// fadeIn changes the opacity of what came less than a fade ago. dt is the time
// since the frame before, of which the first one has its part. While the tiles of
// a scene before scene are drawn, what comes takes their place at once. So it does
// where nodes of a pyramid stand in for what is not there.
func (f *appear) fadeIn(drawn []runtime.Drawn, scene payload.SceneID, now, dt time.Duration) {
	if !f.on {
		return
	}
	length := f.length
	if f.tiles == nil {
		f.tiles = map[tileKey]appearance{}
	}
	f.frame++
	replaces := false
	for i := range drawn {
		f.standIns = f.standIns || drawn[i].Parts != 0
		replaces = replaces || f.standIns || drawn[i].Scene != scene
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
		if !plain(list) || list[0].Parts != 0 {
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

// leave notes that nothing wants a tile any more: it goes after the grace period,
// but is there for least.
func (f *appear) leave(key tileKey, now time.Duration) {
	after := f.grace
	if at, ok := f.tiles[key]; ok {
		after = max(after, at.since+f.least-now)
	}
	length := min(f.length, after)
	if length <= 0 || f.standIns {
		return
	}
	if f.leaving == nil {
		f.leaving = map[tileKey]leaving{}
	}
	f.leaving[key] = leaving{now + after, length}
}

// stay takes that back: the tile fades in from what is left of it.
func (f *appear) stay(key tileKey, now time.Duration) {
	l, ok := f.leaving[key]
	if !ok {
		return
	}
	delete(f.leaving, key)
	if at, ok := f.tiles[key]; ok {
		at.since = min(at.since, now) // it may be fading in
		if left := l.opacity(now); left < 1 {
			at.since = now - time.Duration(left*float64(f.length))
		}
		f.tiles[key] = at
	}
}

// end shows what still fades in. What nodes of a pyramid stand in for fades by itself.
func (f *appear) end(drawn []runtime.Drawn) {
	if f.tiles == nil || f.standIns {
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

// duration converts the seconds of a parameter.
func duration(seconds float64) time.Duration {
	return time.Duration(min(seconds, math.MaxInt32) * float64(time.Second))
}

// noticed follows the grace periods of tiles without levels: in that of one with
// levels these take over.
func (f *appear) noticed(e *event.Event, tile int32, s *runtime.Streamer, now time.Duration) {
	key := tileKey{e.Scene, tile}
	switch {
	case !f.on:
	case e.Kind == event.TileGraceCleared:
		f.stay(key, now)
	case e.Kind == event.TileGrace:
		if info, ok := s.TileInfo(e.Scene, tile); ok && info.HLOD == 0 && len(info.LODs) == 0 {
			f.leave(key, now)
		}
	}
}
