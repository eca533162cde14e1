package runtime

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

// cityOf returns n*n tiles of the given size in metres with an HLOD and two
// LODs each, in a grid around the origin.
func cityOf(n int, size float64) *manifest.Manifest {
	m := sceneOf()
	m.Tiles = make([]manifest.Tile, 0, n*n)
	half := float64(n) * size / 2
	for z := range n {
		for x := range n {
			x0, z0 := float64(x)*size-half, float64(z)*size-half
			m.Tiles = append(m.Tiles, tileAt(fmt.Sprintf("tile_%d_%d", x, z), box(x0, 0, z0, x0+size, 30, z0+size),
				hlodAt(95), lodsAt(60, 80)))
		}
	}
	return m
}

// benchFlight measures Update while a camera flies straight over a city of n*n
// tiles. Loads are settled before; p99 and maximum are of single calls.
func benchFlight(b *testing.B, n int, size, speed float64, opts ...func(*Streamer)) {
	r := newRig(b, cityOf(n, size), func(c *config.Config, d *Deps, _ *rig) {
		*c = config.Default()
		d.MemoryProbe = fixedMemory{}
	})
	for _, o := range opts {
		o(r.s)
	}
	r.dt = 16 * time.Millisecond
	r.lens()
	r.camera.Position = [3]float64{0, 20, 0}
	r.camera.Forward = [3]float64{1, 0, 0.3}
	latency := r.loader.Latency
	r.loader.Latency = func(payload.Request) time.Duration { return 0 }
	settle := func() {
		for range 1000 {
			r.loader.Deliver()
			r.s.Update(r.camera, r.dt)
			r.s.Events()
			r.clock.Time += r.dt
		}
	}
	settle()
	for i := 0; i < 30 && (len(r.s.loads.list) > 0 || r.s.backlog > 0); i++ {
		settle()
	}
	r.loader.Latency = latency
	took := make([]time.Duration, 0, b.N)
	r.loader.Started = nil
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if half := float64(n) * size / 2; math.Abs(r.camera.Position[0]) > half && r.camera.Position[0]*speed > 0 {
			speed = -speed // turn at the edge of the city
		}
		r.camera.Position[0] += speed * r.dt.Seconds()
		r.loader.Deliver()
		start := time.Now()
		r.s.Update(r.camera, r.dt)
		took = append(took, time.Since(start))
		r.s.Events()
		r.loader.Started = r.loader.Started[:0]
		r.clock.Time += r.dt
	}
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-us")
	b.ReportMetric(float64(r.s.Stats().NearbyEntitiesQueried), "near")
}

// shortOf sets a budget of so many payloads.
func shortOf(payloads int64) func(*Streamer) {
	return func(s *Streamer) {
		s.deps.Loader.(*fake.Loader).Bytes = func(payload.Request) int64 { return 1000 }
		s.cfg.GeometryBudget = 1000 * payloads
	}
}

func BenchmarkUpdate(b *testing.B) {
	b.Run("10k tiles of 50 m, still", func(b *testing.B) { benchFlight(b, 100, 50, 0) })
	b.Run("10k tiles of 50 m, 50 m/s", func(b *testing.B) { benchFlight(b, 100, 50, 50) })
	// The baseline: no tile sleeps, every pass looks at all that is near.
	b.Run("10k tiles of 50 m, 50 m/s, sleepless", func(b *testing.B) {
		benchFlight(b, 100, 50, 50, func(s *Streamer) { s.sleepless = true })
	})
	// A budget of a quarter of what is wanted.
	b.Run("10k tiles of 50 m, 50 m/s, short of memory", func(b *testing.B) { benchFlight(b, 100, 50, 50, shortOf(100)) })
	b.Run("10k tiles of 25 m, 20 m/s, short of memory", func(b *testing.B) { benchFlight(b, 100, 25, 20, shortOf(400)) })
	b.Run("10k tiles of 10 m, still", func(b *testing.B) { benchFlight(b, 100, 10, 0) })
	b.Run("10k tiles of 10 m, 5 m/s", func(b *testing.B) { benchFlight(b, 100, 10, 5) })
}

func BenchmarkMillion(b *testing.B) {
	m := cityOf(1000, 50)
	b.Run("register", func(b *testing.B) {
		for range b.N {
			cfg := config.Default()
			if _, err := newScene(Source{Manifest: m, Path: "x"}, &cfg); err != nil {
				b.Fatal(err)
			}
		}
	})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	cfg := config.Default()
	sc, err := newScene(Source{Manifest: m, Path: "x"}, &cfg)
	if err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.Logf("%.0f bytes per idle tile", float64(after.HeapAlloc-before.HeapAlloc)/float64(sc.tiles.len()))
	runtime.KeepAlive(sc)
	runtime.KeepAlive(m)
	b.Run("tiles of 50 m, 50 m/s", func(b *testing.B) { benchFlight(b, 1000, 50, 50) })
	b.Run("tiles of 10 m, 50 m/s", func(b *testing.B) { benchFlight(b, 1000, 10, 50) })
}
