package runtime

import (
	"cmp"
	"slices"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// evictor owns what goes when memory is short: files that nobody uses, textures, then meshes by
// their value, then whole representations, the farthest first.
//
// It promises that no tick evicts more than a few, that nothing within its
// streaming radius goes, for it would come back at once, and that of a tile
// within the keep distance the last thing it can draw stays while the budget holds it.
type evictor struct {
	*eventLog
	budget    *geometryBudget
	residency *residency
	meshes    *meshStreamer
	cache     *payload.MeshCache // nil: none
	textures  TextureRelief      // nil: none
	evictees  []evictee
	warned    bool // that nothing can go
	count     evictorCounters
}

// evictorCounters says what was evicted besides geometry, which the budget
// counts; Stats says what its fields mean.
type evictorCounters struct {
	triggered    bool // in the last tick
	texturesShed uint64
	unusedFreed  int64 // main memory of unused files
}

// addTo adds the counters up.
func (c *evictorCounters) addTo(st *Stats) {
	st.EvictionTriggered, st.TexturesShed = c.triggered, c.texturesShed
	st.CPUReleased += c.unusedFreed
}

// How many representations one tick may evict: over the high-water mark, and on
// a warning or critical signal from outside.
const (
	evictPerTick  = 4
	evictWarning  = 4
	evictCritical = 8
)

// evictee is a representation that may be evicted.
type evictee struct {
	record *record
	rep    payload.Rep
}

// evict frees memory while geometry is between the high-water mark and the low
// one, and whenever the system asks. Decoded files that nobody uses go first,
// also when something has found no room; then textures, then meshes by their
// value, those out of range before the others, then whole representations
// beyond their streaming radius, the farthest first. A critical signal also
// releases the main memory of out-of-core tiles.
func (v *evictor) evict(signal memory.PressureLevel) {
	if v.budget.high() {
		v.budget.evicting = true
	} else if !v.budget.aboveLow() {
		v.budget.evicting, v.warned = false, false
	}
	limit, meshes := 0, 0
	if v.budget.evicting {
		limit, meshes = evictPerTick, evictMeshes
	}
	switch signal {
	case memory.PressureWarning:
		limit, meshes = max(limit, evictWarning), evictMeshes
	case memory.PressureCritical:
		limit, meshes = max(limit, evictCritical), evictMeshesCritical
	}
	short := limit > 0 || v.budget.refused
	v.trimCache(short)
	v.lowerTextures(signal)
	v.count.triggered = limit > 0
	v.evictBeyond(evictPerTick)
	v.budget.refused = false
	if limit == 0 {
		return
	}
	left := v.meshes.evict(meshes, signal == memory.PressureNone, true)
	left = v.meshes.evict(left, signal == memory.PressureNone, false)
	if signal == memory.PressureCritical {
		v.meshes.releaseCPU()
		v.trimCache(true)
	}
	if signal != memory.PressureNone || left > 0 { // else the next tick has more meshes
		v.evictTiles(limit, signal)
	}
	if v.budget.evicting && v.budget.evicted == 0 && !v.budget.high() {
		v.budget.evicting = false // this is as far down as it goes
	}
	if v.budget.high() && v.budget.evicted == 0 && !v.warned {
		v.warned = true
		const message = "geometry is over the high-water mark and nothing can be evicted: raise geometryBudget or lower the streaming radii"
		v.emit(event.Event{Kind: event.Warn, Message: message})
		v.log.Warn(message, "used", v.budget.used(), "budget", v.budget.memory.GeometryBudget)
	}
}

// trimCache drops decoded files that nobody uses: all of them when memory is
// short, else what exceeds the cache's budget.
func (v *evictor) trimCache(short bool) {
	switch {
	case v.cache == nil:
	case short:
		v.count.unusedFreed += v.cache.Trim(0)
	default:
		v.cache.Trim(v.cfg.MeshCacheBudget)
	}
}

// evictTiles evicts up to limit representations.
func (v *evictor) evictTiles(limit int, signal memory.PressureLevel) {
	v.listEvictees()
	before := v.budget.evicted
	for i := range v.evictees {
		if v.budget.evicted-before == limit || signal == memory.PressureNone && !v.budget.aboveLow() {
			break
		}
		e := v.evictees[i]
		switch {
		case signal != memory.PressureNone:
			v.evictRep(e)
		case !v.keepsLast(e) && !v.granted(e):
			v.evictForRoom(e)
		}
	}
	clear(v.evictees)
}

// granted reports whether a representation is the level that its tile is granted where the budget
// is split, and the budget holds all. It would come back as soon as it may; as a rule what is
// granted fits below the mark, and what brings the memory there is on its way out.
func (v *evictor) granted(e evictee) bool {
	r := e.record
	return v.budget.split.scarce && v.budget.used() <= v.budget.memory.GeometryBudget &&
		r.scene.grantedLevelAt(r.tile, r, r.actual) == e.rep
}

// keepsLast reports whether a representation is the last one that a tile
// within the keep distance can draw, and the budget still holds it.
func (v *evictor) keepsLast(e evictee) bool {
	r := e.record
	if r.grant == grantNothing || v.budget.used() > v.budget.memory.GeometryBudget || v.cfg.Handoff == config.HandoffStrict {
		return false
	}
	for i := range r.reps {
		if payload.Rep(i+1) != e.rep && v.ready(&r.reps[i]) {
			return false
		}
	}
	return true
}

// listEvictees collects full tiles that have been resident long enough, and
// levels of other tiles at any age, the farthest first. Tiles within their
// streaming radius are left out: they would come back at once. So is what takes over
// from something larger: without it that would stay.
func (v *evictor) listEvictees() {
	v.evictees = v.evictees[:0]
	v.forEach(func(r *record) {
		r.measure() // it may have slept
		if !(r.actual > r.scene.tiles.radius[r.tile].stream) {
			return
		}
		if full := r.full(); full.resident() {
			if v.now-full.residentAt >= v.minResident {
				v.evictees = append(v.evictees, evictee{r, payload.RepFull})
				return
			}
		}
		for i := 1; i < len(r.reps); i++ {
			if r.reps[i].resident() && !r.relieves(payload.Rep(i+1)) {
				v.evictees = append(v.evictees, evictee{r, payload.Rep(i + 1)})
			}
		}
	})
	sortEvictees(v.evictees)
}

// sortEvictees puts the farthest first.
func sortEvictees(list []evictee) {
	slices.SortStableFunc(list, func(a, b evictee) int { return cmp.Compare(b.record.actual, a.record.actual) })
}

func (v *evictor) evictRep(e evictee) {
	v.budget.noteEviction()
	r := e.record
	if r.evictedAt = v.now; r.evicted != payload.RepFull {
		r.evicted = e.rep
	}
	v.emitRep(event.EvictTile, r, e.rep)
	v.residency.unload(r, e.rep)
}

// makeRoomFarAway implements farEvicter: it evicts whole representations
// beyond their streaming radius, the farthest first.
func (v *evictor) makeRoomFarAway(tile *record, beyond, need float64) bool {
	v.listEvictees()
	n := 0
	for ; n < min(len(v.evictees), evictPerTick) && need > 0; n++ {
		e := v.evictees[n]
		if !(e.record.actual > beyond) || v.keepsLast(e) || v.granted(e) || e.record == tile {
			break
		}
		need -= float64(e.record.rep(e.rep).geometry)
	}
	if need <= 0 {
		for _, e := range v.evictees[:n] {
			v.evictForRoom(e)
		}
	}
	clear(v.evictees)
	return need <= 0
}

// acceptGeometry reports whether the geometry budget holds so many bytes more.
// If need be it first evicts what lies beyond its streaming radius.
func (v *evictor) acceptGeometry(bytes int64) bool {
	fits := func() bool {
		return v.budget.memory.GeometryBudget <= 0 || float64(v.budget.used())+float64(bytes) <= float64(v.budget.memory.GeometryBudget)
	}
	if fits() {
		return true
	}
	v.meshes.evict(evictMeshes, false, true)
	if !fits() {
		v.evictTiles(evictPerTick, memory.PressureWarning)
	}
	return fits()
}

// evictBeyond evicts up to limit representations of tiles beyond the keep
// distance, the farthest first, when geometry is at the high-water mark or
// something waits for room.
func (v *evictor) evictBeyond(limit int) {
	if !v.budget.split.scarce || !v.budget.evicting && !v.budget.refused {
		return
	}
	v.evictees = v.evictees[:0]
	v.forEach(func(r *record) {
		if r.grant != grantNothing {
			return
		}
		r.measure() // it may have slept
		for i := range r.reps {
			switch st := &r.reps[i]; {
			case st.loading():
				v.residency.cancel(r, payload.Rep(i+1))
			case st.resident():
				v.evictees = append(v.evictees, evictee{r, payload.Rep(i + 1)})
			}
		}
	})
	sortEvictees(v.evictees)
	for i := range v.evictees[:min(limit, len(v.evictees))] {
		if !v.budget.refused && !v.budget.aboveLow() {
			break
		}
		v.evictForRoom(v.evictees[i])
	}
	clear(v.evictees)
}

// evictForRoom evicts a representation and keeps it away for a while.
func (v *evictor) evictForRoom(e evictee) {
	v.evictRep(e)
	e.record.holdBack(e.rep)
}
