package runtime

import (
	"cmp"
	"math"
)

// How many meshes one pass may evict, and how many entities a texture relief may
// touch.
const (
	evictMeshes         = 16 // per tick over the mark, and on a warning
	evictMeshesCritical = 32 // twice sixteen
	shedTextures        = 4  // textures are short, geometry is not
	shedGeometry        = 8  // geometry is short: textures first all the same
	shedWarning         = 8
	shedCritical        = 20
)

// meshEvictee is a stub that may be evicted.
type meshEvictee struct {
	record      *record
	stub        int32
	rank        int64 // of the value score, in steps of scoreStep
	lastVisible uint64
	distance    float64
	bytes       int64
}

// compare puts first what is worth least: far and large, then what was seen
// longest ago.
func (e meshEvictee) compare(o meshEvictee) int {
	switch {
	case e.rank != o.rank:
		return cmp.Compare(o.rank, e.rank)
	case e.lastVisible != o.lastVisible:
		return cmp.Compare(e.lastVisible, o.lastVisible)
	case e.distance != o.distance:
		return cmp.Compare(o.distance, e.distance)
	}
	return compareStubs(e.record, e.stub, o.record, o.stub)
}

// evictionScore rates a mesh: the larger, the sooner it goes.
// Only geometry counts, for it is the geometry's budget (section 20, O27).
func (s *Streamer) evictionScore(distance float64, bytes int64) float64 {
	far, large := 1.0, 0.0
	if s.cfg.MaxQueryRadius > 0 {
		far = min(1, distance/s.cfg.MaxQueryRadius)
	}
	if s.memory.GeometryBudget > 0 {
		large = min(1, float64(bytes)/float64(s.memory.GeometryBudget))
	}
	return float64(s.cfg.EvictionDistanceWeight*far) + float64(s.cfg.EvictionSizeWeight*large)
}

// listMeshEvictees collects the loaded stubs farther away than a distance, but
// for visible ones near the camera; those that only signals evict too if asked.
// It returns their bytes.
func (s *Streamer) listMeshEvictees(beyond float64, all bool) (sum int64) {
	s.meshEvictees = s.meshEvictees[:0]
	for _, sc := range s.scenes {
		for _, tile := range sc.split {
			r := sc.recordOf(tile)
			for i := range r.meshes.stubs {
				x := &r.meshes.stubs[i]
				if x.state != meshLoaded || !(x.distance > beyond) || x.spared && !all ||
					x.visible && x.distance < s.cfg.VisibleEvictionProtectionRadius {
					continue
				}
				sum += x.bytes
				score := s.evictionScore(x.distance, x.bytes)
				s.meshEvictees = append(s.meshEvictees, meshEvictee{
					r, int32(i), int64(math.Round(min(score, 1e12) / scoreStep)), x.lastVisible, x.distance, x.bytes,
				})
			}
		}
	}
	return sum
}

// relieveMeshes evicts up to limit meshes, those of the least value first, and
// returns how many more it might have; with mark set only until geometry is down
// at the low-water mark. With outOfRange only those beyond their streaming
// radius go, which nobody would load again.
func (s *Streamer) relieveMeshes(limit int, mark, outOfRange bool) (left int) {
	if mark && !s.geometryAboveLow() {
		return limit
	}
	s.listMeshEvictees(-1, !mark)
	list := s.meshEvictees
	if outOfRange {
		list = list[:moveFirst(list, func(e meshEvictee) bool { return e.distance > e.record.scene.tiles.radius[e.record.tile].stream })]
	}
	n := min(limit, len(list))
	selectFirst(list, n, meshEvictee.compare)
	for i := range list[:n] {
		if mark && !s.geometryAboveLow() {
			break
		}
		if mark && s.lastDrawn(list[i].record) {
			continue
		}
		s.evictMesh(&list[i], !mark)
		limit--
	}
	clear(s.meshEvictees)
	return limit
}

