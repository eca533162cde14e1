package runtime

import (
	"cmp"
	"math"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
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

// evictionScore rates a mesh: the larger the score, the sooner it goes. Only
// geometry counts, not textures, as the budget is that of geometry.
func (ms *meshStreamer) evictionScore(distance float64, bytes int64) float64 {
	far, large := 1.0, 0.0
	if ms.cfg.MaxQueryRadius > 0 {
		far = min(1, distance/ms.cfg.MaxQueryRadius)
	}
	if ms.budget.memory.GeometryBudget > 0 {
		large = min(1, float64(bytes)/float64(ms.budget.memory.GeometryBudget))
	}
	return float64(ms.cfg.EvictionDistanceWeight*far) + float64(ms.cfg.EvictionSizeWeight*large)
}

// listEvictees collects the loaded meshes farther away than a distance and
// returns their bytes. Visible meshes near the camera are left out, and unless
// all is set those that are too large to come back.
func (ms *meshStreamer) listEvictees(beyond float64, all bool) (sum int64) {
	ms.evictees = ms.evictees[:0]
	for _, sc := range ms.scenes {
		for _, tile := range sc.split {
			r := sc.recordOf(tile)
			for i := range r.meshes.stubs {
				x := &r.meshes.stubs[i]
				if x.state != meshLoaded || !(x.distance > beyond) || x.tooLarge && !all ||
					x.visible && x.distance < ms.cfg.VisibleEvictionProtectionRadius {
					continue
				}
				sum += x.bytes
				score := ms.evictionScore(x.distance, x.bytes)
				ms.evictees = append(ms.evictees, meshEvictee{
					r, int32(i), int64(math.Round(min(score, 1e12) / scoreStep)), x.lastVisible, x.distance, x.bytes,
				})
			}
		}
	}
	return sum
}

// evict evicts up to limit meshes, the least valuable first, and returns how
// many more it might have. With mark set it stops when geometry is down at the
// low-water mark. With outOfRange set only meshes beyond their streaming
// radius go, which would not be loaded again.
func (ms *meshStreamer) evict(limit int, mark, outOfRange bool) (left int) {
	if mark && !ms.budget.aboveLow() {
		return limit
	}
	ms.listEvictees(-1, !mark)
	list := ms.evictees
	if outOfRange {
		list = list[:moveFirst(list, func(e meshEvictee) bool { return e.distance > e.record.scene.tiles.radius[e.record.tile].stream })]
	}
	n := min(limit, len(list))
	selectFirst(list, n, meshEvictee.compare)
	for i := range list[:n] {
		if mark && !ms.budget.aboveLow() {
			break
		}
		if mark && ms.lastDrawn(list[i].record) {
			continue
		}
		ms.evictMesh(&list[i], !mark)
		limit--
	}
	clear(ms.evictees)
	return limit
}

// lastDrawn reports whether a tile within the keep distance draws one last
// mesh and no level can stand in for it. That mesh stays while the budget
// holds it.
func (ms *meshStreamer) lastDrawn(r *record) bool {
	return ms.cfg.Handoff == config.HandoffCovered && r.grant != grantNothing && r.drawn == payload.RepFull && r.meshes.uploaded == 1 && !r.hasFallback() &&
		r.scene.tiles.box[r.tile].Distance(r.scene.view.pos) <= r.scene.tiles.radius[r.tile].unload && ms.budget.used() <= ms.budget.memory.GeometryBudget
}

// swapLead is how much farther away something must be to make room for a mesh,
// as a factor: else two at one distance would take turns.
const swapLead = 1.1

// makeRoom evicts meshes farther away than a candidate until so many bytes are
// free, if there are so many. When a candidate needs more than one pass may
// evict, the ticks that follow evict the rest.
func (ms *meshStreamer) makeRoom(c *meshCandidate, need float64, far farEvicter) bool {
	if sum := ms.listEvictees(c.distance*swapLead, false); float64(sum) < need {
		return c.near && far.makeRoomFarAway(c.record, c.distance*swapLead, need)
	}
	n := min(evictMeshes, len(ms.evictees))
	selectFirst(ms.evictees, n, meshEvictee.compare)
	for i := 0; i < n && need > 0; i++ {
		// A tile that shows nothing yet may take the last mesh of a farther one.
		if r := ms.evictees[i].record; ms.lastDrawn(r) && (r.hasLevels() || c.record.drawn != payload.RepNone) {
			continue
		}
		need -= float64(ms.evictees[i].bytes)
		ms.evictMesh(&ms.evictees[i], false)
	}
	clear(ms.evictees)
	return need <= 0
}

// evictMesh evicts a mesh, for a signal from outside or for want of room.
func (ms *meshStreamer) evictMesh(e *meshEvictee, forSignal bool) {
	ms.budget.noteEviction()
	ms.count.evictions++
	ms.emitMesh(event.EvictMesh, e.record, int(e.stub))
	ms.unloadStub(e.record, int(e.stub))
	x := &e.record.meshes.stubs[e.stub]
	x.evicted, x.evictedAt = true, ms.now
	if !forSignal && e.record.meshes.uploaded == 0 {
		e.record.holdBack(payload.RepFull)
	}
	ms.waitingToReturn = true
}

// releaseCPU drops the decoded assets of all out-of-core tiles. Their uploaded
// meshes stay drawn. The files are read again when other meshes are wanted.
func (ms *meshStreamer) releaseCPU() {
	ms.forEachSplit(func(r *record) {
		if freed := ms.registry.releaseWarm(r.meshes.root); freed > 0 {
			ms.count.cpuReleased += freed
		}
	})
}
