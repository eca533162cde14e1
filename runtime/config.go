package runtime

import (
	"math"
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

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

// Config holds every parameter. Its keys, units and defaults are in
// docs/runtime.md; distances are metres, times seconds. Start from
// DefaultConfig: the zero Config is not valid.
type Config struct {
	Enabled           bool
	UpdateInterval    float64
	BurstTickInterval float64
	MaxQueryRadius    float64
	// FitQueryRadius: Open takes the distance as far as which a manifest of
	// untold's cook wants anything for MaxQueryRadius. Set of that switches it off.
	FitQueryRadius                         bool
	DispatchEpsilon                        float64
	MaxConcurrentTileLoads                 int
	MaxConcurrentLODLoads                  int
	MaxConcurrentHLODLoads                 int
	TileParseMemoryBudgetMB                float64
	MaxTileUnloadsPerUpdate                int
	UnloadGracePeriod                      float64
	MinimumParsedTileResidentSeconds       float64
	TileParseTimeoutSeconds                float64
	MeshLoadTimeoutSeconds                 float64
	RetryBackoffBase                       float64
	RetryBackoffMax                        float64
	LODHysteresisFactor                    float64
	HLODHysteresisFactor                   float64
	SecondaryRepresentationMinDwellSeconds float64
	VelocitySmoothing                      float64
	VelocityLookAheadTime                  float64
	VelocityLookAheadMinSpeed              float64
	EnableFrustumGate                      bool
	FrustumGatePadding                     float64
	TileFrustumGatePadding                 float64
	FillIdleSlots                          bool
	FloorProximityGateY                    float64
	EnableImportanceSort                   bool
	ViewAlignmentMinWeight                 float64
	EnableOcclusionSort                    bool
	OcclusionFullThreshold                 float64
	OcclusionMinWeight                     float64
	HierarchyOcclusionPenalty              float64
	LODGate                                bool
	NormalizeBands                         bool
	Handoff                                Handoff
	HandoffMaxWait                         float64
	EnableFadeTransitions                  bool
	FadeDuration                           float64
	BatchSecondaryTileRepresentations      bool

	// Second tier and memory.
	NearBandFraction                float64
	NearBandMaxConcurrentLoads      int
	MaxConcurrentLoads              int
	MaxUnloadsPerUpdate             int
	EvictionDistanceWeight          float64
	EvictionSizeWeight              float64
	VisibleEvictionProtectionRadius float64
	HighWaterMark                   float64
	LowWaterMark                    float64
	GeometryBudget                  int64 // bytes; 0: from the memory probe
	TextureBudget                   int64 // bytes; 0: from the memory probe
	OutOfCorePolicy                 OutOfCorePolicy
	OutOfCoreNodeThreshold          int
	OutOfCoreGeometryFraction       float64

	LOD      LODConfig
	Texture  TextureConfig
	Batching BatchingConfig
	Cache    CacheConfig
	HTTP     payload.HTTPConfig
}

// LODConfig steers LOD groups of entities.
type LODConfig struct {
	Distances     []float64
	Bias          float64
	Hysteresis    float64
	FrameInterval int
	MinCameraMove float64
}

// TextureConfig steers texture streaming.
type TextureConfig struct {
	Profile         string
	UpgradeRadius   float64
	DowngradeRadius float64
	MaxDimension    int
	MinDimension    int
	Interval        float64
	ConcurrentOps   int
	Hysteresis      float64
	PressureHold    float64
}

// BatchingConfig steers static batching.
type BatchingConfig struct {
	Enabled         bool
	MaxCellVertices int
	MaxCellIndices  int
	MaxCellBytes    int64
}

// CacheConfig steers the disk cache.
type CacheConfig struct {
	Dir    string // "": the user's cache folder
	Budget int64  // bytes
}

const mib = 1 << 20

// DefaultConfig returns the defaults of the reference engine's documents.
func DefaultConfig() Config {
	return Config{
		Enabled: true, UpdateInterval: 0.1, BurstTickInterval: 0.016, MaxQueryRadius: 500, FitQueryRadius: true, DispatchEpsilon: 1,
		MaxConcurrentTileLoads: 2, MaxConcurrentLODLoads: 4, MaxConcurrentHLODLoads: 4,
		TileParseMemoryBudgetMB: 200, MaxTileUnloadsPerUpdate: 2, UnloadGracePeriod: 3,
		MinimumParsedTileResidentSeconds: 8, TileParseTimeoutSeconds: 60, MeshLoadTimeoutSeconds: 60,
		RetryBackoffBase: 5, RetryBackoffMax: 60, LODHysteresisFactor: 0.9, HLODHysteresisFactor: 0.9,
		SecondaryRepresentationMinDwellSeconds: 1, VelocitySmoothing: 0.85, VelocityLookAheadTime: 0.5,
		VelocityLookAheadMinSpeed: 1.5, EnableFrustumGate: true, FrustumGatePadding: 5, TileFrustumGatePadding: 20,
		FloorProximityGateY: 5, EnableImportanceSort: true, ViewAlignmentMinWeight: 0.2,
		EnableOcclusionSort: true, OcclusionFullThreshold: 0.85, OcclusionMinWeight: 0.05,
		HierarchyOcclusionPenalty: 0.005, Handoff: HandoffCovered, HandoffMaxWait: 2, FadeDuration: 0.3,
		NearBandFraction: 0.33, NearBandMaxConcurrentLoads: 1, MaxConcurrentLoads: 3, MaxUnloadsPerUpdate: 12,
		EvictionDistanceWeight: 0.6, EvictionSizeWeight: 0.4, VisibleEvictionProtectionRadius: 30,
		HighWaterMark: 0.85, LowWaterMark: 0.7, OutOfCorePolicy: OutOfCoreAuto, OutOfCoreNodeThreshold: 50, OutOfCoreGeometryFraction: 0.3,
		LOD: LODConfig{Distances: []float64{50, 100, 200, 500}, Bias: 1, Hysteresis: 5, FrameInterval: 4, MinCameraMove: 0.5},
		Texture: TextureConfig{
			Profile: "balanced", UpgradeRadius: 12, DowngradeRadius: 20, MaxDimension: 1024, MinDimension: 256,
			Interval: 0.2, ConcurrentOps: 3, Hysteresis: 0.15, PressureHold: 3,
		},
		Batching: BatchingConfig{Enabled: true, MaxCellVertices: 160_000, MaxCellIndices: 300_000, MaxCellBytes: 8 * mib},
		Cache:    CacheConfig{Budget: 500_000_000},
		HTTP:     payload.DefaultHTTPConfig(),
	}
}

// Presets lists the names that Preset accepts.
func Presets() []string { return []string{"default", "low", "standard", "high", "unlimited"} }

// Preset returns the default configuration with the memory budgets and water
// marks of a preset: low (256 MiB), standard (512 MiB), high (1024 MiB), split
// 60/40 between geometry and textures, or unlimited. The preset default leaves
// the budgets to the memory probe. ok is false for an unknown name.
func Preset(name string) (c Config, ok bool) {
	c = DefaultConfig()
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