// lastDrawn reports whether a tile within reach has one mesh left to draw and no
// level to take its place: that mesh stays while the budget holds it, until a
// level has come in.
func (s *Streamer) lastDrawn(r *record) bool {
	return s.cfg.Handoff == HandoffCovered && r.share != shareNone && r.drawn == RepFull && r.meshes.uploaded == 1 && !r.covered() &&
		r.scene.tiles.box[r.tile].Distance(r.scene.view.pos) <= r.scene.tiles.radius[r.tile].unload && s.geometryUsed() <= s.memory.GeometryBudget
}

// swapLead is how much farther away something must be to make room for a mesh,
// as a factor: else two at one distance would take turns.
const swapLead = 1.1

// makeRoom evicts what lies farther away than a candidate until so many bytes
// are free, if there is so much. A candidate that needs
// more than one pass may evict has the rest in the ticks that follow.
func (s *Streamer) makeRoom(c *meshCandidate, need float64) bool {
	if sum := s.listMeshEvictees(c.distance*swapLead, false); float64(sum) < need {
		return c.near && s.makeRoomFarAway(c, need)
	}
	n := min(evictMeshes, len(s.meshEvictees))
	selectFirst(s.meshEvictees, n, meshEvictee.compare)
	for i := 0; i < n && need > 0; i++ {
		// What would show nothing takes the place of what is farther away.
		if r := s.meshEvictees[i].record; s.lastDrawn(r) && (r.hasLevels() || c.record.drawn != RepNone) {
			continue
		}
		need -= float64(s.meshEvictees[i].bytes)
		s.evictMesh(&s.meshEvictees[i], false)
	}
	clear(s.meshEvictees)
	return need <= 0
}

// makeRoomFarAway evicts whole representations beyond their streaming radius for
// a mesh of the near band, the farthest first, if a few are enough.
func (s *Streamer) makeRoomFarAway(c *meshCandidate, need float64) bool {
	s.listEvictees()
	n := 0
	for ; n < min(len(s.evictees), evictPerTick) && need > 0; n++ {
		e := s.evictees[n]
		if !(e.record.actual > c.distance*swapLead) || s.spares(e) || e.record == c.record {
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

// evictMesh evicts a mesh, for a signal from outside or for want of room.
func (s *Streamer) evictMesh(e *meshEvictee, forSignal bool) {
	s.stats.Evictions++
	s.stats.EvictionsPerformed++
	s.stats.MeshEvictions++
	s.emitMesh(EventEvictMesh, e.record, int(e.stub))
	s.unloadStub(e.record, int(e.stub))
	x := &e.record.meshes.stubs[e.stub]
	x.evicted, x.evictedAt = true, s.now
	if !forSignal && e.record.meshes.uploaded == 0 {
		e.record.noteGivenUp(RepFull)
	}
	s.meshShort = true
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
func (s *Streamer) textureHigh() bool {
	used := s.stats.TextureBytes + s.memory.TextureUsed
	return s.memory.TextureBudget > 0 && float64(used)/float64(s.memory.TextureBudget) >= s.cfg.HighWaterMark
}

// relieveTextures comes before any geometry goes.
func (s *Streamer) relieveTextures(signal PressureLevel) {
	n := 0
	switch {
	case s.geometryHigh():
		n = shedGeometry
	case s.textureHigh():
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

// releaseCPU drops the decoded assets of all out-of-core tiles. Their meshes
// that are on the Device stay drawn; the files are read again when others are
// wanted.
func (s *Streamer) releaseCPU() {
	s.forEachSplit(func(r *record) {
		if freed := s.registry.ReleaseWarm(r.meshes.root); freed > 0 {
			s.stats.CPUReleased += freed
		}
	})
}

// forEachSplit visits the out-of-core tiles by scene and tile.
func (s *Streamer) forEachSplit(f func(*record)) {
	for _, sc := range s.scenes {
		for _, tile := range sc.split {
			f(sc.recordOf(tile))
		}
	}
}
