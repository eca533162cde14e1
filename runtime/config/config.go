// Package config holds the parameters of the runtime: Config, its defaults and presets,
// and the keys under which files and command lines set them.
package config

import (
	"math"
	"time"

	"github.com/untoldkit/untold/manifest"
)

// Config holds every parameter. Start from Default: the zero Config is not valid.
//
// A field's tag is all that its parameter has: the unit, the range (none: every value of
// the type) and what it means. Its key is the field's name with a small first letter,
// behind the name of a group that is no embedded one: updateInterval, lod.bias.
// docs/runtime.md lists them from here.
type Config struct {
	Tiles
	Selection
	Transitions
	Meshes
	MemoryLimits
	LOD      LODGroups
	Texture  Textures
	Batching Batching
	Remote
}

// Tiles say how often a Streamer looks at its tiles, how many it loads at a time,
// when it tries again, and how long what is loaded stays.
type Tiles struct {
	Enabled                                bool    `doc:"stream at all"`
	UpdateInterval                         float64 `unit:"s" range:"at least 0" doc:"tick interval when nothing waits"`
	BurstTickInterval                      float64 `unit:"s" range:"at least 0" doc:"tick interval while loads wait for a slot"`
	MaxQueryRadius                         float64 `unit:"m" range:"at least 0" doc:"ceiling of all radii: tiles farther away are left alone, and their levels dropped"`
	FitQueryRadius                         bool    `doc:"maxQueryRadius becomes as far as anything is wanted, where a manifest of untold's cook is opened"`
	DispatchEpsilon                        float64 `unit:"m" range:"at least 0" doc:"added to the prefetch radius in the dispatch test"`
	MaxConcurrentTileLoads                 int     `range:"0 to 1024" doc:"full tiles parsed at a time"`
	MaxConcurrentLODLoads                  int     `range:"0 to 1024" doc:"LOD levels loaded at a time"`
	MaxConcurrentHLODLoads                 int     `range:"0 to 1024" doc:"HLODs loaded at a time"`
	TileParseMemoryBudgetMB                float64 `unit:"MiB" range:"at least 0, or inf" doc:"declared bytes of full tiles in flight; one tile may always load"`
	MaxTileUnloadsPerUpdate                int     `range:"at least 1" doc:"full tiles torn down per tick, farthest first"`
	UnloadGracePeriod                      float64 `unit:"s" range:"at least 0" doc:"time beyond the unload radius before a tile goes"`
	MinimumParsedTileResidentSeconds       float64 `unit:"s" range:"at least 0" doc:"shortest residence of a full tile"`
	TileParseTimeoutSeconds                float64 `unit:"s" range:"at least 0, or inf" doc:"deadline of one parse, for full tiles, LODs and HLODs alike"`
	MeshLoadTimeoutSeconds                 float64 `unit:"s" range:"at least 0, or inf" doc:"deadline of one load of a mesh (second tier) or a texture"`
	RetryBackoffBase                       float64 `unit:"s" range:"at least 0" doc:"delay after the first failure; doubles with each"`
	RetryBackoffMax                        float64 `unit:"s" range:"at least 0" doc:"longest delay after a failure"`
	LODHysteresisFactor                    float64 `range:"0 to 1" doc:"a LOD level that is shown stays down to this part of its switch distance"`
	HLODHysteresisFactor                   float64 `range:"0 to 1" doc:"the same for the HLOD"`
	SecondaryRepresentationMinDwellSeconds float64 `unit:"s" range:"at least 0" doc:"shortest time between two transitions of a tile's HLOD, or of its LODs"`
}

