package runtime

import (
	"errors"
	"math"
	"slices"
	"time"
)

// meshLoad is a stub that is with the Device: it holds a slot until the Device
// can draw it or the watchdog gives up.
type meshLoad struct {
	record  *record
	stub    int32
	near    bool
	started time.Duration
	drawn   uint64 // parts that the Device can draw
}

// errCold is the error of a mesh whose geometry is not in the main memory.
var errCold = errors.New("runtime: the geometry is not in the main memory")

// maxMakeRoom is how many candidates of a tick may make room for themselves.
const maxMakeRoom = 2

// dispatchMeshes starts the best stubs: those of the near band in slots of their
// own, then the rest.
func (s *Streamer) dispatchMeshes() {
	defer func(all []meshCandidate) { clear(all) }(s.meshCandidates)
	// Tiles may have been evicted since.
	list := s.meshCandidates[:moveFirst(s.meshCandidates, func(c meshCandidate) bool { return c.record.meshes != nil })]
	s.stats.MeshCandidates, s.meshBacklog = len(list), 0
	s.stats.LoadCandidates += len(list)
	available := s.cfg.MaxConcurrentLoads - len(s.meshLoads)
	if len(list) == 0 || s.geometryHigh() {
		return
	}
	list = s.loadParts(list)
	s.meshBacklog = max(0, len(list)-max(0, available))
	if available <= 0 {
		return
	}
	near := moveFirst(list, func(c meshCandidate) bool { return c.near })
	slots := min(s.nearSlots(list[:near]), available)
	room := maxMakeRoom
	left, started := s.startMeshes(list[:near], slots, &room)
	rest, more := s.startMeshes(list[near:], available-started, &room)
	s.meshBacklog = left + rest
	s.stats.StartedLoads += started + more
}

// moveFirst moves what a condition holds for to the front and returns how many
// that are.
func moveFirst[T any](list []T, is func(T) bool) int {
	n := 0
	for i := range list {
		if is(list[i]) {
			if n != i {
				list[n], list[i] = list[i], list[n]
			}
			n++
		}
	}
	return n
}

// nearSlots returns how many meshes of the near band may start: one at a time,
// unless all that are to load and are loading belong to one asset, which then
// loads in a burst.
func (s *Streamer) nearSlots(near []meshCandidate) int {
	if len(near) == 0 {
		return 0
	}
	owner, total, active := near[0].record, len(near), 0
	burst := !slices.ContainsFunc(near, func(c meshCandidate) bool { return c.record != owner })
	for i := range s.meshLoads {
		if l := &s.meshLoads[i]; l.near {
			active++
			burst = burst && l.record == owner
		}
	}
	limit := s.cfg.NearBandMaxConcurrentLoads
	if burst && total+active >= 2 {
		limit = s.cfg.MaxConcurrentLoads
	}
	return max(0, limit-active)
}

// startMeshes starts the best of a list and returns how many wait for a slot,
// and how many were started. Those that memory keeps out wait for other things.
func (s *Streamer) startMeshes(list []meshCandidate, slots int, room *int) (waiting, started int) {
	for started < slots && len(list) > 0 {
		n := min(len(list), slots-started)
		selectFirst(list, n, meshCandidate.compare)
		for _, c := range list[:n] {
			if s.admitMesh(&c, room) && s.startMesh(&c) {
				started++
			}
		}
		list = list[n:]
		if *room <= 0 {
			return 0, started
		}
	}
	return len(list), started
}

// admitMesh reports whether memory has room for a stub, or makes some.
func (s *Streamer) admitMesh(c *meshCandidate, room *int) bool {
	budget := float64(s.memory.GeometryBudget)
	if budget <= 0 {
		return true
	}
	x := &c.record.meshes.stubs[c.stub]
	limit, mark := budget, s.cfg.HighWaterMark*budget
	bytes := float64(c.record.meshes.plan.stubs[c.stub].bytes)
	x.spared = false
	// While anything evicted waits to come back, nothing may load that would be
	// evicted again soon: what moves with the camera needs some room below the
	// mark. Only the nearest meshes may use it up.
	if s.meshShort {
		if !c.near {
			mark *= (1 + s.cfg.LowWaterMark/s.cfg.HighWaterMark) / 2
		}
		if s.relieving {
			mark = s.cfg.LowWaterMark * budget
		}
		if x.spared = bytes >= mark; !x.spared {
			limit = math.Nextafter(mark, 0)
		}
	}
	need := float64(s.geometryUsed()+s.pending) + bytes - limit
	if need <= 0 {
		return true
	}
	if *room--; *room < 0 {
		return false
	}
	return s.makeRoom(c, need)
}

// startMesh hands a stub to the Device, all levels of a LOD group in one pass;
// false when that fails.
func (s *Streamer) startMesh(c *meshCandidate) bool {
	r, i := c.record, int(c.stub)
	m := r.meshes
	x, p := &m.stubs[i], &m.plan.stubs[i]
	s.stats.MeshLoads++
	s.emitMesh(EventMeshLoad, r, i)
	x.state = meshLoading
	m.loading++
	s.stats.MeshesLoading++
	start := s.deps.Clock.Now()
	var failure error
	bytes := int64(0)
	for k := range p.parts {
		if err := s.uploadPart(r, p, k); err != nil {
			failure = err
			continue
		}
		x.resident |= 1 << k
		bytes += p.parts[k].bytes
	}
	s.stats.LastApplyLoadedMeshMs = milliseconds(s.deps.Clock.Now() - start)
	s.addMeshBytes(r, x, bytes)
	s.meshLoads = append(s.meshLoads, meshLoad{record: r, stub: c.stub, near: c.near, started: s.now})
	if x.resident == 0 {
		s.failMesh(len(s.meshLoads)-1, failure)
		return false
	}
	if s.deps.Visibility == nil {
		s.finishMesh(len(s.meshLoads) - 1)
	}
	return true
}

