package runtime

import (
	"fmt"
	"math"
)

// param is one row of the table of parameters: the single source of keys,
// ranges and documentation.
type param struct {
	key     string
	unit    string
	meaning string
	at      func(*Config) any
	lo, hi  float64 // inclusive, for numbers
	inf     bool    // infinity is legal
}

func (p *param) rangeText() string {
	switch {
	case p.lo == 0 && p.hi == 0:
		return ""
	case math.IsInf(p.hi, 1) && p.inf:
		return fmt.Sprintf("at least %v, or inf", p.lo)
	case math.IsInf(p.hi, 1) || p.hi == math.MaxInt32:
		return fmt.Sprintf("at least %v", p.lo)
	}
	return fmt.Sprintf("%v to %v", p.lo, p.hi)
}

func (p *param) check(c *Config) error {
	var v float64
	switch at := p.at(c).(type) {
	case *int:
		v = float64(*at)
	case *int64:
		v = float64(*at)
	case *float64:
		v = *at
	case *Handoff:
		if *at != HandoffCovered && *at != HandoffStrict {
			return &ConfigError{Key: p.key, Problem: fmt.Sprintf("want covered or strict, got %q", string(*at))}
		}
		return nil
	case *OutOfCorePolicy:
		if !at.known() {
			return &ConfigError{Key: p.key, Problem: fmt.Sprintf("want auto, immediate or outOfCore, got %q", string(*at))}
		}
		return nil
	case *[]float64:
		for _, x := range *at {
			if !(x >= 0) || math.IsInf(x, 0) {
				return &ConfigError{Key: p.key, Problem: fmt.Sprintf("%v is not a finite distance", x)}
			}
		}
		return nil
	default:
		return nil
	}
	if !(v >= p.lo && v <= p.hi) || math.IsInf(v, 0) && !p.inf {
		return &ConfigError{Key: p.key, Problem: fmt.Sprintf("%v is out of range: want %s", v, p.rangeText())}
	}
	return nil
}

var (
	inf    = math.Inf(1)
	params = append(tileParams(), append(memoryParams(), groupParams()...)...)
)

