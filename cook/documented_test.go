package cook

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/partition"
)

// The defaults of the reference exporter and of the documents, typed by hand.

func TestDocumentedCookDefaults(t *testing.T) {
	o, e := DefaultOptions(), EngineOptions()
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"tile size of the preset", e.TileSize, geom.Vec3{25, 10000, 25}},
		{"tile size", o.TileSize, geom.Vec3{0, 10000, 0}},
		{"triangles of a tile", o.TileTriangles, 50_000},
		{"distances from the scene", o.FitDistances, true},
		{"distances of the preset", e.FitDistances, false},
		{"limit of whole scenes", o.WholeLimit, int64(64_000_000)},
		{"levels", []int{len(o.LODs), len(o.HLODs)}, []int{2, 1}},
		{"clipping", o.Clip, true},
		{"clipping of the preset", e.Clip, false},
		{"split-max-tiles", o.SplitMaxTiles, 400},
		{"payload folder", o.PayloadDir, "tiles"},
		{"payload folder of the preset", e.PayloadDir, "tile_exports"},
		{"merging", o.Merge, true},
		{"levels of the preset", e.hasLevels(), false},
		{"lod-min-triangles", o.LODMinTriangles, 12},
		{"hlod-max-texture", o.HLODMaxTexture, 256},
		{"objects of a tile and tier", partition.DefaultMinObjects, 4},
		{"spanning threshold, tiles", int(partition.DefaultSpanningTiles), 4},
		{"perimeter depth", partition.DefaultPerimeterDepth, 1},
		{"sample fraction", partition.DefaultSampleFraction, 0.1},
		{"lods", manifest.DefaultLODLevels(), []manifest.LODLevel{{DecimateRatio: 0.5, SwitchDistance: 0.30}, {DecimateRatio: 0.2, SwitchDistance: 0.78}}},
		{"hlods", manifest.DefaultHLODLevels(), []manifest.HLODLevel{{Suffix: "_hlod", ReductionRatio: 0.10, SwitchDistance: 1.0}}},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("%s: %s", c.what, d)
		}
	}
}

func TestDocumentedTiers(t *testing.T) {
	const side = 1000.0 // half the diagonal of the scene
	for _, c := range []struct {
		profile, tier     string
		streaming, unload float64 // parts of it
		priority          int
	}{
		{"indoor", "ExteriorShell", .80, 1.20, 15},
		{"indoor", "StructuralInterior", .30, .50, 10},
		{"indoor", "RoomContents", .10, .18, 8},
		{"indoor", "FineProps", .03, .06, 5},
		{"outdoor", "ExteriorShell", .35, .55, 15},
		{"outdoor", "StructuralInterior", .25, .40, 12},
		{"outdoor", "RoomContents", .10, .18, 8},
		{"outdoor", "FineProps", .04, .08, 5},
	} {
		found := false
		for _, r := range partition.TierRadii(c.profile, side) {
			if r.Tier != c.tier {
				continue
			}
			found = true
			if math.Abs(r.Streaming-c.streaming*side) > 1e-6 || math.Abs(r.Unload-c.unload*side) > 1e-6 || r.Priority == nil || *r.Priority != c.priority {
				t.Errorf("%s %s: %+v, documented are %v, %v and %d", c.profile, c.tier, r, c.streaming*side, c.unload*side, c.priority)
			}
		}
		if !found {
			t.Errorf("%s has no %s", c.profile, c.tier)
		}
	}
	for _, r := range partition.TierRadii("indoor", 1) {
		if r.Streaming < 1 || r.Unload < 2 {
			t.Errorf("%+v: at least 1 m and 2 m", r)
		}
	}
	if b := partition.SharedRadii(200); b.Streaming != 200 || b.Unload != 300 || b.Priority != 10 {
		t.Errorf("shared bucket: %+v", b)
	}
}

// Radii of grids and the default levels' switches, for base tile sizes and half
// diagonals of scenes.
func TestDocumentedDistances(t *testing.T) {
	for _, c := range []struct {
		base, half, streaming, unload, hlod float64
		lods, alone                         []float64 // with and without an HLOD
	}{
		{25, 1000, 50, 75, 71, []float64{56.89, 63.53}, []float64{57.77, 66.46}},
		{25, 100, 35, 52.5, 48.5, []float64{40.22, 44.22}, []float64{41.11, 45.96}},
		{25, 40, 14, 21, 19, []float64{11, 15}, []float64{13, 17}},
		{10, 100, 20, 30, 27.5, []float64{19.5, 23.5}, []float64{22, 26}},
		{100, 500, 175, 262.5, 258.5, []float64{195.76, 234.34}, []float64{196.65, 237.28}},
		{50, 60, 21, 31.5, 28.88, []float64{20.88, 24.88}, []float64{23.5, 27.5}},
	} {
		r := partition.GridRadii(c.base, c.half)
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 0.0051 {
				t.Errorf("base %v, half diagonal %v: %s is %v, documented is %v", c.base, c.half, what, got, want)
			}
		}
		near("streaming", r.Streaming, c.streaming)
		near("unload", r.Unload, c.unload)
		if r.Priority != 10 {
			t.Errorf("priority %d", r.Priority)
		}
		hlods := band.HLODDistances(r.Streaming, r.Unload, []float64{1})
		near("hlod", hlods[0], c.hlod)
		for i, l := range band.LODDistances(r.Streaming, r.Unload, hlods, []float64{.30, .78}) {
			near("lod", l, c.lods[i])
		}
		for i, l := range band.LODDistances(r.Streaming, r.Unload, nil, []float64{.30, .78}) {
			near("lod without hlod", l, c.alone[i])
		}
	}
}
