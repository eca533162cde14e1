package runtime

import (
	"math"

	"github.com/untoldkit/untold/runtime/payload"
)

// scan looks at every mesh of the out-of-core tiles: it lists what could be
// loaded, for dispatch, and releases what is out of range, the farthest first
// and no more than maxUnloadsPerUpdate. Distances are those from the camera
// itself, not from where it will be.
func (ms *meshStreamer) scan() {
	ms.candidates, ms.leavers, ms.waitingToReturn = ms.candidates[:0], ms.leavers[:0], false
	for _, sc := range ms.scenes {
		for _, tile := range sc.split {
			ms.scanTile(sc, sc.recordOf(tile))
		}
	}
	ms.count.unloadCandidates = len(ms.leavers)
	n := min(len(ms.leavers), ms.cfg.MaxUnloadsPerUpdate)
	selectFirst(ms.leavers, n, meshLeaver.compare)
	for _, l := range ms.leavers[:n] {
		ms.unloadStub(l.record, int(l.stub))
	}
	ms.count.processedUnloads = n
	clear(ms.leavers)
}

// scanTile appends the candidates and the leavers of one tile.
func (ms *meshStreamer) scanTile(sc *scene, r *record) {
	m, v, cfg := r.meshes, &sc.view, &ms.cfg
	radius, priority := sc.tiles.radius[r.tile], sc.tiles.priority[r.tile]
	shrink := cfg.TileFrustumGatePadding - cfg.FrustumGatePadding // from the padding of tiles to that of meshes
	nearBand := -1.0
	if !math.IsInf(radius.stream, 1) {
		nearBand = cfg.NearBandFraction * radius.stream
	}
	d := sc.tiles.box[r.tile].Distance(v.pos)
	outside := d > cfg.MaxQueryRadius && !sc.tiles.has(r.tile, flagShared)
	closed := r.inGrace || outside || sc.closedOff(r.tile)
	// The tile waits to take over from its levels: until half of its meshes are
	// there, they are wanted wherever they lie, and those that are there stay.
	awaited := r.hasLevels() && d <= radius.stream
	more := awaited && m.uploaded+m.loading < m.usable()

	firstCandidate, firstLeaver := len(ms.candidates), len(ms.leavers)
	for i := range m.stubs {
		x := &m.stubs[i]
		x.distance = distanceTo(&x.box, &v.pos)
		if x.state == meshLoaded || x.state == meshLoading {
			if x.visible = v.seesWithin(&x.box, shrink); x.visible {
				x.lastVisible = ms.frame
			}
			if x.distance > radius.unload || outside {
				ms.leavers = append(ms.leavers, meshLeaver{r, int32(i), x.distance})
			}
			continue
		}
		if x.fetch != 0 && !more && (x.distance > radius.unload || outside || r.inGrace) {
			ms.cancelParts(r, i)
		}
		low := false // only for slots that nothing else needs
		switch {
		case closed:
			continue
		case x.distance <= radius.stream+1:
			if !x.seen {
				x.seen, x.seenAt = true, ms.now
			}
		case more:
			low = true
		default:
			x.seen = false
			continue
		}
		switch {
		case x.state == meshFailed && ms.now-x.failedAt < ms.backoff(x.fails):
			continue
		case x.evicted && ms.now-x.evictedAt < evictionHold:
			ms.waitingToReturn = true
			continue
		case cfg.EnableFrustumGate && !v.seesWithin(&x.box, shrink):
			if !more && !cfg.FillIdleSlots {
				continue
			}
			low = true
		}
		ms.waitingToReturn = ms.waitingToReturn || x.evicted
		importance := 0.0
		if cfg.EnableImportanceSort {
			importance = x.half / max(x.distance, 1)
		}
		ms.candidates = append(ms.candidates, meshCandidate{
			record: r, stub: int32(i), low: low, near: x.distance <= nearBand, priority: priority, distance: x.distance, importance: importance,
		})
	}

	if len(ms.leavers) > firstLeaver {
		n := ms.mayLeave(r, ms.leavers[firstLeaver:], awaited)
		ms.leavers = ms.leavers[:firstLeaver+n]
	}
	if len(ms.candidates) == firstCandidate {
		return
	}
	// A tile whose file is being read again, or whose textures are being decoded,
	// takes no slots meanwhile.
	warm := ms.registry.isWarm(m.root)
	if !warm {
		ms.readAgain(r)
	}
	if !warm || ms.registry.prewarmActive(m.root) {
		ms.candidates = ms.candidates[:firstCandidate]
	}
}

// mayLeave moves those of a tile's leavers to the front that it can do without,
// and returns how many they are: nothing that is drawn goes before something can
// stand in for it, and what a hand-off waits for stays. The nearest stay.
func (ms *meshStreamer) mayLeave(r *record, list []meshLeaver, awaited bool) int {
	m, t := r.meshes, r.scene.tiles
	if t.has(r.tile, flagEntity) && t.box[r.tile].Distance(r.scene.view.pos) > t.radius[r.tile].unload {
		return len(list) // nothing takes its place
	}
	replaced := r.hasFallback()
	if ms.cfg.EnableFadeTransitions {
		replaced = replaced && r.drawn != payload.RepFull // it has to fade out first
	}
	keep := 0
	switch {
	case r.fading == payload.RepFull:
		keep = m.uploaded
	case awaited, !replaced && m.uploaded >= m.usable():
		keep = m.usable()
	case !replaced && r.drawn == payload.RepFull:
		keep = 1
	}
	loaded := moveFirst(list, func(l meshLeaver) bool { return m.stubs[l.stub].state == meshLoaded })
	n := max(0, min(loaded, m.uploaded-keep))
	if n < loaded {
		selectFirst(list[:loaded], n, meshLeaver.compare)
	}
	if !awaited { // what is on its way is needed no more
		n += copy(list[n:], list[loaded:])
	}
	return n
}
