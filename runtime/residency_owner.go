package runtime

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
	awaited int // resident representations that are not drawable yet
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
