package simulate

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// genScenario draws a scene of up to 12 tiles, a camera and, when trouble is
// wanted, faults, memory shortage, pressure and actions. The last second is
// spent far away after a force-unload-all.
func genScenario(t *rapid.T) *Scenario {
	s := &Scenario{
		Manifest: &manifest.Manifest{
			Version: 3, PartitioningMode: manifest.ModeUniformGrid,
			StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 50, UnloadRadius: 100, Priority: 10},
		},
		Tiles: map[string]Extra{}, Config: config.Default(), Path: defaultLens(),
		Textures: map[string]texfile.Size{"wall": size(2048, 2048, texfile.RGBA8), "roof": size(1000, 300, texfile.BC7), "sign": size(64, 64, texfile.RGBA8)},
		DT:       rapid.SampledFrom([]time.Duration{100 * time.Millisecond, 16 * time.Millisecond, 250 * time.Millisecond}).Draw(t, "dt"),
	}
	for i := range rapid.IntRange(1, 12).Draw(t, "tiles") {
		genTile(t, s, fmt.Sprintf("t%d", i))
	}
	s.Config.EnableFrustumGate = rapid.Bool().Draw(t, "frustum gate")
	s.Config.EnableFadeTransitions = rapid.Bool().Draw(t, "fade")
	s.Config.LODGate = rapid.Bool().Draw(t, "LOD gate")
	genConfig(t, &s.Config)
	if rapid.Bool().Draw(t, "floors") {
		s.Manifest.PartitioningMode = manifest.ModeQuadtreeFloor
		s.Manifest.InteriorZone = &manifest.Bounds{Min: [3]float64{-200, 0, -100}, Max: [3]float64{200, 20, 100}}
	}
	if rapid.Bool().Draw(t, "bucket") {
		near, far := 200.0, 300.0 // without radii it would never leave
		s.Manifest.SharedBucket = &manifest.SharedBucket{Tile: manifest.Tile{
			ID: manifest.SharedTileID, StreamingRadius: &near, UnloadRadius: &far, Path: "shared.untold", Bounds: manifest.Bounds{Min: [3]float64{-400, 0, -100}, Max: [3]float64{400, 1, 100}},
		}}
		s.Tiles[manifest.SharedTileID] = Extra{GPUBytes: 50}
	}
	s.Latency.Default = rapid.SampledFrom([]time.Duration{0, 250 * time.Millisecond, 3 * time.Second}).Draw(t, "latency")
	s.Download.Default = rapid.SampledFrom([]time.Duration{0, 0, time.Second}).Draw(t, "download")
	at := time.Duration(0)
	for range rapid.IntRange(1, 12).Draw(t, "keys") {
		s.Path.Keys = append(s.Path.Keys, CameraKey{
			T: at, Position: geom.Vec3{float64(rapid.IntRange(-60, 60).Draw(t, "x") * 10), rapid.SampledFrom([]float64{2, 12}).Draw(t, "y"), float64(rapid.IntRange(-10, 10).Draw(t, "z") * 10)},
			Forward: geom.Vec3{rapid.Float64Range(-1, 1).Draw(t, "look"), 0, -1},
			Linear:  at > 0 && rapid.Bool().Draw(t, "linear"),
		})
		at += time.Duration(rapid.IntRange(1, 100).Draw(t, "wait")) * 100 * time.Millisecond
	}
	return s
}

