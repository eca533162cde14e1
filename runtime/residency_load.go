package runtime

import (
	"errors"
	"math"

	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

// ErrTimeout is the error of a load that the watchdog gave up on.
var ErrTimeout = errors.New("runtime: the load did not finish in time")

// start requests a representation.
func (rs *residency) start(r *record, rep payload.Rep) {
	st := r.rep(rep)
	l := rs.loads.request(r, rep, int(st.fails)+1, rs.budget.splitOf(r, rep))
	st.state, st.token = TileParsing, l.request.Token
	r.wakeUp()
	rs.budget.pending += rs.budget.expected(r, rep)
	rs.count.loads++
	rs.count.started++
	if rep == payload.RepFull {
		l.memory = r.scene.tiles.memory[r.tile]
		rs.count.loading++
	}
	rs.emitRep(loadKind(rep), r, rep)
	rs.loads.send(l)
}

// loaded makes a representation resident.
func (rs *residency) loaded(r *record, l *load, res *payload.Result) {
	rep := l.request.Key.Rep
	start := rs.device.clock.Now()
	err := rs.place(r, rep, res)
	rs.device.noteUpload(start)
	if err != nil {
		res.Asset.Release()
		rs.failed(r, rep, err)
		return
	}
	age := rs.now - l.started
	rs.slowest = max(rs.slowest, age)
	took := milliseconds(age)
	rs.count.lastMs = took
	if rs.count.completed == 0 {
		rs.count.averageMs = took
	}
	rs.count.averageMs += float64((took - rs.count.averageMs) * 0.1)
	rs.count.completed++
	rs.loads.countLoaded(l, res)
	if rep == payload.RepFull {
		rs.count.loading--
	} else {
		rs.count.lastLevelMs = took
	}
	rs.makeResident(r, rep, res)
	r.scene.reloading.fails = 0
	rs.emitRep(loadedKind(rep), r, rep)
	r.noteSwap(rep)
	rs.toggled(r, rep)
}

// failed puts a representation into backoff.
func (rs *residency) failed(r *record, rep payload.Rep, err error) {
	st := r.rep(rep)
	if rep == payload.RepFull {
		rs.count.loading--
	}
	if st.fails < math.MaxUint16 {
		st.fails++
	}
	st.state, st.failedAt = TileFailed, rs.now
	r.wakeUp()
	retry := rs.backoff(st.fails)
	kind := failedKind(rep)
	if rep == payload.RepFull && errors.Is(err, ErrTimeout) {
		kind = event.TileTimeout
		rs.count.timeouts++
	} else {
		rs.count.failures++
	}
	e := rs.event(kind, r, rep)
	e.Attempt, e.RetryIn, e.Err = int(st.fails), retry, err
	rs.emit(e)
	rs.log.Warn("load failed", "tile", e.Tile, "rep", rep, "attempt", e.Attempt, "retry_in", retry, "err", err)
	rs.reloads.reportMismatch(r, rep, err)
}

// A load hangs that takes hangTime, and hangTimes as long as any that has ended well.
const (
	hangTime  = rootTime
	hangTimes = 4
)

// hangs reports whether a load takes so much longer than others that nothing should wait
// for it. The watchdog waits much longer: what is slow is not given up.
func (rs *residency) hangs(st *repState) bool {
	if !st.loading() || rs.count.completed == 0 {
		return false
	}
	at := rs.loads.find(st.token)
	return at >= 0 && rs.now-rs.loads.list[at].started >= max(hangTime, hangTimes*rs.slowest)
}

// hangsFor reports whether a load for a tile hangs.
func (rs *residency) hangsFor(r *record) bool {
	for i := range r.reps {
		if rs.hangs(&r.reps[i]) {
			return true
		}
	}
	return false
}

// discarded ends the cancelled load of a full tile, whose worker has answered.
// Loads of levels are over when they are cancelled.
func (rs *residency) discarded(r *record, l *load) {
	if l.request.Key.Rep != payload.RepFull || r.full().state != TileUnloading || r.full().token != l.request.Token {
		return
	}
	r.full().state = TileUnloaded
	r.wakeUp()
	rs.count.loading--
	rs.emitRep(event.TileDiscard, r, payload.RepFull)
}

// endBackoff ends the backoff of a full tile near the camera. That of a level
// ends when the level is wanted.
func (rs *residency) endBackoff(r *record) {
	if st := r.full(); st.state == TileFailed && r.near && rs.retryable(st) {
		st.state = TileUnloaded
		rs.count.retries++
		rs.emitRep(event.TileRetry, r, payload.RepFull)
	}
}

// cancel gives up a load. A full tile stays in TileUnloading, so it is not
// requested again, until its worker has answered. A level is free at once, and
// only its slot waits.
func (rs *residency) cancel(r *record, rep payload.Rep) {
	st := r.rep(rep)
	r.wakeUp()
	if rep != payload.RepFull {
		st.state = TileUnloaded
		rs.emitRep(unloadKind(rep), r, rep)
		r.noteSwap(rep)
	} else {
		st.state = TileUnloading
		rs.count.cancels++
		rs.emitRep(event.TileCancel, r, rep)
	}
	if l, over := rs.loads.giveUp(st.token); over {
		rs.discarded(r, &l)
	}
}

// place hands a representation that was loaded to the Device, or registers its
// meshes. On an error the caller still has the asset.
func (rs *residency) place(r *record, rep payload.Rep, res *payload.Result) error {
	if rep == payload.RepFull && rs.budget.outOfCore(r, res) {
		rs.meshes.register(r, res)
		return nil
	}
	return rs.uploadWhole(r, rep, res)
}

// uploadWhole uploads a representation as a whole. Of LOD groups only the
// finest level is uploaded, as nothing could hide the others.
func (rs *residency) uploadWhole(r *record, rep payload.Rep, res *payload.Result) error {
	asset := res.Asset
	if asset != nil && r.scene.tiles.has(r.tile, flagNode) {
		r.scene.describeNode(r.tile, asset)
	}
	if asset == nil || rep != payload.RepFull || asset.Layout().Groups == 0 {
		if err := rs.device.Upload(r.key(rep), asset); err != nil {
			return err
		}
		res.GeometryBytes = rs.device.packed(r.key(rep), res.GeometryBytes)
		return nil
	}
	view := asset.View(asset.Layout().Finest()...)
	if view == nil {
		return errCold
	}
	if err := rs.device.Upload(r.key(rep), view); err != nil {
		view.Release()
		return err
	}
	asset.Release()
	res.GeometryBytes = rs.device.packed(r.key(rep), res.GeometryBytes)
	return nil
}
