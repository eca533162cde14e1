package runtime

import (
	"cmp"
	"slices"
	"time"
)

// How many representations one tick may evict: over the high-water mark, and
// on a warning or critical signal from outside.
const (
	evictPerTick  = 4
	evictWarning  = 4
	evictCritical = 8
)

// readMemory asks the probe; a budget of the probe wins over the configured
// one.
func (b *geometryBudget) read() {
	m := Memory{}
	if b.probe != nil {
		m = b.probe.Memory()
	}
	if m.GeometryBudget <= 0 {
		m.GeometryBudget = b.cfg.GeometryBudget
	}
	if m.TextureBudget <= 0 {
		m.TextureBudget = b.cfg.TextureBudget
	}
	b.memory = m
}

// geometryUsed returns all geometry on the device, in bytes.
func (b *geometryBudget) used() int64 { return b.geometryBytes + b.memory.GeometryUsed }

// geometryHigh reports whether geometry is at or above the high-water mark.
func (b *geometryBudget) high() bool { return b.at(b.cfg.HighWaterMark) }

func (b *geometryBudget) at(mark float64) bool {
	return b.memory.GeometryBudget > 0 && float64(b.used())/float64(b.memory.GeometryBudget) >= mark
}

// evictee is a representation that may be evicted.
type evictee struct {
	record *record
	rep    Rep
}

// relieve gives memory back, from the high-water mark down to the low one and
// whenever the system asks: textures first, then meshes by their value, those
// out of range before the others, then whole representations beyond their
// streaming radius, the farthest first. A critical signal takes the main memory
// of out-of-core tiles too.
func (v *evictor) relieve(signal PressureLevel) {
	if v.budget.high() {
		v.budget.relieving = true
	} else if !v.budget.aboveLow() {
		v.budget.relieving, v.warned = false, false
	}
	limit, meshes := 0, 0
	if v.budget.relieving {
		limit, meshes = evictPerTick, evictMeshes
	}
	switch signal {
	case PressureWarning:
		limit, meshes = max(limit, evictWarning), evictMeshes
	case PressureCritical:
		limit, meshes = max(limit, evictCritical), evictMeshesCritical
	}
	if v.cache != nil && signal != PressureNone {
		v.count.unusedFreed += v.cache.EvictUnused()
	}
	v.relieveTextures(signal)
	v.count.triggered = limit > 0
	v.giveUp(evictPerTick)
	v.budget.refused = false
	if limit == 0 {
		return
	}
	left := v.meshes.evict(meshes, signal == PressureNone, true)
	left = v.meshes.evict(left, signal == PressureNone, false)
	if signal == PressureCritical {
		v.meshes.releaseCPU()
	}
	if signal != PressureNone || left > 0 { // else the next tick has more meshes
		v.evictTiles(limit, signal)
	}
	if v.budget.relieving && v.budget.evicted == 0 && !v.budget.high() {
		v.budget.relieving = false // this is as far down as it goes
	}
	if v.budget.high() && v.budget.evicted == 0 && !v.warned {
		v.warned = true
		const message = "geometry is over the high-water mark and nothing can be evicted: raise geometryBudget or lower the streaming radii"
		v.emit(Event{Kind: EventWarn, Message: message})
		v.log.Warn(message, "used", v.budget.used(), "budget", v.budget.memory.GeometryBudget)
	}
}

// evictTiles evicts up to limit representations.
func (v *evictor) evictTiles(limit int, signal PressureLevel) {
	v.listEvictees()
	before := v.budget.evicted
	for i := range v.evictees {
		if v.budget.evicted-before == limit || signal == PressureNone && !v.budget.aboveLow() {
			break
		}
		e := v.evictees[i]
		switch {
		case signal != PressureNone:
			v.evict(e)
		case !v.spares(e):
			v.giveUpRep(e)
		}
	}
	clear(v.evictees)
}

// spares reports whether something is the last that a tile within reach can
// draw, and the whole of the budget still holds it.
func (v *evictor) spares(e evictee) bool {
	r := e.record
	if r.share == shareNone || v.budget.used() > v.budget.memory.GeometryBudget || v.cfg.Handoff == HandoffStrict {
		return false
	}
	for i := range r.reps {
		if Rep(i+1) != e.rep && v.ready(&r.reps[i]) {
			return false
		}
	}
	return true
}

func (b *geometryBudget) aboveLow() bool {
	return b.memory.GeometryBudget > 0 && float64(b.used()) > b.cfg.LowWaterMark*float64(b.memory.GeometryBudget)
}

