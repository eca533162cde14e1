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
func (s *Streamer) readMemory() {
	m := Memory{}
	if s.deps.MemoryProbe != nil {
		m = s.deps.MemoryProbe.Memory()
	}
	if m.GeometryBudget <= 0 {
		m.GeometryBudget = s.cfg.GeometryBudget
	}
	if m.TextureBudget <= 0 {
		m.TextureBudget = s.cfg.TextureBudget
	}
	s.memory = m
}

// geometryUsed returns all geometry on the device, in bytes.
func (s *Streamer) geometryUsed() int64 { return s.stats.GeometryBytes + s.memory.GeometryUsed }

// geometryHigh reports whether geometry is at or above the high-water mark.
func (s *Streamer) geometryHigh() bool { return s.geometryAt(s.cfg.HighWaterMark) }

func (s *Streamer) geometryAt(mark float64) bool {
	return s.memory.GeometryBudget > 0 && float64(s.geometryUsed())/float64(s.memory.GeometryBudget) >= mark
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
	if s.geometryHigh() {
		s.relieving = true
	} else if !s.geometryAboveLow() {
		s.relieving, s.reliefWarned = false, false
	}
	limit, meshes := 0, 0
	if s.relieving {
		limit, meshes = evictPerTick, evictMeshes
	}
	switch signal {
	case PressureWarning:
		limit, meshes = max(limit, evictWarning), evictMeshes
	case PressureCritical:
		limit, meshes = max(limit, evictCritical), evictMeshesCritical
	}
	if cache, ok := s.deps.Loader.(unusedEvicter); ok && signal != PressureNone {
		s.stats.CPUReleased += cache.EvictUnused()
	}
	s.relieveTextures(signal)
	s.stats.EvictionTriggered = limit > 0
	s.giveUp(evictPerTick)
	s.refused = false
	if limit == 0 {
		return
	}
	left := s.relieveMeshes(meshes, signal == PressureNone, true)
	left = s.relieveMeshes(left, signal == PressureNone, false)
	if signal == PressureCritical {
		s.releaseCPU()
	}
	if signal != PressureNone || left > 0 { // else the next tick has more meshes
		s.evictTiles(limit, signal)
	}
	if s.relieving && s.stats.EvictionsPerformed == 0 && !s.geometryHigh() {
		s.relieving = false // this is as far down as it goes
	}
	if s.geometryHigh() && s.stats.EvictionsPerformed == 0 && !s.reliefWarned {
		s.reliefWarned = true
		const message = "geometry is over the high-water mark and nothing can be evicted: raise geometryBudget or lower the streaming radii"
		s.emit(Event{Kind: EventWarn, Message: message})
		s.log.Warn(message, "used", s.geometryUsed(), "budget", s.memory.GeometryBudget)
	}
}

// evictTiles evicts up to limit representations.
func (s *Streamer) evictTiles(limit int, signal PressureLevel) {
	s.listEvictees()
	before := s.stats.EvictionsPerformed
	for i := range s.evictees {
		if s.stats.EvictionsPerformed-before == limit || signal == PressureNone && !s.geometryAboveLow() {
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
	if r.share == shareNone || s.geometryUsed() > s.memory.GeometryBudget || s.cfg.Handoff == HandoffStrict {
		return false
	}
	for i := range r.reps {
		if Rep(i+1) != e.rep && s.ready(&r.reps[i]) {
			return false
		}
	}
	return true
}

func (s *Streamer) geometryAboveLow() bool {
	return s.memory.GeometryBudget > 0 && float64(s.geometryUsed()) > s.cfg.LowWaterMark*float64(s.memory.GeometryBudget)
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
	s.stats.Evictions++
	s.stats.EvictionsPerformed++
	r := e.record
	if r.evictedAt = s.now; r.evicted != RepFull {
		r.evicted = e.rep
	}
	s.emitRep(EventEvictTile, r, e.rep)
	s.unloadRep(r, e.rep)
}