func tileParams() []param {
	return []param{
		{key: "enabled", meaning: "stream at all", at: func(c *Config) any { return &c.Enabled }},
		{"updateInterval", "s", "tick interval when nothing waits", func(c *Config) any { return &c.UpdateInterval }, 0, inf, false},
		{"burstTickInterval", "s", "tick interval while loads wait for a slot", func(c *Config) any { return &c.BurstTickInterval }, 0, inf, false},
		{"maxQueryRadius", "m", "ceiling of all radii: tiles farther away are left alone, and their levels dropped", func(c *Config) any { return &c.MaxQueryRadius }, 0, inf, false},
		{key: "fitQueryRadius", meaning: "maxQueryRadius becomes as far as anything is wanted, where a manifest of untold's cook is opened", at: func(c *Config) any { return &c.FitQueryRadius }},
		{"dispatchEpsilon", "m", "added to the prefetch radius in the dispatch test", func(c *Config) any { return &c.DispatchEpsilon }, 0, inf, false},
		{"maxConcurrentTileLoads", "", "full tiles parsed at a time", func(c *Config) any { return &c.MaxConcurrentTileLoads }, 0, 1024, false},
		{"maxConcurrentLODLoads", "", "LOD levels loaded at a time", func(c *Config) any { return &c.MaxConcurrentLODLoads }, 0, 1024, false},
		{"maxConcurrentHLODLoads", "", "HLODs loaded at a time", func(c *Config) any { return &c.MaxConcurrentHLODLoads }, 0, 1024, false},
		{"tileParseMemoryBudgetMB", "MiB", "declared bytes of full tiles in flight; one tile may always load", func(c *Config) any { return &c.TileParseMemoryBudgetMB }, 0, inf, true},
		{"maxTileUnloadsPerUpdate", "", "full tiles torn down per tick, farthest first", func(c *Config) any { return &c.MaxTileUnloadsPerUpdate }, 1, math.MaxInt32, false},
		{"unloadGracePeriod", "s", "time beyond the unload radius before a tile goes", func(c *Config) any { return &c.UnloadGracePeriod }, 0, inf, false},
		{"minimumParsedTileResidentSeconds", "s", "shortest residence of a full tile", func(c *Config) any { return &c.MinimumParsedTileResidentSeconds }, 0, inf, false},
		{"tileParseTimeoutSeconds", "s", "deadline of one parse, for full tiles, LODs and HLODs alike", func(c *Config) any { return &c.TileParseTimeoutSeconds }, 0, inf, true},
		{"meshLoadTimeoutSeconds", "s", "deadline of one load of a mesh (second tier) or a texture", func(c *Config) any { return &c.MeshLoadTimeoutSeconds }, 0, inf, true},
		{"retryBackoffBase", "s", "delay after the first failure; doubles with each", func(c *Config) any { return &c.RetryBackoffBase }, 0, inf, false},
		{"retryBackoffMax", "s", "longest delay after a failure", func(c *Config) any { return &c.RetryBackoffMax }, 0, inf, false},
		{"lodHysteresisFactor", "", "a LOD level that is shown stays down to this part of its switch distance", func(c *Config) any { return &c.LODHysteresisFactor }, 0, 1, false},
		{"hlodHysteresisFactor", "", "the same for the HLOD", func(c *Config) any { return &c.HLODHysteresisFactor }, 0, 1, false},
		{"secondaryRepresentationMinDwellSeconds", "s", "shortest time between two transitions of a tile's HLOD, or of its LODs", func(c *Config) any { return &c.SecondaryRepresentationMinDwellSeconds }, 0, inf, false},
		{"velocitySmoothing", "", "weight of the old velocity over 0.1 s", func(c *Config) any { return &c.VelocitySmoothing }, 0, 1, false},
		{"velocityLookAheadTime", "s", "how far ahead the camera's position is predicted", func(c *Config) any { return &c.VelocityLookAheadTime }, 0, inf, false},
		{"velocityLookAheadMinSpeed", "m/s", "slower cameras are not predicted", func(c *Config) any { return &c.VelocityLookAheadMinSpeed }, 0, inf, false},
		{key: "enableFrustumGate", meaning: "dispatch only what the padded view frustum touches", at: func(c *Config) any { return &c.EnableFrustumGate }},
		{"frustumGatePadding", "m", "padding of the side planes for meshes (second tier)", func(c *Config) any { return &c.FrustumGatePadding }, 0, inf, false},
		{"tileFrustumGatePadding", "m", "padding of the side planes for tiles", func(c *Config) any { return &c.TileFrustumGatePadding }, 0, inf, false},
		{key: "fillIdleSlots", meaning: "idle slots load tiles outside the frustum, after all others", at: func(c *Config) any { return &c.FillIdleSlots }},
		{"floorProximityGateY", "m", "largest height difference at which interior tiles of a floor are dispatched; inf disables", func(c *Config) any { return &c.FloorProximityGateY }, 0, inf, true},
		{key: "enableImportanceSort", meaning: "order candidates by their size on screen", at: func(c *Config) any { return &c.EnableImportanceSort }},
		{"viewAlignmentMinWeight", "", "importance of what lies beside or behind the camera", func(c *Config) any { return &c.ViewAlignmentMinWeight }, 0, 1, false},
		{key: "enableOcclusionSort", meaning: "order candidates behind loaded tiles last", at: func(c *Config) any { return &c.EnableOcclusionSort }},
		{"occlusionFullThreshold", "", "covered part of the footprint that counts as all", func(c *Config) any { return &c.OcclusionFullThreshold }, 0, 1, false},
		{"occlusionMinWeight", "", "weight of a covered candidate", func(c *Config) any { return &c.OcclusionMinWeight }, 0, 1, false},
		{"hierarchyOcclusionPenalty", "", "further weight of a candidate whose parent region is covered; 0: such a candidate is not loaded", func(c *Config) any { return &c.HierarchyOcclusionPenalty }, 0, 1, false},
		{key: "lodGate", meaning: "dispatch tiles with LODs only within their finest switch, as the reference engine does", at: func(c *Config) any { return &c.LODGate }},
		{key: "normalizeBands", meaning: "clamp the distances as the reference engine does on load", at: func(c *Config) any { return &c.NormalizeBands }},
		{key: "handoff", meaning: "covered: what is drawn stays until its successor can be drawn; strict: the literal rule of the reference engine's documents", at: func(c *Config) any { return &c.Handoff }},
		{"handoffMaxWait", "s", "longest wait for a resident successor to become drawable", func(c *Config) any { return &c.HandoffMaxWait }, 0, inf, false},
		{key: "enableFadeTransitions", meaning: "cross-fade between representations", at: func(c *Config) any { return &c.EnableFadeTransitions }},
		{"fadeDuration", "s", "length of a cross-fade", func(c *Config) any { return &c.FadeDuration }, 0.001, inf, false},
		{key: "batchSecondaryTileRepresentations", meaning: "batch the meshes of LODs and HLODs too", at: func(c *Config) any { return &c.BatchSecondaryTileRepresentations }},
	}
}

