package runtime

import (
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// residency owns what is loaded: the state of every representation from its
// request to its release.
//
// It promises that a representation is on the device exactly while it is
// resident, that each of its transitions is reported once, and that a full tile
// whose load was cancelled is not requested again before its worker has
// answered. It does not ask whether something should be loaded or may go: others
// decide.
type residency struct {
	*eventLog
	loads   *loadQueue
	budget  *geometryBudget
	device  *device
	meshes  *meshStreamer
	reloads *reloads
	awaited int           // resident representations that are not drawable yet
	slowest time.Duration // from the request of a representation to when it was loaded
	count   residencyCounters
}

// residencyCounters says what has become of representations; Stats says what
// its fields mean.
type residencyCounters struct {
	loading                                                              int // full tiles
	resident                                                             [classes]int
	started                                                              int // in the last tick
	loads, completed, failures, timeouts, cancels, retries, swapWarnings uint64
	lastMs, averageMs, lastFailedMs, lastLevelMs                         float64
}

// begin starts the counters of a tick.
func (rs *residency) begin() { rs.count.started = 0 }

// addTo adds the counters up.
func (c *residencyCounters) addTo(st *Stats) {
	st.LoadingCount += c.loading
	st.ResidentFull, st.ResidentHLOD, st.ResidentLOD = c.resident[classFull], c.resident[classHLOD], c.resident[classLOD]
	st.StartedLoads += c.started
	st.Failures += c.failures
	st.Loads, st.LoadsCompleted, st.Timeouts, st.Cancels, st.Retries, st.SwapWarnings = c.loads, c.completed, c.timeouts, c.cancels, c.retries, c.swapWarnings
	st.LastAsyncLoadMs, st.AverageAsyncLoadMs, st.LastFailedAsyncLoadMs, st.LastAsyncReloadLODMs = c.lastMs, c.averageMs, c.lastFailedMs, c.lastLevelMs
}

// makeResident books a representation that was uploaded or registered.
func (rs *residency) makeResident(r *record, rep payload.Rep, res *payload.Result) {
	st := r.rep(rep)
	st.state, st.residentAt, st.fails, st.evicted = TileParsed, rs.now, 0, false
	if r.evicted != payload.RepFull || rep == payload.RepFull {
		r.evicted = payload.RepNone
	}
	r.wakeUp()
	rs.count.resident[classOf(rep)]++
	if st.split = rep == payload.RepFull && r.meshes != nil; st.split {
		st.drawable = false // until enough of its meshes are
		r.scene.tiles.flags[r.tile] |= flagMeshes
		return
	}
	st.geometry, st.texture = max(0, res.GeometryBytes), max(0, res.TextureBytes)
	rs.budget.learn(r, rep, st.geometry)
	rs.budget.book(st.geometry, st.texture)
	rs.budget.bookNode(r, st.geometry)
	st.drawable = rs.device.visibility == nil
	if !st.drawable {
		rs.awaited++
	}
}

// free releases a resident representation.
func (rs *residency) free(r *record, rep payload.Rep) {
	st := r.rep(rep)
	if st.split {
		rs.meshes.drop(r)
	} else {
		start := rs.device.clock.Now()
		rs.device.Release(r.key(rep))
		rs.device.noteRelease(start)
	}
	rs.budget.book(-st.geometry, -st.texture)
	rs.budget.bookNode(r, -st.geometry)
	rs.count.resident[classOf(rep)]--
	if !st.drawable && !st.split {
		rs.awaited--
	}
	st.state, st.drawable, st.split, st.geometry, st.texture = TileUnloaded, false, false, 0, 0
	r.wakeUp()
}

// unload tears a resident representation down and reports it.
func (rs *residency) unload(r *record, rep payload.Rep) {
	rs.free(r, rep)
	if r.grant != grantAll && r.scene.budget.scarce {
		r.holdBack(rep)
	}
	if rep == payload.RepFull {
		r.inGrace, r.retire, r.handoffAge = false, false, 0
	}
	if r.fading == rep {
		r.endFade()
	}
	rs.emitRep(unloadKind(rep), r, rep)
	r.noteSwap(rep)
	rs.toggled(r, rep)
}

// drop unloads or cancels a level, whichever applies.
func (rs *residency) drop(r *record, rep payload.Rep) {
	switch st := r.rep(rep); {
	case st.resident() && r.fading != rep: // a fade needs both
		rs.unload(r, rep)
	case st.loading():
		rs.cancel(r, rep)
	}
}

// pollDrawable asks the Visibility for what is not drawable yet.
func (rs *residency) pollDrawable() {
	if rs.awaited == 0 {
		return
	}
	for _, sc := range rs.scenes {
		for _, tile := range sc.active {
			if sc.asleep(tile) {
				continue
			}
			r := sc.recordOf(tile)
			for i := range r.reps {
				rs.pollRep(r, payload.Rep(i+1))
			}
		}
	}
}

// pollRep asks the Visibility for one representation.
func (rs *residency) pollRep(r *record, rep payload.Rep) {
	st := r.rep(rep)
	if !st.resident() || st.drawable || st.split {
		return
	}
	st.drawable = rs.device.visibility.Drawable(r.key(rep))
	if st.drawable {
		rs.awaited--
	}
	// A wait that ends, well or not, is worth a tick.
	if waited := rs.now - st.residentAt - rs.handoffMaxWait; st.drawable || waited >= 0 && waited < rs.updateInterval {
		rs.wake = true
	}
}

// Swap-thrash audit: so many loads and unloads of one representation within the
// window are one too many.
const (
	swapWindow    = 5 * time.Second
	swapThreshold = 4
)

// toggled counts loads and unloads of one representation.
func (rs *residency) toggled(r *record, rep payload.Rep) {
	st := r.rep(rep)
	if st.toggles == 0 || rs.now-st.togglesAt > swapWindow {
		st.toggles, st.togglesAt = 0, rs.now
	}
	if st.toggles++; st.toggles < swapThreshold {
		return
	}
	st.toggles = 0
	rs.count.swapWarnings++
	rs.warn(r, rep, "the representation is loaded and unloaded over and over: its radii or switch distances lie too close together")
}