// genConfig draws some parameters.
func genConfig(t *rapid.T, c *config.Config) {
	c.MaxConcurrentTileLoads = rapid.IntRange(1, 4).Draw(t, "tile loads")
	c.MaxConcurrentLODLoads = rapid.IntRange(1, 4).Draw(t, "LOD loads")
	c.UnloadGracePeriod = rapid.SampledFrom([]float64{3, 0, 0.5}).Draw(t, "grace")
	c.MinimumParsedTileResidentSeconds = rapid.SampledFrom([]float64{8, 0, 1}).Draw(t, "residence")
	c.SecondaryRepresentationMinDwellSeconds = rapid.SampledFrom([]float64{1, 0}).Draw(t, "dwell")
	c.MaxQueryRadius = rapid.SampledFrom([]float64{500, 150}).Draw(t, "query radius")
	c.VelocityLookAheadTime = rapid.SampledFrom([]float64{0.5, 0, 3}).Draw(t, "look ahead")
	c.NormalizeBands = rapid.Bool().Draw(t, "normalize")
	c.OutOfCorePolicy = rapid.SampledFrom([]config.OutOfCorePolicy{config.OutOfCoreAuto, config.OutOfCoreAlways, config.OutOfCoreImmediate}).Draw(t, "policy")
	c.HandoffMaxWait = rapid.SampledFrom([]float64{2, 0}).Draw(t, "wait")
}

// size is one that is known to be good.
func size(width, height int, e texfile.Encoding) texfile.Size {
	s, err := texfile.NewSize(width, height, e)
	if err != nil {
		panic(err)
	}
	return s
}

func genTile(t *rapid.T, s *Scenario, id string) {
	low := geom.Vec3{float64(rapid.IntRange(-20, 20).Draw(t, "tile x") * 20), 0, float64(rapid.IntRange(-5, 5).Draw(t, "tile z") * 20)}
	tile := manifest.Tile{ID: id, Path: id + ".untold", FileSizeBytes: int64(rapid.IntRange(0, 300).Draw(t, "MiB")) << 20}
	tile.Bounds = manifest.Bounds{Min: low, Max: low.Add(geom.Vec3{20, 10, 20})}
	tile.Center = tile.Bounds.Center()
	x := Extra{GPUBytes: 100}
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"wall", "roof", "sign"}), 0, 3)
	x.Textures = names.Draw(t, "textures")
	if rapid.Bool().Draw(t, "out of core") {
		x.Nodes = int64(rapid.IntRange(1, 60).Draw(t, "nodes"))
		for i := range rapid.IntRange(0, 6).Draw(t, "meshes") {
			at := low.Add(geom.Vec3{float64(rapid.IntRange(0, 19).Draw(t, "mesh x")), 0, float64(rapid.IntRange(0, 19).Draw(t, "mesh z"))})
			x.Meshes = append(x.Meshes, Mesh{
				Name: fmt.Sprintf("m%d_LOD%d", i/2, i%2), Bounds: manifest.Bounds{Min: at, Max: at.Add(geom.Vec3{1, 5, 1})},
				GPUBytes: int64(rapid.IntRange(0, 40).Draw(t, "mesh bytes")), Textures: names.Draw(t, "mesh textures"),
			})
		}
	}
	tile.Interior = rapid.Bool().Draw(t, "interior")
	if floor := rapid.IntRange(-1, 3).Draw(t, "floor"); floor >= 0 {
		tile.FloorID, tile.QuadtreeNodeID = &floor, fmt.Sprintf("F%02d_Q_%d", floor+1, rapid.IntRange(0, 3).Draw(t, "node"))
	}
	// Authored distances may be anything.
	distance := rapid.SampledFrom([]float64{60, 80, 95, 110, 30, 0, 300, 600})
	if rapid.Bool().Draw(t, "hlod") {
		tile.HLODLevels = []manifest.Level{{Path: id + "_h.untold", SwitchDistance: distance.Draw(t, "hlod switch")}}
		x.HLOD, x.HLODTextures = 10, names.Draw(t, "hlod textures")
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "lods") {
		tile.LODLevels = append(tile.LODLevels, manifest.Level{Path: fmt.Sprintf("%s_%d.untold", id, i), SwitchDistance: distance.Draw(t, "switch")})
		x.LODs, x.LODTextures = append(x.LODs, 30), append(x.LODTextures, names.Draw(t, "lod textures"))
	}
	sortLODs(tile.LODLevels, x.LODs)
	for _, dst := range []**float64{&tile.StreamingRadius, &tile.UnloadRadius, &tile.PrefetchRadius} {
		if rapid.IntRange(0, 3).Draw(t, "own radius") == 0 {
			d := distance.Draw(t, "radius")
			*dst = &d
		}
	}
	s.Manifest.Tiles, s.Tiles[id] = append(s.Manifest.Tiles, tile), x
}

