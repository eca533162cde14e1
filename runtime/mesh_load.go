package runtime

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
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

// farEvicter makes room for a mesh of a tile among whole representations.
type farEvicter interface {
	// makeRoomFarAway evicts representations of other tiles that lie farther away
	// than a distance until so many bytes are free, if a few of them are enough.
	makeRoomFarAway(tile *record, beyond, need float64) bool
}

// meshRoom is what the candidates of a tick may evict for themselves.
type meshRoom struct {
	left int // candidates that may
	far  farEvicter
}

// maxMakeRoom is how many candidates of a tick may make room for themselves.
const maxMakeRoom = 2

// dispatch starts the best candidates: those of the near band in slots of
// their own, then the rest.
func (ms *meshStreamer) dispatch(far farEvicter) {
	defer func(all []meshCandidate) { clear(all) }(ms.candidates)
	// Tiles may have been evicted since.
	list := ms.candidates[:moveFirst(ms.candidates, func(c meshCandidate) bool { return c.record.meshes != nil })]
	ms.count.candidates, ms.count.started, ms.backlog = len(list), 0, 0
	available := ms.cfg.MaxConcurrentLoads - len(ms.loading)
	if len(list) == 0 || ms.budget.high() {
		return
	}
	list = ms.loadParts(list)
	ms.backlog = max(0, len(list)-max(0, available))
	if available <= 0 {
		return
	}
	near := moveFirst(list, func(c meshCandidate) bool { return c.near })
	slots := min(ms.nearSlots(list[:near]), available)
	room := meshRoom{maxMakeRoom, far}
	left, started := ms.startMeshes(list[:near], slots, &room)
	rest, more := ms.startMeshes(list[near:], available-started, &room)
	ms.backlog = left + rest
	ms.count.started = started + more
}

// nearSlots returns how many meshes of the near band may start. That is one at
// a time, unless all that wait and load belong to one asset, which then loads
// in a burst.
func (ms *meshStreamer) nearSlots(near []meshCandidate) int {
	if len(near) == 0 {
		return 0
	}
	owner, total, active := near[0].record, len(near), 0
	burst := !slices.ContainsFunc(near, func(c meshCandidate) bool { return c.record != owner })
	for i := range ms.loading {
		if l := &ms.loading[i]; l.near {
			active++
			burst = burst && l.record == owner
		}
	}
	limit := ms.cfg.NearBandMaxConcurrentLoads
	if burst && total+active >= 2 {
		limit = ms.cfg.MaxConcurrentLoads
	}
	return max(0, limit-active)
}

// startMeshes starts the best of a list. It returns how many wait for a slot,
// not counting those that memory keeps out, and how many were started.
func (ms *meshStreamer) startMeshes(list []meshCandidate, slots int, room *meshRoom) (waiting, started int) {
	for started < slots && len(list) > 0 {
		n := min(len(list), slots-started)
		selectFirst(list, n, meshCandidate.compare)
		for _, c := range list[:n] {
			if ms.admitMesh(&c, room) && ms.startMesh(&c) {
				started++
			}
		}
		list = list[n:]
		if room.left <= 0 {
			return 0, started
		}
	}
	return len(list), started
}

// admitMesh reports whether memory has room for a mesh, and makes some if it
// may.
func (ms *meshStreamer) admitMesh(c *meshCandidate, room *meshRoom) bool {
	budget := float64(ms.budget.memory.GeometryBudget)
	if budget <= 0 {
		return true
	}
	x := &c.record.meshes.stubs[c.stub]
	limit, mark := budget, ms.cfg.HighWaterMark*budget
	bytes := ms.costOf(x, c.record.meshes.plan.Stubs[c.stub].Bytes)
	x.tooLarge = false
	// While evicted meshes wait to come back, some room below the mark is kept for
	// the meshes that the camera comes near to: others would soon be evicted again.
	// Only the near band may use it up.
	if ms.waitingToReturn {
		if !c.near {
			mark *= (1 + ms.cfg.LowWaterMark/ms.cfg.HighWaterMark) / 2
		}
		if ms.budget.evicting {
			mark = ms.cfg.LowWaterMark * budget
		}
		if x.tooLarge = bytes >= mark; !x.tooLarge {
			limit = math.Nextafter(mark, 0)
		}
	}
	need := float64(ms.budget.used()+ms.budget.pending) + bytes - limit
	if need <= 0 {
		return true
	}
	if room.left--; room.left < 0 {
		return false
	}
	return ms.makeRoom(c, need, room.far)
}