// Selection says which of the tiles within reach are loaded, and in which order.
type Selection struct {
	VelocitySmoothing         float64 `range:"0 to 1" doc:"weight of the old velocity over 0.1 s"`
	VelocityLookAheadTime     float64 `unit:"s" range:"at least 0" doc:"how far ahead the camera's position is predicted"`
	VelocityLookAheadMinSpeed float64 `unit:"m/s" range:"at least 0" doc:"slower cameras are not predicted"`
	EnableFrustumGate         bool    `doc:"dispatch only what the padded view frustum touches"`
	FrustumGatePadding        float64 `unit:"m" range:"at least 0" doc:"padding of the side planes for meshes (second tier)"`
	TileFrustumGatePadding    float64 `unit:"m" range:"at least 0" doc:"padding of the side planes for tiles"`
	FillIdleSlots             bool    `doc:"idle slots load tiles outside the frustum, after all others"`
	FloorProximityGateY       float64 `unit:"m" range:"at least 0, or inf" doc:"largest height difference at which interior tiles of a floor are dispatched; inf disables"`
	EnableImportanceSort      bool    `doc:"order candidates by their size on screen"`
	ViewAlignmentMinWeight    float64 `range:"0 to 1" doc:"importance of what lies beside or behind the camera"`
	EnableOcclusionSort       bool    `doc:"order candidates behind loaded tiles last"`
	OcclusionFullThreshold    float64 `range:"0 to 1" doc:"covered part of the footprint that counts as all"`
	OcclusionMinWeight        float64 `range:"0 to 1" doc:"weight of a covered candidate"`
	HierarchyOcclusionPenalty float64 `range:"0 to 1" doc:"further weight of a candidate whose parent region is covered; 0: such a candidate is not loaded"`
	TargetErrorPixels         float64 `unit:"px" range:"at least 0.01" doc:"a node of the pyramid gives way to what lies below it where what is seen of its error is larger"`
	PictureHeight             float64 `unit:"px" range:"at least 1" doc:"lines of the picture that targetErrorPixels means, and for which at least textures are chosen"`
	TriangleBudget            int     `range:"at least 0" doc:"triangles in view of a frame, as the manifest counts them, up to which scenes with a pyramid have the detail that targetErrorPixels asks for; 0: no limit"`
	LODGate                   bool    `doc:"dispatch tiles with LODs only within their finest switch, as the reference engine does"`
	NormalizeBands            bool    `doc:"clamp the distances as the reference engine does on load"`
}

// Transitions say how one representation of a tile follows another.
type Transitions struct {
	Handoff                           Handoff `doc:"covered: what is drawn stays until its successor can be drawn; strict: the literal rule of the reference engine's documents"`
	HandoffMaxWait                    float64 `unit:"s" range:"at least 0" doc:"longest wait for a resident successor to become drawable"`
	EnableFadeTransitions             bool    `doc:"cross-fade between representations"`
	FadeDuration                      float64 `unit:"s" range:"at least 0.001" doc:"length of a cross-fade"`
	BatchSecondaryTileRepresentations bool    `doc:"batch the meshes of LODs and HLODs too"`
}

// Meshes are the second tier: full tiles that stream mesh by mesh.
type Meshes struct {
	NearBandFraction                float64 `range:"0 to 1" doc:"part of a mesh's streaming radius that is the near band (second tier)"`
	NearBandMaxConcurrentLoads      int     `range:"0 to 1024" doc:"mesh loads at a time in the near band (second tier)"`
	MaxConcurrentLoads              int     `range:"0 to 1024" doc:"mesh loads at a time (second tier)"`
	MaxUnloadsPerUpdate             int     `range:"at least 1" doc:"meshes unloaded per tick (second tier)"`
	EvictionDistanceWeight          float64 `range:"at least 0" doc:"weight of the distance in a mesh's eviction score"`
	EvictionSizeWeight              float64 `range:"at least 0" doc:"weight of the size in a mesh's eviction score"`
	VisibleEvictionProtectionRadius float64 `unit:"m" range:"at least 0" doc:"visible meshes nearer than this are not evicted"`
}

// MemoryLimits are what a Streamer may use of the device's memory, and from where on a
// full tile is too large to be uploaded as a whole.
type MemoryLimits struct {
	HighWaterMark             float64         `range:"at least 0" doc:"part of a budget at which loading stops and eviction starts"`
	LowWaterMark              float64         `range:"at least 0" doc:"part of a budget down to which is evicted"`
	GeometryBudget            int64           `unit:"bytes" range:"at least 0" doc:"geometry on the device; 0: 60 % of what the memory probe grants"`
	TextureBudget             int64           `unit:"bytes" range:"at least 0" doc:"textures on the device; 0: 40 % of what the memory probe grants"`
	MeshCacheBudget           int64           `unit:"bytes" range:"at least 0" doc:"main memory of decoded files that no entity uses any more, kept for the next one that names them; 0: files are not shared"`
	OutOfViewDetail           float64         `range:"0.01 to 1" doc:"where geometry is short, detail of what has been out of view for 10 s or while the camera went 50 m, as a part of what it would have in view; twice over after 100 m, three times after 200 m"`
	OutOfCorePolicy           OutOfCorePolicy `doc:"which tiles are streamed mesh by mesh. auto: those with many or large nodes, or LOD groups; immediate: none; outOfCore: all"`
	OutOfCoreNodeThreshold    int             `range:"at least 1" doc:"renderable nodes from which a tile is streamed mesh by mesh"`
	OutOfCoreGeometryFraction float64         `range:"at least 0" doc:"part of the geometry budget above which a tile is streamed mesh by mesh"`
}

