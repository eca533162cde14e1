package runtime

import "github.com/untoldkit/untold/internal/geom"

// meshStreamer owns the second tier. Full tiles that are too large to be
// uploaded as a whole stream mesh by mesh: their decoded asset is pinned in
// the meshRegistry, and every renderable node of it, or LOD group, is a stub
// with the radii of its tile.
//
// It promises that no mesh is uploaded without room for it, that what is drawn
// goes only when something can stand in for it, and that a tile's full
// representation counts as drawable while at least half of its meshes can be
// drawn.
type meshStreamer struct {
	*eventLog
	loads    *loadQueue
	budget   *geometryBudget
	device   *device
	reloads  *reloads
	registry *meshRegistry

	lastRoot        RootID
	loading         []meshLoad // with the Device, in the order of their starts
	candidates      []meshCandidate
	leavers         []meshLeaver
	evictees        []meshEvictee
	backlog         int
	waitingToReturn bool    // something evicted waits to come back
	learned         learned // what meshes took, of which bytes in files

	groups       int  // LOD groups that can be drawn
	switched     bool // levels, at switchedAt from switchedFrom
	switchedAt   uint64
	switchedFrom geom.Vec3

	count meshCounters
}

// meshCounters says what has become of meshes; Stats says what its fields mean.
type meshCounters struct {
	tiles, meshes, loaded, loading                              int
	candidates, started, unloadCandidates, processedUnloads     int // of the last tick
	loads, loadsCompleted, partLoads, unloads, evictions        uint64
	failures, timeouts, lodSwitches, cpuRereads, rereadFailures uint64
	cpuReleased                                                 int64
}

func newMeshStreamer(l *eventLog, loads *loadQueue, budget *geometryBudget, d *device, manifests *reloads, p Prewarmer) *meshStreamer {
	ms := &meshStreamer{eventLog: l, loads: loads, budget: budget, device: d, reloads: manifests, registry: newMeshRegistry(p)}
	ms.registry.notify = loads.completions.Notify
	return ms
}

// addTo adds the counters up.
func (c *meshCounters) addTo(st *Stats) {
	st.OutOfCoreTiles, st.Meshes, st.MeshesLoaded, st.MeshesLoading, st.MeshCandidates = c.tiles, c.meshes, c.loaded, c.loading, c.candidates
	st.StartedLoads += c.started
	st.UnloadCandidates += c.unloadCandidates
	st.ProcessedUnloads += c.processedUnloads
	st.MeshLoads, st.MeshLoadsCompleted, st.PartLoads, st.MeshUnloads, st.MeshEvictions = c.loads, c.loadsCompleted, c.partLoads, c.unloads, c.evictions
	st.MeshFailures, st.MeshTimeouts, st.LODSwitches, st.CPURereads = c.failures, c.timeouts, c.lodSwitches, c.cpuRereads
	st.Failures += c.rereadFailures
	st.CPUReleased += c.cpuReleased
}