// costOf returns what a stub of so many bytes in its file takes on the Device: what it
// took the last time, else what such bytes of others have been worth.
func (ms *meshStreamer) costOf(x *stub, bytes int64) float64 {
	switch {
	case ms.device == nil || ms.device.packer == nil:
		return float64(bytes)
	case x.took > 0:
		return float64(x.took)
	case ms.learned.sizes > 0:
		return min(maxCost, float64(bytes)*(ms.learned.sized/ms.learned.sizes))
	}
	return float64(ms.device.estimate(bytes))
}

// learnMesh remembers what a stub takes on the Device.
func (ms *meshStreamer) learnMesh(x *stub, bytes int64) {
	if x.took == 0 && x.bytes > 0 && bytes > 0 {
		ms.learned.sizes += float64(bytes)
		ms.learned.sized += float64(x.bytes)
	}
	x.took = x.bytes
}

// startMesh hands a stub to the Device, all levels of a LOD group in one pass;
// false when that fails.
func (ms *meshStreamer) startMesh(c *meshCandidate) bool {
	r, i := c.record, int(c.stub)
	m := r.meshes
	x, p := &m.stubs[i], &m.plan.Stubs[i]
	ms.count.loads++
	ms.emitMesh(event.MeshLoad, r, i)
	x.state = meshLoading
	m.loading++
	ms.count.loading++
	start := ms.device.clock.Now()
	failure := errCold
	bytes := int64(0)
	for k, e := range ms.registry.mesh(stubID{m.root, c.stub}) {
		view := ms.registry.view(m.root, e.part)
		if view == nil {
			continue
		}
		view.Level, view.Levels = p.Place(k)
		if err := ms.device.Upload(r.part(e.part), view); err != nil {
			view.Release()
			failure = err
			continue
		}
		x.resident |= 1 << k
		bytes += ms.device.packed(r.part(e.part), e.bytes)
	}
	ms.device.noteUpload(start)
	ms.bookStub(r, x, bytes)
	if bits.OnesCount64(x.resident) == len(p.Parts) {
		ms.learnMesh(x, p.Bytes)
	}
	ms.loading = append(ms.loading, meshLoad{record: r, stub: c.stub, near: c.near, started: ms.now})
	if x.resident == 0 {
		ms.failMesh(len(ms.loading)-1, failure)
		return false
	}
	if ms.device.visibility == nil {
		ms.finishMesh(len(ms.loading) - 1)
	}
	return true
}

// poll asks which of the meshes at the Device can be drawn.
func (ms *meshStreamer) poll() {
	for at := 0; at < len(ms.loading); {
		l := &ms.loading[at]
		m := l.record.meshes
		x, p := &m.stubs[l.stub], &m.plan.Stubs[l.stub]
		for k := range p.Parts {
			if bit := uint64(1) << k; x.resident&bit != 0 && l.drawn&bit == 0 && ms.device.visibility.Drawable(l.record.part(p.Parts[k].Index)) {
				l.drawn |= bit
			}
		}
		if l.drawn != x.resident {
			at++
			continue
		}
		ms.finishMesh(at)
		ms.wake = true
	}
}