// trouble adds what may leave tiles undrawn.
func trouble(t *rapid.T, s *Scenario) {
	end := s.Path.Keys[len(s.Path.Keys)-1].T
	when := func() time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(end/time.Millisecond)).Draw(t, "t")) * time.Millisecond
	}
	for range rapid.IntRange(0, 5).Draw(t, "faults") {
		s.Faults = append(s.Faults, Fault{
			Tile: s.Manifest.Tiles[rapid.IntRange(0, len(s.Manifest.Tiles)-1).Draw(t, "tile")].ID,
			Rep:  rapid.SampledFrom([]string{"full", "hlod", "lod0", "lod1"}).Draw(t, "rep"),
			Hang: rapid.Bool().Draw(t, "hang"), Times: int64(rapid.IntRange(0, 3).Draw(t, "times")),
		})
	}
	budget, used := int64(1000), int64(rapid.IntRange(0, 1200).Draw(t, "used"))
	if rapid.Bool().Draw(t, "short of memory") {
		s.Memory = []MemoryKey{{GeometryBudget: &budget}, {T: when(), GeometryUsed: &used}}
	}
	if rapid.Bool().Draw(t, "textures fail") {
		s.Faults = append(s.Faults, Fault{Texture: rapid.SampledFrom([]string{"wall", "roof"}).Draw(t, "texture"), Times: int64(rapid.IntRange(0, 3).Draw(t, "times"))})
	}
	if limit := int64(rapid.IntRange(1, 30).Draw(t, "texture MB")) * 1e6; rapid.Bool().Draw(t, "short of texture memory") {
		s.Memory = append([]MemoryKey{{TextureBudget: &limit}}, s.Memory...)
	}
	for range rapid.IntRange(0, 2).Draw(t, "signals") {
		s.Pressure = append(s.Pressure, PressureKey{T: when(), Critical: rapid.Bool().Draw(t, "critical")})
	}
	if rapid.Bool().Draw(t, "action") {
		s.Actions = []Action{{T: when(), Do: rapid.SampledFrom([]string{ForceUnloadAll, ReloadScene}).Draw(t, "do")}}
	}
}

