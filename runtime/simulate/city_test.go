package simulate

import (
	"fmt"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
)

// grid returns the manifest of a square city of n x n tiles of 25 m, each with
// two LODs and an HLOD, as a cook with its defaults would write it.
func grid(n int) *manifest.Manifest {
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid, TileSize: &manifest.Vec3Size{X: 25, Y: 10_000, Z: 25},
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 50, UnloadRadius: 75, Priority: manifest.DefaultPriority},
		Tiles:             make([]manifest.Tile, 0, n*n),
	}
	for z := range n {
		for x := range n {
			// Neighbours differ in height and in what they hold.
			size := int64(20_000 + (x*7919+z*104729)%80_000)
			low := geom.Vec3{float64(x) * 25, 0, float64(z) * 25}
			t := manifest.Tile{
				ID: fmt.Sprintf("tile_%d_0_%d", x, z), FileSizeBytes: size, EstimatedMemoryBytes: &size,
				Bounds: manifest.Bounds{Min: low, Max: low.Add(geom.Vec3{25, 10 + float64((x*13+z*29)%40), 25})},
			}
			t.Path, t.Center = "tiles/"+t.ID+".untold", t.Bounds.Center()
			t.LODLevels = []manifest.Level{
				{Path: "tiles/" + t.ID + "_lod1.untold", SwitchDistance: 60, FileSizeBytes: size / 2},
				{Path: "tiles/" + t.ID + "_lod2.untold", SwitchDistance: 65, FileSizeBytes: size / 5},
			}
			t.HLODLevels = []manifest.Level{{Path: "tiles/" + t.ID + "_hlod.untold", SwitchDistance: 70, FileSizeBytes: size / 10}}
			m.Tiles = append(m.Tiles, t)
		}
	}
	return m
}

// flight returns a scenario that flies through a city.
func flight(tb testing.TB, n int, speed float64, length time.Duration) *Scenario {
	tb.Helper()
	s := Cooked("city.json", grid(n))
	edge := 25 * float64(n)
	path, err := FlyThrough(PathOptions{Bounds: geom.Box{Max: geom.Vec3{edge, 50, edge}}, Speed: speed, Duration: length})
	if err != nil {
		tb.Fatal(err)
	}
	s.Path, s.Duration = *path, path.Keys[len(path.Keys)-1].T
	return s
}

// TestCityFlight flies through 10,404 tiles: nothing that was drawn is ever
// missing, and the memory in use is that of what is near.
func TestCityFlight(t *testing.T) {
	s := flight(t, 102, 50, 0)
	s.DT = 50 * time.Millisecond
	if testing.Short() || race.Enabled { // make test flies all the way without the detector
		s.Duration = 8 * time.Second
	}
	r := mustRun(t, s, Options{OnRecord: func(*Record) error { return nil }}).Report
	if r.Undrawn != 0 || r.DoubleDrawn != 0 || r.Failures != 0 || r.Timeouts != 0 {
		t.Errorf("%+v", r)
	}
	var all int64
	for i := range s.Manifest.Tiles {
		all += s.Manifest.Tiles[i].FileSizeBytes
	}
	if r.Loads == 0 || r.PeakGeometryBytes == 0 || r.PeakGeometryBytes > all/4 {
		t.Errorf("%d loads, at most %d of %d bytes in use", r.Loads, r.PeakGeometryBytes, all)
	}
	if r.TimeToFullP50 > 0.5 {
		t.Errorf("median time to the full geometry %v s", r.TimeToFullP50)
	}
}

// BenchmarkFlight simulates ten seconds of a flight at 50 m/s, 60 frames a
// second. x-realtime is simulated time over wall clock; update-share is the
// part of the time that the runtime itself takes, the rest being the
// simulation's judgement.
func BenchmarkFlight(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("%d_tiles", n*n), func(b *testing.B) {
			s := flight(b, n, 50, 10*time.Second)
			var wall, update time.Duration
			var p50, p99 float64
			for b.Loop() {
				b.StopTimer()
				debug.FreeOSMemory()
				b.StartTimer()
				start := time.Now()
				res, err := Run(b.Context(), s, Options{OnRecord: func(*Record) error { return nil }})
				if err != nil {
					b.Fatal(err)
				}
				wall += time.Since(start)
				p50, p99 = res.Report.UpdateMSP50, res.Report.UpdateMSP99
				update += time.Duration(res.UpdateSeconds * float64(time.Second))
			}
			b.ReportMetric(float64(b.N)*s.Duration.Seconds()/wall.Seconds(), "x-realtime")
			b.ReportMetric(float64(update)/float64(wall), "update-share")
			b.ReportMetric(p50*1000, "us-p50")
			b.ReportMetric(p99*1000, "us-p99")
		})
	}
}

// BenchmarkOpen registers 1,000,000 tiles from a decoded manifest. B/tile is the
// heap that an idle tile takes beside the manifest's strings, which are shared.
// x-copy is the time over that of a plain copy of the manifest's tiles.
func BenchmarkOpen(b *testing.B) {
	m := grid(1000)
	deps := newModel(&Scenario{Manifest: m}, &Options{}).deps()
	heap := func() uint64 {
		var s goruntime.MemStats
		goruntime.GC()
		goruntime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	var bytes float64
	var open, plain time.Duration
	for b.Loop() {
		before := heap()
		start := time.Now()
		s, err := runtime.Open(b.Context(), runtime.Source{Manifest: m}, config.Default(), deps)
		if err != nil {
			b.Fatal(err)
		}
		open += time.Since(start)
		bytes = float64(heap()-before) / float64(len(m.Tiles))
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		start = time.Now()
		goruntime.KeepAlive(slices.Clone(m.Tiles))
		plain += time.Since(start)
	}
	goruntime.KeepAlive(m)
	b.ReportMetric(open.Seconds()*1000/float64(b.N), "ms/open")
	b.ReportMetric(bytes, "B/tile")
	b.ReportMetric(float64(open)/float64(plain), "x-copy")
}