// finishMesh ends the load at a place of the list: the stub can be drawn.
func (ms *meshStreamer) finishMesh(at int) {
	l := ms.loading[at]
	ms.loading = slices.Delete(ms.loading, at, at+1)
	r, i := l.record, int(l.stub)
	m := r.meshes
	x := &m.stubs[i]
	x.state, x.fails, x.evicted = meshLoaded, 0, false
	m.loading--
	m.uploaded++
	ms.count.loading--
	ms.count.loaded++
	ms.count.loadsCompleted++
	if m.plan.Stubs[i].Levels() > 1 {
		ms.groups++
		ms.pickLevel(r, i, r.scene.inverse.Point(ms.camera.Position), true)
	}
	e := ms.meshEvent(event.MeshLoaded, r, i)
	if x.seen {
		e.Latency = ms.now - x.seenAt
	}
	ms.emit(e)
	ms.updateVisual(r)
}

// failMesh ends the load at a place of the list without success.
func (ms *meshStreamer) failMesh(at int, err error) {
	r, i := ms.loading[at].record, int(ms.loading[at].stub)
	ms.releaseStub(r, i) // takes it off the list too
	ms.failed(r, i, err)
}

// expire gives up on stubs that the Device does not finish.
func (ms *meshStreamer) expire() {
	limit := seconds(ms.cfg.MeshLoadTimeoutSeconds)
	for at := 0; at < len(ms.loading); {
		if ms.now-ms.loading[at].started <= limit {
			at++
			continue
		}
		ms.failMesh(at, ErrTimeout)
	}
}

// readAgain asks for the file of a tile whose decoded asset was released.
func (ms *meshStreamer) readAgain(r *record) {
	m := r.meshes
	switch {
	case m.reread != 0, m.rereadFails > 0 && ms.now-m.rereadFailedAt < ms.backoff(m.rereadFails),
		ms.loads.freeSlots(classFull) <= 0, !ms.fetches && !ms.loads.fitsParse(r.scene.tiles.memory[r.tile]), ms.budget.high():
		return
	}
	ms.count.cpuRereads++
	l := ms.loads.request(r, payload.RepFull, int(m.rereadFails)+1, ms.budget.splitOf(r, payload.RepFull))
	l.memory, l.reread = r.scene.tiles.memory[r.tile], true
	m.reread = l.request.Token
	ms.loads.send(l)
}

// rereadDone takes over a file that was read again. It returns true when the
// file has other meshes than before: then the tile has to be unloaded and
// loaded anew.
func (ms *meshStreamer) rereadDone(r *record, l *load, res *payload.Result) (changed bool) {
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
		m.rereadFailedAt = ms.now
		ms.count.rereadFailures++
		e := ms.event(event.TileFailed, r, payload.RepFull)
		e.Attempt, e.RetryIn, e.Err = int(m.rereadFails), ms.backoff(m.rereadFails), err
		ms.emit(e)
		ms.log.Warn("reading a tile again failed", "tile", e.Tile, "attempt", e.Attempt, "retry_in", e.RetryIn, "err", err)
		ms.reloads.reportMismatch(r, payload.RepFull, err)
	case !m.plan.Same(res.Asset.Layout()), m.version != res.Asset.Version:
		res.Asset.Release()
		ms.warn(r, payload.RepFull, "the file of the tile has changed since it was loaded")
		return true
	default:
		m.rereadFails = 0
		ms.loads.countLoaded(l, res)
		ms.registry.storeAsset(m.root, res.Asset)
	}
	return false
}

// failed puts a mesh that is not with the Device into backoff.
func (ms *meshStreamer) failed(r *record, i int, err error) {
	x := &r.meshes.stubs[i]
	x.state, x.failedAt = meshFailed, ms.now
	if x.fails < math.MaxUint16 {
		x.fails++
	}
	ms.count.failures++
	if errors.Is(err, ErrTimeout) {
		ms.count.timeouts++
	}
	e := ms.meshEvent(event.MeshFailed, r, i)
	e.Attempt, e.RetryIn, e.Err = int(x.fails), ms.backoff(x.fails), err
	ms.emit(e)
	ms.log.Warn("mesh load failed", "tile", e.Tile, "mesh", e.Mesh, "attempt", e.Attempt, "retry_in", e.RetryIn, "err", err)
}
