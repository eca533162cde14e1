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

// Pressure reports memory pressure from outside; the next Update relieves it,
// whatever the tick interval. Levels above PressureCritical count as critical.
// It may be called from any goroutine.
func (s *Streamer) Pressure(level PressureLevel) {
	level = min(level, PressureCritical)
	for {
		old := s.pressure.Load()
		if old >= uint32(level) || s.pressure.CompareAndSwap(old, uint32(level)) {
			return
		}
	}
}

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
func (s *Streamer) relieve(signal PressureLevel) {
	if s.budget.high() {
		s.budget.relieving = true
	} else if !s.budget.aboveLow() {
		s.budget.relieving, s.reliefWarned = false, false
	}
	limit, meshes := 0, 0
	if s.budget.relieving {
		limit, meshes = evictPerTick, evictMeshes
	}
	switch signal {
	case PressureWarning:
		limit, meshes = max(limit, evictWarning), evictMeshes
	case PressureCritical:
		limit, meshes = max(limit, evictCritical), evictMeshesCritical
	}
	if cache, ok := s.deps.Loader.(unusedEvicter); ok && signal != PressureNone {
		s.unusedFreed += cache.EvictUnused()
	}
	s.relieveTextures(signal)
	s.stats.EvictionTriggered = limit > 0
	s.giveUp(evictPerTick)
	s.budget.refused = false
	if limit == 0 {
		return
	}
	left := s.meshes.evict(meshes, signal == PressureNone, true)
	left = s.meshes.evict(left, signal == PressureNone, false)
	if signal == PressureCritical {
		s.meshes.releaseCPU()
	}
	if signal != PressureNone || left > 0 { // else the next tick has more meshes
		s.evictTiles(limit, signal)
	}
	if s.budget.relieving && s.budget.evicted == 0 && !s.budget.high() {
		s.budget.relieving = false // this is as far down as it goes
	}
	if s.budget.high() && s.budget.evicted == 0 && !s.reliefWarned {
		s.reliefWarned = true
		const message = "geometry is over the high-water mark and nothing can be evicted: raise geometryBudget or lower the streaming radii"
		s.emit(Event{Kind: EventWarn, Message: message})
		s.log.Warn(message, "used", s.budget.used(), "budget", s.budget.memory.GeometryBudget)
	}
}

// evictTiles evicts up to limit representations.
func (s *Streamer) evictTiles(limit int, signal PressureLevel) {
	s.listEvictees()
	before := s.budget.evicted
	for i := range s.evictees {
		if s.budget.evicted-before == limit || signal == PressureNone && !s.budget.aboveLow() {
			break
		}
		e := s.evictees[i]
		switch {
		case signal != PressureNone:
			s.evict(e)
		case !s.spares(e):
			s.giveUpRep(e)
		}
	}
	clear(s.evictees)
}

// spares reports whether something is the last that a tile within reach can
// draw, and the whole of the budget still holds it.
func (s *Streamer) spares(e evictee) bool {
	r := e.record
	if r.share == shareNone || s.budget.used() > s.budget.memory.GeometryBudget || s.cfg.Handoff == HandoffStrict {
		return false
	}
	for i := range r.reps {
		if Rep(i+1) != e.rep && s.ready(&r.reps[i]) {
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
func (s *Streamer) listEvictees() {
	s.evictees = s.evictees[:0]
	s.forEach(func(r *record) {
		r.measure() // it may have slept
		if !(r.actual > r.scene.tiles.radius[r.tile].stream) {
			return
		}
		if full := r.full(); full.resident() {
			if s.now-full.residentAt >= s.minResident {
				s.evictees = append(s.evictees, evictee{r, RepFull})
				return
			}
		}
		for i := 1; i < len(r.reps); i++ {
			if r.reps[i].resident() {
				s.evictees = append(s.evictees, evictee{r, Rep(i + 1)})
			}
		}
	})
	sortEvictees(s.evictees)
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

func (s *Streamer) evict(e evictee) {
	s.budget.noteEviction()
	r := e.record
	if r.evictedAt = s.now; r.evicted != RepFull {
		r.evicted = e.rep
	}
	s.emitRep(EventEvictTile, r, e.rep)
	s.unloadRep(r, e.rep)
}

// makeRoomFarAway evicts whole representations beyond their streaming radius and
// farther away than a distance for a mesh of the near band, the farthest first,
// if a few of other tiles are enough.
func (s *Streamer) makeRoomFarAway(tile *record, beyond, need float64) bool {
	s.listEvictees()
	n := 0
	for ; n < min(len(s.evictees), evictPerTick) && need > 0; n++ {
		e := s.evictees[n]
		if !(e.record.actual > beyond) || s.spares(e) || e.record == tile {
			break
		}
		need -= float64(e.record.rep(e.rep).geometry)
	}
	if need <= 0 {
		for _, e := range s.evictees[:n] {
			s.giveUpRep(e)
		}
	}
	clear(s.evictees)
	return need <= 0
}

// TextureRelief gives texture memory back before geometry goes.
type TextureRelief interface {
	// Shed lowers the textures of up to n entities, the farthest first, and
	// returns how many it has touched. It is called on the owner goroutine.
	Shed(n int) int
}

// shed asks for texture memory and reports what came of it.
func (s *Streamer) shed(n int) {
	if s.deps.Textures == nil {
		return
	}
	if got := s.deps.Textures.Shed(n); got > 0 {
		s.stats.TexturesShed += uint64(got)
		s.emit(Event{Kind: EventEvictShed, Count: got})
	}
}

// textureHigh reports whether textures are at or above the high-water mark.
func (b *geometryBudget) textureHigh() bool {
	used := b.textureBytes + b.memory.TextureUsed
	return b.memory.TextureBudget > 0 && float64(used)/float64(b.memory.TextureBudget) >= b.cfg.HighWaterMark
}

// relieveTextures comes before any geometry goes.
func (s *Streamer) relieveTextures(signal PressureLevel) {
	n := 0
	switch {
	case s.budget.high():
		n = shedGeometry
	case s.budget.textureHigh():
		n = shedTextures
	}
	switch signal {
	case PressureWarning:
		n = max(n, shedWarning)
	case PressureCritical:
		n = max(n, shedCritical)
	}
	if n > 0 {
		s.shed(n)
	}
}
