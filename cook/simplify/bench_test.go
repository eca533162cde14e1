package simplify

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"time"
)

// The benchmarks report Mtri/s of the source, allocated bytes per source
// vertex, and the time in units of a plain sort of the source's edges in the
// same run, which is a number that machines agree on better.

func BenchmarkTerrain(b *testing.B) { // 2.1 million triangles to 10 %
	benchmark(b, grid(1024, rough), Options{})
}

func BenchmarkHills(b *testing.B) { // fits into caches
	benchmark(b, grid(110, hills), Options{})
}

func BenchmarkBoxes(b *testing.B) { // flat-shaded, every face owns its vertices
	benchmark(b, boxes(200), Options{PruneBelow: math.Inf(1)})
}

func BenchmarkClustered(b *testing.B) {
	benchmark(b, boxes(200), Options{Sloppy: true})
}

// rough is a height field with detail at all sizes.
func rough(x, z float64) float64 {
	h, size := 0.0, 0.05
	for range 8 {
		h += size * hills(x-math.Floor(x), z-math.Floor(z))
		x, z, size = 2*z+0.37, 2*x+0.71, size/2
	}
	return h
}

func benchmark(b *testing.B, m *Mesh, o Options) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	runs := 0
	for b.Loop() {
		s, err := New(m, o)
		if err != nil {
			b.Fatal(err)
		}
		s.Reduce(m.Triangles()/10, 0)
		runs++
	}
	per := b.Elapsed().Seconds() / float64(runs)
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(m.Triangles())/per/1e6, "Mtri/s")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(runs*len(m.Positions)), "B/vertex")
	b.ReportMetric(per/sortEdges(m), "sorts")
}

// sortEdges returns the seconds that sorting all edges takes.
func sortEdges(m *Mesh) float64 {
	best := math.Inf(1)
	for range 3 {
		edges := make([]uint64, 0, len(m.Indices))
		for c, v := range m.Indices {
			w := m.Indices[c-c%3+(c+1)%3]
			edges = append(edges, mix(uint64(min(v, w))<<32|uint64(max(v, w))))
		}
		start := time.Now()
		slices.Sort(edges)
		best = min(best, time.Since(start).Seconds())
	}
	return best
}