// uploadPart gives one part of a stub to the Device.
func (s *Streamer) uploadPart(r *record, p *stubPlan, k int) error {
	part := p.parts[k].part
	view := s.registry.View(r.meshes.root, part)
	if view == nil {
		return errCold
	}
	view.Level, view.Levels = p.place(k)
	err := s.deps.Device.Upload(r.part(part), view)
	if err != nil {
		view.Release()
	}
	return err
}

// pollMeshes asks which of the stubs at the Device can be drawn.
func (s *Streamer) pollMeshes() {
	for at := 0; at < len(s.meshLoads); {
		l := &s.meshLoads[at]
		m := l.record.meshes
		x, p := &m.stubs[l.stub], &m.plan.stubs[l.stub]
		for k := range p.parts {
			if bit := uint64(1) << k; x.resident&bit != 0 && l.drawn&bit == 0 && s.deps.Visibility.Drawable(l.record.part(p.parts[k].part)) {
				l.drawn |= bit
			}
		}
		if l.drawn != x.resident {
			at++
			continue
		}
		s.finishMesh(at)
		s.wake = true
	}
}

// finishMesh ends the load at a place of the list: the stub can be drawn.
func (s *Streamer) finishMesh(at int) {
	l := s.meshLoads[at]
	s.meshLoads = slices.Delete(s.meshLoads, at, at+1)
	r, i := l.record, int(l.stub)
	m := r.meshes
	x := &m.stubs[i]
	x.state, x.fails, x.evicted = meshLoaded, 0, false
	m.loading--
	m.uploaded++
	s.stats.MeshesLoading--
	s.stats.MeshesLoaded++
	s.stats.MeshLoadsCompleted++
	if m.plan.stubs[i].levels() > 1 {
		s.groupsLoaded++
		s.pickLevel(r, i, r.scene.inverse.Point(s.camera.Position), true)
	}
	e := s.meshEvent(EventMeshLoaded, r, i)
	if x.seen {
		e.Latency = s.now - x.seenAt
	}
	s.emit(e)
	s.updateVisual(r)
}

// failMesh ends the load at a place of the list without success.
func (s *Streamer) failMesh(at int, err error) {
	r, i := s.meshLoads[at].record, int(s.meshLoads[at].stub)
	s.releaseStub(r, i) // takes it off the list too
	s.meshFailure(r, i, err)
}

// meshWatchdog gives up on stubs that the Device does not finish.
func (s *Streamer) meshWatchdog() {
	limit := seconds(s.cfg.MeshLoadTimeoutSeconds)
	for at := 0; at < len(s.meshLoads); {
		if s.now-s.meshLoads[at].started <= limit {
			at++
			continue
		}
		s.failMesh(at, ErrTimeout)
	}
}

// readAgain asks for the file of a tile whose decoded asset was released.
func (s *Streamer) readAgain(r *record) {
	m := r.meshes
	switch {
	case m.reread != 0, m.rereadFails > 0 && s.now-m.rereadFailedAt < s.backoff(m.rereadFails),
		s.loads.freeSlots(classFull) <= 0, !s.fetches && !s.loads.fitsParse(r.scene.tiles.memory[r.tile]), s.geometryHigh():
		return
	}
	s.stats.CPURereads++
	f := s.loads.request(r, RepFull, int(m.rereadFails)+1, s.splitOf(r, RepFull))
	f.memory, f.reread = r.scene.tiles.memory[r.tile], true
	m.reread = f.request.Token
	s.loads.send(f)
}

// rereadDone ends such a request. A file that has other nodes now is another
// tile: what is drawn of the old one goes, and it is loaded anew.
func (s *Streamer) rereadDone(r *record, f *load, res *Result) {
	m := r.meshes
	m.reread = 0
	err := res.Err
	if err == nil && res.Asset == nil {
		err = errCold
	}
	switch {
	case err != nil:
		res.Asset.Release()
		if m.rereadFails < math.MaxUint16 {
			m.rereadFails++
		}
		m.rereadFailedAt = s.now
		s.stats.Failures++
		e := s.event(EventTileFailed, r, RepFull)
		e.Attempt, e.RetryIn, e.Err = int(m.rereadFails), s.backoff(m.rereadFails), err
		s.emit(e)
		s.log.Warn("reading a tile again failed", "tile", e.Tile, "attempt", e.Attempt, "retry_in", e.RetryIn, "err", err)
		s.suspect(r, RepFull, err)
	case !m.plan.same(res.Asset.layout()), m.version != res.Asset.version:
		res.Asset.Release()
		s.warn(r, RepFull, "the file of the tile has changed since it was loaded")
		s.unloadRep(r, RepFull)
	default:
		m.rereadFails = 0
		s.loads.countLoaded(f, res)
		s.registry.StoreAsset(m.root, res.Asset)
	}
}

// same reports whether two loads of a file have the same stubs.
func (n *nodes) same(o *nodes) bool {
	return slices.EqualFunc(n.stubs, o.stubs, func(a, b stubPlan) bool {
		return a.name == b.name && a.bytes == b.bytes && slices.Equal(a.parts, b.parts)
	})
}