func memoryParams() []param {
	return []param{
		{"nearBandFraction", "", "part of a mesh's streaming radius that is the near band (second tier)", func(c *Config) any { return &c.NearBandFraction }, 0, 1, false},
		{"nearBandMaxConcurrentLoads", "", "mesh loads at a time in the near band (second tier)", func(c *Config) any { return &c.NearBandMaxConcurrentLoads }, 0, 1024, false},
		{"maxConcurrentLoads", "", "mesh loads at a time (second tier)", func(c *Config) any { return &c.MaxConcurrentLoads }, 0, 1024, false},
		{"maxUnloadsPerUpdate", "", "meshes unloaded per tick (second tier)", func(c *Config) any { return &c.MaxUnloadsPerUpdate }, 1, math.MaxInt32, false},
		{"evictionDistanceWeight", "", "weight of the distance in a mesh's eviction score", func(c *Config) any { return &c.EvictionDistanceWeight }, 0, inf, false},
		{"evictionSizeWeight", "", "weight of the size in a mesh's eviction score", func(c *Config) any { return &c.EvictionSizeWeight }, 0, inf, false},
		{"visibleEvictionProtectionRadius", "m", "visible meshes nearer than this are not evicted", func(c *Config) any { return &c.VisibleEvictionProtectionRadius }, 0, inf, false},
		{"highWaterMark", "", "part of a budget at which loading stops and eviction starts", func(c *Config) any { return &c.HighWaterMark }, 0, inf, false},
		{"lowWaterMark", "", "part of a budget down to which is evicted", func(c *Config) any { return &c.LowWaterMark }, 0, inf, false},
		{"geometryBudget", "bytes", "geometry on the device; 0: 60 % of what the memory probe grants", func(c *Config) any { return &c.GeometryBudget }, 0, inf, false},
		{"textureBudget", "bytes", "textures on the device; 0: 40 % of what the memory probe grants", func(c *Config) any { return &c.TextureBudget }, 0, inf, false},
		{key: "outOfCorePolicy", meaning: "which tiles are streamed mesh by mesh. auto: those with many or large nodes, or LOD groups; immediate: none; outOfCore: all", at: func(c *Config) any { return &c.OutOfCorePolicy }},
		{"outOfCoreNodeThreshold", "", "renderable nodes from which a tile is streamed mesh by mesh", func(c *Config) any { return &c.OutOfCoreNodeThreshold }, 1, math.MaxInt32, false},
		{"outOfCoreGeometryFraction", "", "part of the geometry budget above which a tile is streamed mesh by mesh", func(c *Config) any { return &c.OutOfCoreGeometryFraction }, 0, inf, false},
	}
}

