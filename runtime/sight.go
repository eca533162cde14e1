package runtime

import (
	"math"
	"time"
)

// Where geometry is short, what is in view goes first: the rest counts as farther away
// when it chooses between its levels, by Config.OutOfViewDetail. When the camera turns, it
// is there, only coarser, until finer levels have come.

// Something is out of view after a time, so that who looks to and fro loads nothing anew, or
// once the camera has gone on so far: a fast one has most of what is loaded behind it, and the
// farther the less it needs of that.
const (
	outOfViewAfter = 10 * time.Second
	outOfViewWay   = 50 // metres
	mostAbsent     = 3  // times over: after four times that way
)

// sightMargin is how much wider than the camera's the angle is in which things count as in
// view, as a factor: so they become finer before they are seen.
const sightMargin = 1.25

// sight is what of a scene has been in view, by row of its table.
type sight struct {
	viewedAt []time.Duration // when it was last
	viewedOn []float64       // what the odometer showed then, or when geometry became short
	absent   []uint8         // 0: it is, else how many times over it counts as out of view
	short    bool            // geometry is
}

func newSight(rows int) sight {
	s := sight{viewedAt: make([]time.Duration, rows), viewedOn: make([]float64, rows), absent: make([]uint8, rows)}
	for i := range s.viewedAt {
		s.viewedAt[i] = math.MinInt64 / 2
	}
	return s
}

// judge works out how absent something is, and reports whether that has changed.
func (s *sight) judge(row int32, now time.Duration, odometer float64) (changed bool) {
	absent := uint8(0)
	gone := odometer - s.viewedOn[row]
	for way := float64(outOfViewWay); gone > way && absent < mostAbsent; way *= 2 {
		absent++
	}
	if now-s.viewedAt[row] > outOfViewAfter {
		absent = max(absent, 1)
	}
	changed = absent != s.absent[row]
	s.absent[row] = absent
	return changed
}

// lookAround works out what is out of view, nothing without a lens, and wakes the tiles of
// which that has changed.
func (sc *scene) lookAround() {
	if sc.cfg.OutOfViewDetail == 1 {
		return
	}
	wide := sc.camera
	wide.FovYDegrees = max(wide.FovYDegrees, min(float64(wide.FovYDegrees*sightMargin), 170))
	v := makeView(&wide, wide.Position, wide.Forward, &sc.root, &sc.inverse, sc.cfg.TileFrustumGatePadding)
	look := func(row int32) (changed bool) {
		if v.sees(&sc.tiles.box[row]) {
			sc.sight.viewedAt[row], sc.sight.viewedOn[row] = sc.now, sc.odometer
		}
		if changed = sc.sight.judge(row, sc.now, sc.odometer); changed && sc.sight.absent[row] == 0 {
			sc.recordOf(row).endHold()
		}
		return changed
	}
	if !sc.sight.short {
		sc.sight.short = true
		for row := range sc.sight.viewedOn {
			sc.sight.viewedOn[row] = sc.odometer
		}
	}
	if ref := sc.refinement; ref != nil {
		for i := range ref.nodes {
			look(ref.first + int32(i))
		}
	}
	woken := false
	for _, tile := range sc.query.tiles {
		// How much farther a query has looked makes no difference.
		if distanceTo(&sc.tiles.box[tile], &sc.view.pos) > sc.queryDistance && !sc.tiles.has(tile, flagShared) {
			continue
		}
		if look(tile) {
			sc.tiles.wake[tile], woken = math.Inf(-1), true
		}
	}
	if !woken {
		return
	}
	// Those that are awake have been measured in this tick as they were before.
	sc.awake = sc.awake[:0]
	for _, tile := range sc.active {
		if !sc.asleep(tile) {
			sc.include(tile)
		}
	}
}

// forget lets nothing count as out of view, where geometry is not short any more: a budget of
// triangles gains nothing from that.
func (s *sight) forget() {
	clear(s.absent)
	s.short = false
}

// detailOf returns the part of its detail that something keeps where geometry is short.
func (sc *scene) detailOf(row int32) float64 {
	detail := 1.
	for range sc.sight.absent[row] {
		detail *= sc.cfg.OutOfViewDetail
	}
	return detail
}

// stretchOf returns the stretch up to which a level of something that begins at from does
// not do at distance d.
func (sc *scene) stretchOf(row int32, from, d float64, had bool) float64 {
	return float64(stretchOf(from, d, had) * sc.detailOf(row))
}