// listEvictees collects, farthest first, full tiles that have been resident
// long enough and levels of other tiles, at any age; what
// lies within its streaming radius would come back at once and stays.
func (v *evictor) listEvictees() {
	v.evictees = v.evictees[:0]
	v.forEach(func(r *record) {
		r.measure() // it may have slept
		if !(r.actual > r.scene.tiles.radius[r.tile].stream) {
			return
		}
		if full := r.full(); full.resident() {
			if v.now-full.residentAt >= v.minResident {
				v.evictees = append(v.evictees, evictee{r, RepFull})
				return
			}
		}
		for i := 1; i < len(r.reps); i++ {
			if r.reps[i].resident() {
				v.evictees = append(v.evictees, evictee{r, Rep(i + 1)})
			}
		}
	})
	sortEvictees(v.evictees)
}

// sortEvictees puts the farthest first.
func sortEvictees(list []evictee) {
	slices.SortStableFunc(list, func(a, b evictee) int { return cmp.Compare(b.record.actual, a.record.actual) })
}

// evictionHold is how long at least an evicted representation stays away, while
// the tile lies where such are evicted.
const evictionHold = 3 * time.Second

// heldBack reports whether something of a tile was evicted a moment ago. Within
// its streaming radius nothing is held back, as pressure evicts nothing there (seed
// 003: full-load tile geometry eviction).
func (r *record) heldBack() bool {
	return r.evicted != RepNone && r.actual > r.scene.tiles.radius[r.tile].stream && r.scene.now-r.evictedAt < evictionHold
}

func (v *evictor) evict(e evictee) {
	v.budget.noteEviction()
	r := e.record
	if r.evictedAt = v.now; r.evicted != RepFull {
		r.evicted = e.rep
	}
	v.emitRep(EventEvictTile, r, e.rep)
	v.residency.unload(r, e.rep)
}

// makeRoomFarAway evicts whole representations beyond their streaming radius and
// farther away than a distance for a mesh of the near band, the farthest first,
// if a few of other tiles are enough.
func (v *evictor) makeRoomFarAway(tile *record, beyond, need float64) bool {
	v.listEvictees()
	n := 0
	for ; n < min(len(v.evictees), evictPerTick) && need > 0; n++ {
		e := v.evictees[n]
		if !(e.record.actual > beyond) || v.spares(e) || e.record == tile {
			break
		}
		need -= float64(e.record.rep(e.rep).geometry)
	}
	if need <= 0 {
		for _, e := range v.evictees[:n] {
			v.giveUpRep(e)
		}
	}
	clear(v.evictees)
	return need <= 0
}

// TextureRelief gives texture memory back before geometry goes.
type TextureRelief interface {
	// Shed lowers the textures of up to n entities, the farthest first, and
	// returns how many it has touched. It is called on the owner goroutine.
	Shed(n int) int
}

// shed asks for texture memory and reports what came of it.
func (v *evictor) shed(n int) {
	if v.textures == nil {
		return
	}
	if got := v.textures.Shed(n); got > 0 {
		v.count.texturesShed += uint64(got)
		v.emit(Event{Kind: EventEvictShed, Count: got})
	}
}

// textureHigh reports whether textures are at or above the high-water mark.
func (b *geometryBudget) textureHigh() bool {
	used := b.textureBytes + b.memory.TextureUsed
	return b.memory.TextureBudget > 0 && float64(used)/float64(b.memory.TextureBudget) >= b.cfg.HighWaterMark
}

// relieveTextures comes before any geometry goes.
func (v *evictor) relieveTextures(signal PressureLevel) {
	n := 0
	switch {
	case v.budget.high():
		n = shedGeometry
	case v.budget.textureHigh():
		n = shedTextures
	}
	switch signal {
	case PressureWarning:
		n = max(n, shedWarning)
	case PressureCritical:
		n = max(n, shedCritical)
	}
	if n > 0 {
		v.shed(n)
	}
}

// acceptGeometry reports whether so many bytes more fit the geometry budget, if
// need be after what lies beyond its streaming radius has gone.
func (v *evictor) acceptGeometry(bytes int64) bool {
	fits := func() bool {
		return v.budget.memory.GeometryBudget <= 0 || float64(v.budget.used())+float64(bytes) <= float64(v.budget.memory.GeometryBudget)
	}
	if fits() {
		return true
	}
	v.meshes.evict(evictMeshes, false, true)
	if !fits() {
		v.evictTiles(evictPerTick, PressureWarning)
	}
	return fits()
}