func groupParams() []param {
	return []param{
		{key: "lod.distances", unit: "m", meaning: "switch distances of LOD groups", at: func(c *Config) any { return &c.LOD.Distances }},
		{"lod.bias", "", "factor of the distance to a LOD group", func(c *Config) any { return &c.LOD.Bias }, 0, inf, false},
		{"lod.hysteresis", "m", "how much nearer a finer level must be", func(c *Config) any { return &c.LOD.Hysteresis }, 0, inf, false},
		{"lod.frameInterval", "frames", "how often LOD groups are judged", func(c *Config) any { return &c.LOD.FrameInterval }, 1, math.MaxInt32, false},
		{"lod.minCameraMove", "m", "movement that makes LOD groups be judged at once", func(c *Config) any { return &c.LOD.MinCameraMove }, 0, inf, false},
		{key: "texture.profile", meaning: "name of a texture profile", at: func(c *Config) any { return &c.Texture.Profile }},
		{"texture.upgradeRadius", "m", "textures within are wanted at full size", func(c *Config) any { return &c.Texture.UpgradeRadius }, 0, inf, false},
		{"texture.downgradeRadius", "m", "textures within are wanted at texture.maxDimension, others at texture.minDimension", func(c *Config) any { return &c.Texture.DowngradeRadius }, 0, inf, false},
		{"texture.maxDimension", "px", "medium size", func(c *Config) any { return &c.Texture.MaxDimension }, 1, 1 << 16, false},
		{"texture.minDimension", "px", "size at first load", func(c *Config) any { return &c.Texture.MinDimension }, 1, 1 << 16, false},
		{"texture.interval", "s", "how often textures are judged", func(c *Config) any { return &c.Texture.Interval }, 0, inf, false},
		{"texture.concurrentOps", "", "texture changes at a time", func(c *Config) any { return &c.Texture.ConcurrentOps }, 0, 1024, false},
		{"texture.hysteresis", "", "part of a radius that a texture must pass before it changes", func(c *Config) any { return &c.Texture.Hysteresis }, 0, 1, false},
		{"texture.pressureHold", "s", "time after memory pressure without full-size textures", func(c *Config) any { return &c.Texture.PressureHold }, 0, inf, false},
		{key: "batching.enabled", meaning: "merge static meshes by cell and material", at: func(c *Config) any { return &c.Batching.Enabled }},
		{"batching.maxCellVertices", "", "cells with more are drawn unbatched", func(c *Config) any { return &c.Batching.MaxCellVertices }, 0, math.MaxInt32, false},
		{"batching.maxCellIndices", "", "cells with more are drawn unbatched", func(c *Config) any { return &c.Batching.MaxCellIndices }, 0, math.MaxInt32, false},
		{"batching.maxCellBytes", "bytes", "cells with more are drawn unbatched", func(c *Config) any { return &c.Batching.MaxCellBytes }, 0, inf, false},
		{key: "cache.dir", meaning: "folder of the disk cache; empty: the user's cache folder", at: func(c *Config) any { return &c.Cache.Dir }},
		{"cache.budget", "bytes", "size of the disk cache; three quarters remain after an eviction", func(c *Config) any { return &c.Cache.Budget }, 0, inf, false},
		{"http.requestTimeout", "s", "longest silence of a download", func(c *Config) any { return &c.HTTP.RequestTimeout }, 0, inf, false},
		{"http.resourceTimeout", "s", "longest download of one file", func(c *Config) any { return &c.HTTP.ResourceTimeout }, 0, inf, false},
		{"http.attempts", "", "attempts per download", func(c *Config) any { return &c.HTTP.Attempts }, 1, 100, false},
	}
}