// LODGroups steers LOD groups of entities.
type LODGroups struct {
	Distances     []float64 `unit:"m" doc:"switch distances of LOD groups"`
	Bias          float64   `range:"at least 0" doc:"factor of the distance to a LOD group"`
	Hysteresis    float64   `unit:"m" range:"at least 0" doc:"how much nearer a finer level must be"`
	FrameInterval int       `unit:"frames" range:"at least 1" doc:"how often LOD groups are judged"`
	MinCameraMove float64   `unit:"m" range:"at least 0" doc:"movement that makes LOD groups be judged at once"`
}

// Textures steers texture streaming.
type Textures struct {
	Profile         string  `doc:"name of a texture profile"`
	UpgradeRadius   float64 `unit:"m" range:"at least 0" doc:"textures within are wanted at full size"`
	DowngradeRadius float64 `unit:"m" range:"at least 0" doc:"textures within are wanted at texture.maxDimension, others at texture.minDimension"`
	MaxDimension    int     `unit:"px" range:"1 to 65536" doc:"medium size"`
	MinDimension    int     `unit:"px" range:"1 to 65536" doc:"size at first load"`
	Interval        float64 `unit:"s" range:"at least 0" doc:"how often textures are judged"`
	ConcurrentOps   int     `range:"0 to 1024" doc:"texture changes at a time"`
	Hysteresis      float64 `range:"0 to 1" doc:"part of a radius that a texture must pass before it changes"`
	PressureHold    float64 `unit:"s" range:"at least 0" doc:"time after memory pressure without full-size textures"`
}

// Batching steers static batching.
type Batching struct {
	Enabled         bool  `doc:"merge static meshes by cell and material"`
	MaxCellVertices int   `range:"at least 0" doc:"cells with more are drawn unbatched"`
	MaxCellIndices  int   `range:"at least 0" doc:"cells with more are drawn unbatched"`
	MaxCellBytes    int64 `unit:"bytes" range:"at least 0" doc:"cells with more are drawn unbatched"`
}

// Remote steers what is fetched from afar.
type Remote struct {
	Cache DiskCache
	HTTP  HTTP
}

// DiskCache is where what was fetched is kept.
type DiskCache struct {
	Dir    string `doc:"folder of the disk cache; empty: the user's cache folder"`
	Budget int64  `unit:"bytes" range:"at least 0" doc:"size of the disk cache; three quarters remain after an eviction"`
}

// HTTP steers downloads.
type HTTP struct {
	RequestTimeout  float64 `unit:"s" range:"at least 0" doc:"longest silence of a download"`
	ResourceTimeout float64 `unit:"s" range:"at least 0" doc:"longest download of one file"`
	Attempts        int     `range:"1 to 100" doc:"attempts per download"`
}

// Handoff says how one representation follows another.
type Handoff string

// The hand-offs.
const (
	// HandoffCovered keeps what is drawn until its successor is resident and
	// drawable.
	HandoffCovered Handoff = "covered"
	// HandoffStrict is the literal rule of the reference engine's documents, holes
	// included.
	HandoffStrict Handoff = "strict"
)

// OutOfCorePolicy says which full tiles are streamed mesh by mesh.
type OutOfCorePolicy string

// The policies.
const (
	// OutOfCoreAuto decides by the number of nodes and their memory.
	OutOfCoreAuto OutOfCorePolicy = "auto"
	// OutOfCoreImmediate uploads every tile as a whole.
	OutOfCoreImmediate OutOfCorePolicy = "immediate"
	// OutOfCoreAlways streams every tile mesh by mesh.
	OutOfCoreAlways OutOfCorePolicy = "outOfCore"
)

func (p OutOfCorePolicy) known() bool {
	return p == OutOfCoreAuto || p == OutOfCoreImmediate || p == OutOfCoreAlways
}

const mib = 1 << 20

