package preview

import (
	"time"

	"github.com/untoldkit/untold/runtime"
)

// appear fades in tiles that come where nothing was. The runtime fades from one
// representation to the next, of which both are there.
type appear struct {
	tiles map[tileKey]appearance
	frame uint64
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
		if age := now - at.since; age < length && plain(list) {
			for i := range list {
				list[i].Fade = float64(age) / float64(length)
			}
		}
	})
	for key, at := range f.tiles {
		if at.frame != f.frame {
			delete(f.tiles, key)
		}
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

// appearing fades in what is new in this frame.
func (a *app) appearing() {
	if c := &a.o.Config; c.EnableFadeTransitions && !a.o.Whole {
		a.appear.fadeIn(a.drawn, a.id, a.clock.elapsed(), a.dt, time.Duration(c.FadeDuration*float64(time.Second)))
	}
}
