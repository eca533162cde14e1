package runtime

import (
	"math"
	"slices"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
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
	evicted    bool          // for want of room, and not back yet
	evictedAt  time.Duration // when
	geometry   int64         // bytes on the device
	texture    int64
	split      bool // streams mesh by mesh: drawable means that enough of them are
}

func (r *repState) resident() bool { return r.state == TileParsed }
func (r *repState) loading() bool  { return r.state == TileParsing }

// inEvictionHold reports whether a representation was evicted so recently that
// it must not come back yet.
func (r *repState) inEvictionHold(now time.Duration) bool {
	return r.evicted && now-r.evictedAt < evictionHold
}

// countsSwaps reports whether the next load or unload counts together with earlier
// ones: see residency.toggled.
func (r *repState) countsSwaps(now time.Duration) bool {
	return r.toggles > 0 && now-r.togglesAt <= swapWindow
}

// record is the mutable state of a tile that is not idle. Ticks go through
// hundreds of them: small fields stand together, so that it stays small.
type record struct {
	scene  *scene
	reps   []repState // by Rep-1: full, HLOD, LODs
	meshes *meshTile  // of the full representation while it streams mesh by mesh
	tile   int32

	handoffAge        uint16      // ticks for which a resident full tile is not drawn
	near              bool        // within the query radius as of the last tick
	grant             grant       // what the geometry budget grants it
	finest            payload.Rep // of that
	actual, effective float64     // distances as of the last tick

	inGrace                 bool
	retire                  bool        // fades only: draw the successor, the full tile is about to go
	lodSwapped, hlodSwapped bool        // at lodSwapAt and hlodSwapAt
	target                  payload.Rep // what the planner works towards, RepNone: keep what there is
	wanted                  payload.Rep // what the tile should show
	drawn                   payload.Rep
	graceSince              time.Duration
	lodSwapAt, hlodSwapAt   time.Duration // the last transitions of the LODs and of the HLOD
	drawnAt                 time.Duration // since when
	tileFade

	parsedAtStart bool // of the tick, for strict mode
	everDrawn     bool // since the tile last wanted no representation
	undrawn       bool
	seen          bool          // within the streaming radius
	evicted       payload.Rep   // under memory pressure, and not back yet; RepNone: nothing
	evictedAt     time.Duration // when
	seenAt        time.Duration // when the camera came within the streaming radius
	gap           gapAudit
}

// tileFade is the fade of a tile from one representation to drawn.
type tileFade struct {
	fading    payload.Rep // the outgoing one, RepNone: nothing fades
	fadesBack bool        // it was turned round, once or any odd number of times
	faded     time.Duration
}

// gapAudit is how long nothing of a tile has been drawn that should be.
type gapAudit struct {
	open          bool
	shown         bool // there was a warning
	since, warned time.Duration
}

func (r *record) rep(p payload.Rep) *repState { return &r.reps[p-1] }
func (r *record) full() *repState             { return &r.reps[0] }

// key names a whole representation for the Device.
func (r *record) key(rep payload.Rep) payload.Key {
	return payload.Key{Scene: r.scene.id, Tile: r.tile, Rep: rep}
}

// idle reports whether the record holds nothing that must be remembered.
func (r *record) idle(now time.Duration) bool {
	if r.inGrace || r.drawn != payload.RepNone || r.everDrawn || r.fading != payload.RepNone || r.seen || r.evicted != payload.RepNone && r.near {
		return false
	}
	for i := range r.reps {
		st := &r.reps[i]
		if st.inEvictionHold(now) || st.state != TileUnloaded || st.fails > 0 || st.countsSwaps(now) {
			return false
		}
	}
	return true
}

// countsSwaps reports whether the next load or unload of any representation counts
// together with earlier ones.
func (r *record) countsSwaps() bool {
	for i := range r.reps {
		if r.reps[i].countsSwaps(r.scene.now) {
			return true
		}
	}
	return false
}