// Default returns the defaults of the reference engine's documents.
func Default() Config {
	return Config{
		Tiles: Tiles{
			Enabled: true, UpdateInterval: 0.1, BurstTickInterval: 0.016, MaxQueryRadius: 500, FitQueryRadius: true, DispatchEpsilon: 1,
			MaxConcurrentTileLoads: 2, MaxConcurrentLODLoads: 4, MaxConcurrentHLODLoads: 4,
			TileParseMemoryBudgetMB: 200, MaxTileUnloadsPerUpdate: 2, UnloadGracePeriod: 3,
			MinimumParsedTileResidentSeconds: 8, TileParseTimeoutSeconds: 60, MeshLoadTimeoutSeconds: 60,
			RetryBackoffBase: 5, RetryBackoffMax: 60, LODHysteresisFactor: 0.9, HLODHysteresisFactor: 0.9,
			SecondaryRepresentationMinDwellSeconds: 1,
		},
		Selection: Selection{
			VelocitySmoothing: 0.85, VelocityLookAheadTime: 0.5, VelocityLookAheadMinSpeed: 1.5,
			EnableFrustumGate: true, FrustumGatePadding: 5, TileFrustumGatePadding: 20, FloorProximityGateY: 5, TargetErrorPixels: 2, PictureHeight: 1080, TriangleBudget: 2_000_000,
			EnableImportanceSort: true, ViewAlignmentMinWeight: 0.2, EnableOcclusionSort: true,
			OcclusionFullThreshold: 0.85, OcclusionMinWeight: 0.05, HierarchyOcclusionPenalty: 0.005,
		},
		Transitions: Transitions{Handoff: HandoffCovered, HandoffMaxWait: 2, FadeDuration: 0.3},
		Meshes: Meshes{
			NearBandFraction: 0.33, NearBandMaxConcurrentLoads: 1, MaxConcurrentLoads: 3, MaxUnloadsPerUpdate: 12,
			EvictionDistanceWeight: 0.6, EvictionSizeWeight: 0.4, VisibleEvictionProtectionRadius: 30,
		},
		MemoryLimits: MemoryLimits{
			HighWaterMark: 0.85, LowWaterMark: 0.7,
			MeshCacheBudget: 64_000_000, OutOfViewDetail: 0.5, OutOfCorePolicy: OutOfCoreAuto, OutOfCoreNodeThreshold: 50, OutOfCoreGeometryFraction: 0.3,
		},
		LOD: LODGroups{Distances: []float64{50, 100, 200, 500}, Bias: 1, Hysteresis: 5, FrameInterval: 4, MinCameraMove: 0.5},
		Texture: Textures{
			Profile: "balanced", UpgradeRadius: 12, DowngradeRadius: 20, MaxDimension: 1024, MinDimension: 256,
			Interval: 0.2, ConcurrentOps: 3, Hysteresis: 0.15, PressureHold: 3,
		},
		Batching: Batching{Enabled: true, MaxCellVertices: 160_000, MaxCellIndices: 300_000, MaxCellBytes: 8 * mib},
		Remote: Remote{
			Cache: DiskCache{Budget: 500_000_000},
			HTTP:  HTTP{RequestTimeout: 30, ResourceTimeout: 300, Attempts: 3},
		},
	}
}

// Presets lists the names that Preset accepts.
func Presets() []string { return []string{"default", "low", "standard", "high", "unlimited"} }

// Preset returns the default configuration with the memory budgets and water
// marks of a preset: low (256 MiB), standard (512 MiB), high (1024 MiB), split
// 60/40 between geometry and textures, or unlimited. The preset default leaves
// the budgets to the memory probe. ok is false for an unknown name.
func Preset(name string) (c Config, ok bool) {
	c = Default()
	switch name {
	case "default":
		return c, true
	case "low":
		c.HighWaterMark, c.LowWaterMark = 0.80, 0.60
		c.SetMemoryBudget(256 * mib)
	case "standard":
		c.SetMemoryBudget(512 * mib)
	case "high":
		c.HighWaterMark, c.LowWaterMark = 0.90, 0.75
		c.SetMemoryBudget(1024 * mib)
	case "unlimited":
		c.GeometryBudget, c.TextureBudget = math.MaxInt64, math.MaxInt64
	default:
		return c, false
	}
	return c, true
}

// LoadTimeout returns MeshLoadTimeoutSeconds, which may be infinite, as a
// duration for options whose zero means another one.
func (c *Config) LoadTimeout() time.Duration {
	const most = math.MaxInt64 / 4
	return max(1, time.Duration(min(c.MeshLoadTimeoutSeconds*float64(time.Second), most)))
}

// SetMemoryBudget splits a budget in bytes: 60 % for geometry, 40 % for
// textures.
func (c *Config) SetMemoryBudget(total int64) {
	c.GeometryBudget = total / 5 * 3
	c.TextureBudget = total - c.GeometryBudget
}

// For returns the parameters for a manifest: with FitQueryRadius, and when
// untold cooked it, MaxQueryRadius is as far as anything of it is wanted.
func (c Config) For(m *manifest.Manifest) Config {
	if c.FitQueryRadius && m.ByUntold() {
		c.MaxQueryRadius = m.Reach()
	}
	c.FitQueryRadius = false
	return c
}
