package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
)

// soakCity is 20 x 20 tiles of 25 m with 60 nodes of 1,000 bytes, a LOD and an
// HLOD each.
func soakCity() *Scenario {
	rng := rand.New(rand.NewPCG(3, 4))
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid,
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 50, UnloadRadius: 75},
	}
	s := &Scenario{
		Manifest: m, Tiles: map[string]Extra{}, Config: config.Default(), DT: 100 * time.Millisecond, Path: defaultLens(),
		Latency: Latency{Default: 50 * time.Millisecond},
	}
	for i := range 400 {
		x0, z0 := float64(i%20-10)*25, float64(i/20-10)*25
		id := fmt.Sprintf("t%03d", i)
		m.Tiles = append(m.Tiles, manifest.Tile{
			ID: id, Path: id + ".untold", FileSizeBytes: 40_000, Bounds: manifest.Bounds{Min: [3]float64{x0, 0, z0}, Max: [3]float64{x0 + 25, 20, z0 + 25}},
			LODLevels:  []manifest.Level{{Path: id + "_l.untold", SwitchDistance: 52, FileSizeBytes: 100}},
			HLODLevels: []manifest.Level{{Path: id + "_h.untold", SwitchDistance: 70, FileSizeBytes: 40}},
		})
		x := Extra{Nodes: 60, GPUBytes: 60_000, HLOD: 40, LODs: []int64{100}}
		for k := range 60 {
			at := geom.Vec3{x0 + rng.Float64()*24, rng.Float64() * 18, z0 + rng.Float64()*24}
			x.Meshes = append(x.Meshes, Mesh{Name: fmt.Sprint("n", k), Bounds: manifest.Bounds{Min: at, Max: at.Add(geom.Vec3{1, 2, 1})}, GPUBytes: 1000})
		}
		s.Tiles[id] = x
	}
	return s
}

// Ten minutes of a random walk through a city with a quarter of the memory that
// it wants: the budget holds, nothing that was drawn goes undrawn, and nothing
// is left at the end.
func TestSoakOutOfCore(t *testing.T) {
	if testing.Short() {
		t.Skip("ten virtual minutes")
	}
	minutes := 10 * time.Minute
	if race.Enabled {
		minutes = time.Minute // make test walks all of them without the detector
	}
	walk := func(budget int64) *Result {
		s := soakCity()
		s.Duration = minutes + 10*time.Second
		rng := rand.New(rand.NewPCG(5, 6))
		at, dir := geom.Vec3{0, 2, 0}, 0.0
		for t := time.Duration(0); t <= minutes; t += 2 * time.Second {
			dir += rng.Float64()*1.6 - 0.8
			forward := geom.Vec3{math.Cos(dir), 0, math.Sin(dir)}
			s.Path.Keys = append(s.Path.Keys, CameraKey{T: t, Position: at, Forward: forward, Linear: t > 0})
			next := at.Add(forward.Scale(10))
			if math.Abs(next[0]) > 230 || math.Abs(next[2]) > 230 {
				dir += math.Pi
				continue
			}
			at = next
		}
		s.Actions = []Action{{T: minutes + time.Second, Do: ForceUnloadAll}}
		s.Path.Keys = append(s.Path.Keys, CameraKey{T: minutes + time.Second, Position: geom.Vec3{1e6, 0, 0}, Forward: geom.Vec3{1, 0, 0}})
		s.Memory = []MemoryKey{{GeometryBudget: &budget}}
		s.ExpectStats = []StatExpectation{
			{T: s.Duration, Counter: "geometryBytes"},
			{T: s.Duration, Counter: "cpuBytes"},
			{T: s.Duration, Counter: "meshes"},
			{T: s.Duration, Counter: "activeLoads"},
			{T: s.Duration, Counter: "loadedCount"},
		}
		return mustRun(t, s, Options{OnRecord: func(*Record) error { return nil }})
	}
	all := walk(1 << 40)
	budget := all.Report.PeakGeometryBytes / 4
	r := walk(budget)
	for name, p := range map[string]*Result{"all": all, "a quarter": r} {
		if len(p.Differences) > 0 {
			t.Errorf("%s:\n%s", name, Diff(p.Differences))
		}
		if p.Report.Undrawn > 0 || p.Report.DoubleDrawn > 0 {
			t.Errorf("%s: %d tile-frames undrawn, %d drawn twice", name, p.Report.Undrawn, p.Report.DoubleDrawn)
		}
	}
	if r.Report.PeakGeometryBytes > budget {
		t.Errorf("%d bytes in use, the budget is %d", r.Report.PeakGeometryBytes, budget)
	}
	t.Logf("budget %d of %d: %+v", budget, all.Report.PeakGeometryBytes, r.Report)
}