// TestAnyScene holds whatever the scene, the camera and the troubles are:
// nothing is drawn twice, nothing that was drawn goes undrawn without a reason,
// memory returns to 0, no slot leaks, and a second run gives the same bytes.
func TestAnyScene(t *testing.T) {
	race.Checks(t, 10) // make test does all of them without the detector
	rapid.Check(t, func(t *rapid.T) {
		s := genScenario(t)
		calm := rapid.Bool().Draw(t, "calm")
		if !calm {
			trouble(t, s)
		}
		// Leave, then wait until the last load has answered.
		leave := s.Path.Keys[len(s.Path.Keys)-1].T + time.Second
		s.Path.Keys = append(s.Path.Keys, CameraKey{T: leave, Position: geom.Vec3{1e6, 0, 0}, Forward: geom.Vec3{0, 0, -1}})
		s.Actions = append(s.Actions, Action{T: leave, Do: ForceUnloadAll})
		s.Duration = leave + 70*time.Second
		frame := func(d time.Duration) time.Duration { return d / s.DT * s.DT }
		gone, last := frame(leave+s.DT-1), frame(s.Duration)
		s.ExpectStats = []StatExpectation{
			{T: gone, Counter: "geometryBytes"},
			{T: last, Counter: "geometryBytes"},
			{T: last, Counter: "loadedCount"},
			{T: last, Counter: "residentLOD"},
			{T: last, Counter: "residentHLOD"},
			{T: last, Counter: "droppedEvents"},
			{T: gone, Counter: "textureStreamed"},
			{T: gone, Counter: "textureReserved"},
			{T: last, Counter: "textureActiveOps"},
		}
		hung := false
		for _, f := range s.Faults {
			hung = hung || f.Hang
		}
		if !hung {
			s.ExpectStats = append(s.ExpectStats, StatExpectation{T: last, Counter: "activeLoads"}, StatExpectation{T: last, Counter: "loadingCount"})
		}
		r, err := Run(t.Context(), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Differences) > 0 {
			t.Fatalf("at the end\n%s%s", Diff(r.Differences), stream(r.Records))
		}
		if r.Report.DoubleDrawn > 0 {
			t.Fatalf("%d tile-frames drawn twice\n%s", r.Report.DoubleDrawn, stream(r.Records))
		}
		if calm && r.Report.Undrawn > 0 {
			t.Fatalf("%d tile-frames undrawn\n%s", r.Report.Undrawn, stream(r.Records))
		}
		if len(s.Memory) > 0 && s.Memory[0].TextureBudget != nil && r.Report.PeakTextureBytes > *s.Memory[0].TextureBudget {
			t.Fatalf("%d bytes of textures, the budget is %d", r.Report.PeakTextureBytes, *s.Memory[0].TextureBudget)
		}
		again, err := Run(t.Context(), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(stream(r.Records), stream(again.Records)) {
			t.Fatal("a second run gives other events")
		}
		r.Report.UpdateMSP50, r.Report.UpdateMSP99, r.Report.UpdateMSMax = 0, 0, 0
		again.Report.UpdateMSP50, again.Report.UpdateMSP99, again.Report.UpdateMSMax = 0, 0, 0
		if r.Report != again.Report {
			t.Fatalf("reports %+v and %+v", r.Report, again.Report)
		}
	})
}

// TestTilesAreIndependent: while slots, memory and order do not matter, a tile
// among others has the events that it has alone.
func TestTilesAreIndependent(t *testing.T) {
	race.Checks(t, 10) // make test does all of them without the detector
	rapid.Check(t, func(t *rapid.T) {
		s := genScenario(t)
		trouble(t, s)
		s.DT, s.Download, s.Memory, s.Pressure = 100*time.Millisecond, Latency{}, nil, nil
		c := &s.Config
		c.MaxConcurrentTileLoads, c.MaxConcurrentLODLoads, c.MaxConcurrentHLODLoads = 64, 64, 64
		c.MaxTileUnloadsPerUpdate, c.TileParseMemoryBudgetMB = 64, 1e6
		c.MaxConcurrentLoads, c.NearBandMaxConcurrentLoads, c.MaxUnloadsPerUpdate = 1024, 1024, 1<<20
		c.EnableOcclusionSort, c.VelocityLookAheadTime = false, 0
		s.Duration = s.Path.Keys[len(s.Path.Keys)-1].T + 10*time.Second
		all := mustRunAny(t, s)
		for _, tile := range s.Manifest.Tiles {
			alone, m := *s, *s.Manifest
			m.Tiles, m.SharedBucket = []manifest.Tile{tile}, nil
			alone.Manifest = &m
			want, got := eventsOf(mustRunAny(t, &alone), tile.ID), eventsOf(all, tile.ID)
			if want != got {
				t.Fatalf("%s: %s", tile.ID, cmp.Diff(want, got))
			}
		}
	})
}

func mustRunAny(t *rapid.T, s *Scenario) []Record {
	r, err := Run(t.Context(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Records
}

// eventsOf renders the events of one tile. When a retry is noticed depends on
// when the tile is looked at, which others may cause.
func eventsOf(records []Record, tile string) string {
	return string(stream(slices.DeleteFunc(slices.Clone(records), func(r Record) bool {
		id, _ := r.value("tile")
		return id != tile || r.Event == "tile.retry"
	})))
}