// recordPool holds the records of a scene. A row of its table names the place of
// its tile's.
type recordPool struct {
	records []*record
	free    []int32 // unused places of records
	spare   []*record
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
	r.actual, r.effective = sc.distance(tile)
	r.near = true
	r.grant, r.finest = sc.grantAfter(tile, r.actual, grantNothing, payload.RepNone)
	sc.tiles.wake[tile] = math.Inf(-1)
	sc.woken = append(sc.woken, tile)

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

// forget returns the record of an idle tile to the pool. The caller takes the
// tile off the list of active ones.
func (sc *scene) forget(tile int32) {
	place := sc.tiles.record[tile]
	sc.spare = append(sc.spare, sc.records[place])
	sc.records[place] = nil
	sc.free = append(sc.free, place)
	sc.tiles.record[tile] = -1
}

// nothingDrawn reports whether nothing of a tile is drawn, and nothing of it
// could be.
func (r *record) nothingDrawn() bool {
	if r.drawn != payload.RepNone {
		return false
	}
	e := r.scene.env
	for i := range r.reps {
		if e.ready(&r.reps[i]) {
			return false
		}
	}
	return true
}

// partial reports whether a tile draws the few of its meshes that are loaded,
// as it has nothing else.
func (r *record) partial() bool {
	return r.drawn == payload.RepFull && r.full().split && !r.full().drawable
}

// hasFallback reports whether a level can stand in for the full representation.
func (r *record) hasFallback() bool {
	for i := 1; i < len(r.reps); i++ {
		if r.scene.ready(&r.reps[i]) {
			return true
		}
	}
	return false
}

// whollyEvicted reports whether nothing of a tile is left and some of it was
// evicted a moment ago. Such a tile counts as beyond the keep distance, or it
// would come and go.
func (r *record) whollyEvicted() bool {
	held, now := false, r.scene.now
	for i := range r.reps {
		st := &r.reps[i]
		if st.resident() && (!st.split || r.meshes.uploaded > 0) {
			return false
		}
		held = held || st.inEvictionHold(now)
	}
	return held
}

// holdBack keeps an evicted representation away for a while, and its tile too
// if it was the last one.
func (r *record) holdBack(rep payload.Rep) {
	if r.scene.cfg.Handoff != config.HandoffCovered {
		return
	}
	st := r.rep(rep)
	if st.evicted, st.evictedAt = true, r.scene.now; r.whollyEvicted() {
		r.grant = grantNothing
	}
}

// endHold lets come back what of a tile or node found no room while it was out of view, and now is
// in view. A place that shows nothing has been given up: it waits.
func (r *record) endHold() {
	if r == nil || r.nothingDrawn() && !r.scene.refinement.standsFor(r.tile) {
		return
	}
	for i := range r.reps {
		if st := &r.reps[i]; st.evicted {
			st.evicted = false
			if r.evicted == payload.Rep(i+1) {
				r.evicted = payload.RepNone
			}
		}
	}
}

// inEvictionHold reports whether something of a tile was evicted a moment ago.
// It never is within the streaming radius, where memory pressure evicts
// nothing.
func (r *record) inEvictionHold() bool {
	return r.evicted != payload.RepNone && r.actual > r.scene.tiles.radius[r.tile].stream && r.scene.now-r.evictedAt < evictionHold
}

// evictionHold is how long an evicted representation stays away at least,
// while its tile lies beyond its streaming radius.
const evictionHold = 3 * time.Second

func (r *record) endFade() {
	if r.fading != payload.RepNone {
		r.fading = payload.RepNone
		r.scene.fades--
	}
}

// fadeSpans shares the tile's part of the mask out between what fades out and what
// fades in. When a fade is turned round, both keep their sides.
func (r *record) fadeSpans(own span) (out, in span) {
	if r.fadesBack {
		in, out = own.cut(1 - r.fadeProgress())
		return out, in
	}
	return own.cut(r.fadeProgress())
}

func (r *record) fadeProgress() float64 {
	return min(1, float64(r.faded)/float64(r.scene.fadeDuration))
}

// shows reports whether there is anything of a representation to draw.
func (r *record) shows(rep payload.Rep) bool {
	st := r.rep(rep)
	return st.resident() && (!st.split || r.meshes.uploaded > 0)
}

// noteSwap notes when the LODs of a tile, or its HLOD, have last changed.
func (r *record) noteSwap(rep payload.Rep) {
	switch classOf(rep) {
	case classHLOD:
		r.hlodSwapAt, r.hlodSwapped = r.scene.now, true
	case classLOD:
		r.lodSwapAt, r.lodSwapped = r.scene.now, true
	}
}

// dwelt reports whether the tile's HLOD, or its LODs, may change again.
func (r *record) dwelt(rep payload.Rep) bool {
	if classOf(rep) == classHLOD {
		return !r.hlodSwapped || r.scene.now-r.hlodSwapAt >= r.scene.dwell
	}
	return !r.lodSwapped || r.scene.now-r.lodSwapAt >= r.scene.dwell
}

// measure takes the distances of a tile and its grant.
func (r *record) measure() {
	sc := r.scene
	r.actual, r.effective = sc.distance(r.tile)
	r.near = r.actual <= sc.cfg.MaxQueryRadius || sc.tiles.has(r.tile, flagShared)
	r.grant, r.finest = sc.grantAfter(r.tile, r.actual, r.grant, r.finest)
	if r.whollyEvicted() {
		r.grant = grantNothing
	}
}
