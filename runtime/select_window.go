package runtime

import (
	"slices"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// Thousands of small tiles near the camera may want a level while a handful of
// slots is free. A tick therefore looks at a window of the tiles without a record
// and, once more, at the best that earlier windows have left over. The window
// moves on with every tick. With fewer tiles near than a window holds, all are
// looked at.

const (
	scanWindow    = 256 // tiles of a scene
	shortlistSize = 64  // candidates of a class
)

// waiting is a tile that was a good candidate and found no slot.
type waiting struct {
	scene *scene
	tile  int32
}

// scanIdle plans the levels of tiles without a record: the window's, and those
// on the shortlist.
func (sel *selector) scanIdle(sc *scene) {
	if len(sc.nearIdle) <= sel.window || sc.jumped {
		sel.windowed = sel.windowed || len(sc.nearIdle) > sel.window
		sc.cursor, sc.jumped = 0, false
		sel.planAllIdle(sc, sc.nearIdle)
		return
	}
	sel.windowed = true
	sel.windows = max(sel.windows, (len(sc.nearIdle)+sel.window-1)/sel.window)
	from, _ := slices.BinarySearch(sc.nearIdle, sc.cursor)
	to := min(len(sc.nearIdle), from+sel.window)
	sel.planAllIdle(sc, sc.nearIdle[from:to])
	first := sc.cursor
	sc.cursor = 0
	if to < len(sc.nearIdle) {
		sc.cursor = sc.nearIdle[to]
		sel.scanning = true
	}
	for c := range sel.shortlist {
		for _, w := range sel.shortlist[c] {
			if w.scene != sc || w.tile >= first && (sc.cursor == 0 || w.tile < sc.cursor) {
				continue // of another scene, or in the window
			}
			if _, ok := slices.BinarySearch(sc.nearIdle, w.tile); ok && sc.tiles.record[w.tile] < 0 {
				sel.planIdle(sc, w.tile)
			}
		}
	}
}

func (sel *selector) planAllIdle(sc *scene, tiles []int32) {
	for _, tile := range tiles {
		if sc.tiles.record[tile] < 0 { // else it has got one in this tick
			sel.planIdle(sc, tile)
		}
	}
}

// keepBest makes the shortlist of a class from the candidates without a slot.
func (sel *selector) keepBest(c class, list []candidate) {
	best := sel.best[:0]
	for i := range list {
		x := &list[i]
		if x.scene.recordOf(x.tile) != nil {
			continue // looked at in every tick
		}
		if len(best) == shortlistSize {
			if !x.before(&best[len(best)-1]) {
				continue
			}
			best = best[:len(best)-1]
		}
		at := len(best)
		for at > 0 && x.before(&best[at-1]) {
			at--
		}
		best = slices.Insert(best, at, *x)
	}
	sel.shortlist[c] = sel.shortlist[c][:0]
	for i := range best {
		sel.shortlist[c] = append(sel.shortlist[c], waiting{best[i].scene, best[i].tile})
	}
	clear(best)
	sel.best = best
}

// clearShortlists forgets what scenes that are gone have left.
func (sel *selector) clearShortlists() {
	for c := range sel.shortlist {
		clear(sel.shortlist[c])
		sel.shortlist[c] = sel.shortlist[c][:0]
	}
}

// planIdle plans the levels of a tile without a record.
func (sel *selector) planIdle(sc *scene, tile int32) {
	t := sc.tiles
	d, effective := sc.measureIdle(tile, sel.cfg.DispatchEpsilon)
	rep := payload.RepNone
	if t.levelAt[tile] != t.levelAt[tile+1] && d <= sel.cfg.MaxQueryRadius {
		rep = sc.grantedLevelAt(tile, nil, d)
		if grant, _ := sc.grantAt(tile, nil, d); rep == payload.RepNone && grant == grantAll && sel.cfg.Handoff == config.HandoffCovered {
			rep = sc.fallbackLevel(tile, d)
		}
	}
	if rep != payload.RepNone {
		sel.propose(sc, tile, nil, sc.outlineOf(tile, nil, rep), d)
	} else if sc.idleCanSleep(tile, effective, rep) {
		sc.sleep(tile, d, effective)
	}
}
