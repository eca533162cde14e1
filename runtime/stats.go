package runtime

import (
	"reflect"
	"strings"
	"sync"
)

// Stats are the counters of a Streamer, under the names of
// their JSON keys. "Tick" counters describe the last tick, "total" ones the
// time since Open; the others the present.
//
// Failures, Timeouts, Cancels and Retries count the events of their names, as
// the simulator's report does: Failures the *.failed events of all
// representations, a level that timed out included; Timeouts, Cancels and
// Retries the tile.timeout, tile.cancel and tile.retry events, which only full
// tiles have.
type Stats struct {
	// Tiles. A tile counts as loaded while any of its representations is
	// resident.
	TotalStreamingEntities int `json:"totalStreamingEntities"` // tiles, and the meshes of out-of-core ones
	LoadedCount            int `json:"loadedCount"`            // full tiles and meshes resident
	LoadingCount           int `json:"loadingCount"`           // full tiles and meshes requested
	UnloadedCount          int `json:"unloadedCount"`          // the others
	ActiveLoads            int `json:"activeLoads"`            // requests of all kinds that hold a slot or wait for a download
	PendingLoadBacklog     int `json:"pendingLoadBacklog"`     // tick: candidates that found no slot, of those that it has looked at

	// The last tick.
	UpdateFrame              uint64      `json:"updateFrame"`
	UpdateTriggered          bool        `json:"updateTriggered"`       // whether the last Update was a tick
	UpdateWorkMs             float64     `json:"updateWorkMs"`          // by the Clock
	NearbyEntitiesQueried    int         `json:"nearbyEntitiesQueried"` // tiles of the query, which reaches up to 32 m farther than needed
	LoadCandidates           int         `json:"loadCandidates"`        // as of the last tick that looked for some
	StartedLoads             int         `json:"startedLoads"`
	UnloadCandidates         int         `json:"unloadCandidates"`
	ProcessedUnloads         int         `json:"processedUnloads"`
	AvailableLoadSlots       int         `json:"availableLoadSlots"` // of full tiles, after the tick
	ActiveLoadsAtUpdateStart int         `json:"activeLoadsAtUpdateStart"`
	ActiveLoadsAtUpdateEnd   int         `json:"activeLoadsAtUpdateEnd"`
	EvictionTriggered        bool        `json:"evictionTriggered"`
	EvictionsPerformed       int         `json:"evictionsPerformed"` // of all passes of the tick
	TilesSkippedByHierarchy  int         `json:"tilesSkippedByHierarchyGate"`
	TilesSkippedByFrustum    int         `json:"tilesSkippedByFrustumGate"`
	TilesSkippedByFloor      int         `json:"tilesSkippedByFloorGate"`
	TilesSkippedByInterior   int         `json:"tilesSkippedByInteriorGate"`
	RepresentationGaps       int         `json:"tileRepresentationGaps"` // tiles in view and range with nothing to draw
	LastAsyncLoadMs          float64     `json:"lastAsyncLoadMs"`        // request to delivery
	AverageAsyncLoadMs       float64     `json:"averageAsyncLoadMs"`     // moving average, weight 0.1
	LastFailedAsyncLoadMs    float64     `json:"lastFailedAsyncLoadMs"`
	LastApplyLoadedMeshMs    float64     `json:"lastApplyLoadedMeshMs"` // the last Device.Upload, by the Clock
	LastAsyncReloadLODMs     float64     `json:"lastAsyncReloadLODMs"`  // request to delivery of the last LOD or HLOD
	LastUnloadMeshMs         float64     `json:"lastUnloadMeshMs"`      // the last Device.Release, by the Clock
	ResidentFull             int         `json:"residentFull"`
	ResidentLOD              int         `json:"residentLOD"`
	ResidentHLOD             int         `json:"residentHLOD"`
	VisibleFull              int         `json:"visibleFull"` // tiles that draw it
	VisibleLOD               int         `json:"visibleLOD"`
	VisibleHLOD              int         `json:"visibleHLOD"`
	OverlapFullFallback      int         `json:"overlapFullFallback"` // tiles with full and a level resident
	OverlapFullLOD           int         `json:"overlapFullLOD"`      // tiles that draw both, while fading
	OverlapFullHLOD          int         `json:"overlapFullHLOD"`
	OverlapLODHLOD           int         `json:"overlapLODHLOD"`
	OverlapLODLOD            int         `json:"overlapLODLOD"`
	ActiveFades              int         `json:"activeFades"`
	WaitingFades             int         `json:"waitingFades"` // resident successors that are not drawable yet
	UndrawnTiles             int         `json:"undrawnTiles"` // tiles that are undrawn now
	TilesInView              int         `json:"tilesInView"`  // of Coverage, as of its last call
	UncoveredTiles           int         `json:"uncoveredTiles"`
	TilesGivenUp             int         `json:"tilesGivenUp"`
	GeometryBytes            int64       `json:"geometryBytes"` // uploaded by this Streamer
	TextureBytes             int64       `json:"textureBytes"`
	GeometryUsed             int64       `json:"geometryUsed"` // with the use from outside
	TextureUsed              int64       `json:"textureUsed"`
	GeometryBudget           int64       `json:"geometryBudget"` // 0: unlimited
	TextureBudget            int64       `json:"textureBudget"`
	GeometryUtilization      float64     `json:"geometryUtilization"` // used over budget, 0 without a budget
	TextureUtilization       float64     `json:"textureUtilization"`
	GeometryAvailable        int64       `json:"geometryAvailable"` // below the budget, never negative; 0 without a budget
	TextureAvailable         int64       `json:"textureAvailable"`
	TrackedEntities          int         `json:"trackedEntities"` // resident representations
	Meshes                   int         `json:"meshes"`          // stubs of out-of-core tiles, LOD groups counted once
	MeshesLoaded             int         `json:"meshesLoaded"`
	MeshesLoading            int         `json:"meshesLoading"`    // with the device, which cannot draw them yet
	MeshCandidates           int         `json:"meshCandidates"`   // as of the last tick
	OutOfCoreTiles           int         `json:"outOfCoreTiles"`   // full tiles that stream mesh by mesh
	CPUBytes                 int64       `json:"cpuBytes"`         // decoded out-of-core tiles in the main memory
	CPURoots                 int         `json:"cpuRoots"`         // how many these are
	PrewarmsActive           int         `json:"prewarmsActive"`   // out-of-core tiles whose textures are being decoded
	MeshCacheFiles           int         `json:"meshCacheFiles"`   // decoded files that entities share
	MeshCacheBytes           int64       `json:"meshCacheBytes"`   // main memory that they take
	MeshCacheUsers           int         `json:"meshCacheUsers"`   // entities that use them
	MeshCacheUnused          int64       `json:"meshCacheUnused"`  // bytes of those that no entity uses: they go first
	IsUnderPressure          bool        `json:"isUnderPressure"`  // geometry at or above the high-water mark
	GeometryReach            float64     `json:"geometryReach"`    // metres: tiles farther away are evicted for want of geometry memory; the query radius when none are
	GeometryDetail           float64     `json:"geometryDetail"`   // metres: the nearest tile that has to do with less than its distance asks for
	DetailLimit              DetailLimit `json:"detailLimit"`      // the budget that makes detail coarser now: "none", "memory" or "triangles"; as a counter 0, 1 or 2
	PyramidNodes             int         `json:"pyramidNodes"`     // nodes of pyramids that are drawn
	PyramidBytes             int64       `json:"pyramidBytes"`     // of geometryBytes, those of nodes
	PyramidRootBytes         int64       `json:"pyramidRootBytes"` // of pyramidBytes, those of roots, which stay
	OctreeEntries            int         `json:"octreeEntries"`    // tiles that a query can find
	OctreeNodes              int         `json:"octreeNodes"`      // of all scenes, leaves among them
	OctreeLeaves             int         `json:"octreeLeaves"`
	OctreeDepth              int         `json:"octreeDepth"` // levels of the deepest scene's

	// Totals.
	Frames                 uint64 `json:"frames"`
	Ticks                  uint64 `json:"ticks"`
	Loads                  uint64 `json:"loads"` // requests started
	LoadsCompleted         uint64 `json:"loadsCompleted"`
	Cancels                uint64 `json:"cancels"`  // tile.cancel
	Failures               uint64 `json:"failures"` // *.failed
	Retries                uint64 `json:"retries"`  // tile.retry
	Timeouts               uint64 `json:"timeouts"` // tile.timeout
	Evictions              uint64 `json:"evictions"`
	Stale                  uint64 `json:"stale"` // answers to requests that were no longer current
	Undrawn                uint64 `json:"undrawn"`
	RepresentationChanges  uint64 `json:"representationChanges"`
	SwapWarnings           uint64 `json:"tileSwapWarnings"`
	GapWarnings            uint64 `json:"tileRepresentationGapWarnings"`
	LOD0Warnings           uint64 `json:"lod0VisibilityWarnings"`
	LOD0WithFallback       uint64 `json:"lod0VisibilityWarningsWithFallback"`
	LOD0NoFallback         uint64 `json:"lod0VisibilityWarningsNoFallback"`
	BytesRequested         int64  `json:"bytesRequested"` // declared file sizes
	BytesLoaded            int64  `json:"bytesLoaded"`
	PeakGeometryBytes      int64  `json:"peakGeometryBytes"`
	PeakTextureBytes       int64  `json:"peakTextureBytes"`
	MeshLoads              uint64 `json:"meshLoads"` // mesh.load
	MeshLoadsCompleted     uint64 `json:"meshLoadsCompleted"`
	MeshFailures           uint64 `json:"meshFailures"` // mesh.failed, timeouts included
	MeshTimeouts           uint64 `json:"meshTimeouts"`
	MeshUnloads            uint64 `json:"meshUnloads"`            // mesh.unload
	PartLoads              uint64 `json:"partLoads"`              // requests for the geometry of single meshes, of files that come in parts
	MeshEvictions          uint64 `json:"meshEvictions"`          // evict.lru, also among evictions
	LODSwitches            uint64 `json:"lodSwitches"`            // of LOD groups
	TexturesShed           uint64 `json:"texturesShed"`           // evict.shed: entities whose textures were lowered
	CPUReleased            int64  `json:"cpuReleased"`            // bytes of main memory given back while memory was short
	CPURereads             uint64 `json:"cpuRereads"`             // files read again after that
	ManifestReloads        uint64 `json:"manifestReloads"`        // scenes replaced because a payload was not the declared one
	ManifestReloadFailures uint64 `json:"manifestReloadFailures"` // manifests read again for that, in vain
	DroppedEvents          uint64 `json:"droppedEvents"`          // Events was not called for too long
}

// Counter returns a counter by its JSON key; booleans are 0 or 1.
func (s *Stats) Counter(name string) (value float64, ok bool) {
	i, ok := counterFields()[name]
	if !ok {
		return 0, false
	}
	switch f := reflect.ValueOf(s).Elem().Field(i); f.Kind() {
	case reflect.Bool:
		if f.Bool() {
			return 1, true
		}
		return 0, true
	case reflect.Float64:
		return f.Float(), true
	case reflect.Uint64:
		return float64(f.Uint()), true
	default:
		return float64(f.Int()), true
	}
}

// counterFields are the fields of Stats by the names of their counters. Scenarios
// ask for hundreds of thousands.
var counterFields = sync.OnceValue(func() map[string]int {
	t := reflect.TypeFor[Stats]()
	fields := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[key] = i
	}
	return fields
})

// CounterNames returns the names that Counter knows.
func CounterNames() []string {
	t := reflect.TypeFor[Stats]()
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = t.Field(i).Tag.Get("json")
	}
	return names
}
