package runtime

import (
	"math"
	"slices"
	"time"
)

// repState is the state of one representation of one tile.
type repState struct {
	state      TileState // TileParsing means requested, TileParsed resident
	drawable   bool      // the device can draw it
	fails      uint16    // consecutive
	toggles    uint8     // loads and unloads since togglesAt
	token      uint64    // of the current request
	failedAt   time.Duration
	residentAt time.Duration
	togglesAt  time.Duration
	given      bool          // given up for want of room, and not back yet
	givenAt    time.Duration // when
	geometry   int64         // bytes on the device
	texture    int64
	split      bool // streams mesh by mesh: drawable means that enough of them are
}

func (r *repState) resident() bool { return r.state == TileParsed }
func (r *repState) loading() bool  { return r.state == TileParsing }

// held reports whether a representation was given up so short a time ago that it
// must not come back yet.
func (r *repState) held(now time.Duration) bool { return r.given && now-r.givenAt < evictionHold }

// record is the mutable state of a tile that is not idle.
type record struct {
	scene *scene
	tile  int32
	reps  []repState // by Rep-1: full, HLOD, LODs

	meshes *meshTile // of the full representation while it streams mesh by mesh

	actual, effective float64 // distances as of the last tick
	near              bool    // within the query radius as of the last tick
	share             share   // of its wishes that the geometry budget grants

	inGrace    bool
	graceSince time.Duration
	retire     bool // fades only: draw the successor, the full tile is about to go

	// The last transitions of the LODs and of the HLOD.
	lodStamp, hlodStamp     time.Duration
	lodStamped, hlodStamped bool

	target  Rep // what the planner works towards, RepNone: keep what there is
	wanted  Rep // what the tile should show
	drawn   Rep
	drawnAt time.Duration // since when
	fading  Rep           // the outgoing representation of a fade
	faded   time.Duration

	parsedAtStart bool // of the tick, for strict mode
	everDrawn     bool // since the tile last wanted no representation
	undrawn       bool
	evicted       Rep // under memory pressure, and not back yet; RepNone: nothing
	evictedAt     time.Duration

	seenAt     time.Duration // when the camera came within the streaming radius
	seen       bool
	gapSince   time.Duration
	gapWarned  time.Duration
	gap        bool
	gapShown   bool
	handoffAge uint16 // ticks for which a resident full tile is not drawn
}

func (r *record) rep(p Rep) *repState { return &r.reps[p-1] }
func (r *record) full() *repState     { return &r.reps[0] }

// key names a whole representation for the Device.
func (r *record) key(rep Rep) Key { return Key{Scene: r.scene.id, Tile: r.tile, Rep: rep} }

// idle reports whether the record holds nothing that must be remembered.
func (r *record) idle(now time.Duration) bool {
	if r.inGrace || r.drawn != RepNone || r.everDrawn || r.fading != RepNone || r.seen || r.evicted != RepNone && r.near {
		return false
	}
	for i := range r.reps {
		st := &r.reps[i]
		if st.held(now) || st.state != TileUnloaded || st.fails > 0 || st.toggles > 0 && now-st.togglesAt <= swapWindow {
			return false
		}
	}
	return true
}

// recordOf returns the record of a tile, nil when it is idle.
func (sc *scene) recordOf(tile int32) *record {
	if i := sc.tiles.record[tile]; i >= 0 {
		return sc.records[i]
	}
	return nil
}

// activate returns the record of a tile, a new one when it was idle.
func (sc *scene) activate(tile int32) *record {
	if r := sc.recordOf(tile); r != nil {
		return r
	}
	var r *record
	if n := len(sc.spare); n > 0 {
		r = sc.spare[n-1]
		sc.spare = sc.spare[:n-1]
	} else {
		r = &record{}
	}
	n := 2 + len(sc.tiles.lods(tile))
	reps := slices.Grow(r.reps[:0], n)[:n]
	clear(reps)
	*r = record{scene: sc, tile: tile, reps: reps}
	r.actual, r.effective = sc.view.distance(&sc.tiles.box[tile])
	r.near, r.share = true, sc.allowance.grant(r.actual, shareNone)
	sc.tiles.wake[tile] = math.Inf(-1)
	sc.fresh = append(sc.fresh, tile)

	place := len(sc.records)
	if n := len(sc.free); n > 0 {
		place = int(sc.free[n-1])
		sc.free = sc.free[:n-1]
		sc.records[place] = r
	} else {
		sc.records = append(sc.records, r)
	}
	sc.tiles.record[tile] = int32(place)
	at, _ := slices.BinarySearch(sc.active, tile)
	sc.active = slices.Insert(sc.active, at, tile)
	return r
}

// forget returns the record of a tile that is idle again to the pool; the
// caller takes the tile off the list of active ones.
func (sc *scene) forget(tile int32) {
	place := sc.tiles.record[tile]
	sc.spare = append(sc.spare, sc.records[place])
	sc.records[place] = nil
	sc.free = append(sc.free, place)
	sc.tiles.record[tile] = -1
}
