package mesh

import (
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// BenchmarkSplit measures a terrain of 200 x 200 quads over 20 x 20 cells, a
// ground of two triangles over 400, and 100,000 boxes that lie in one cell
// each. The baseline copies every triangle of the terrain once, which is the
// least that sorting them could cost.
func BenchmarkSplit(b *testing.B) {
	terrain := hills(201)
	terrain.GenerateTangents()
	cells := gridOf(geom.Vec3{0, -10, -100.37}, geom.Vec3{5.03, 20, 5.03}, 20, 1, 20)
	ground := &Mesh{Positions: []geom.Vec3{{0, 0, 0}, {100, 0, 0}, {100, 0, 100}, {0, 0, 100}}, Indices: []uint32{0, 2, 1, 0, 3, 2}}
	b.Run("terrain", func(b *testing.B) {
		b.ReportAllocs()
		out := 0
		for b.Loop() {
			out = 0
			for _, p := range terrain.Split(cells) {
				out += p.Mesh.Triangles()
			}
		}
		b.ReportMetric(float64(out), "triangles-out")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*terrain.Triangles()), "ns/triangle")
	})
	b.Run("terrain-baseline", func(b *testing.B) {
		for b.Loop() {
			terrain.take(terrain.Indices, terrain.Indices)
		}
	})
	b.Run("ground", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ground.Split(cells)
		}
	})
	b.Run("boxes", func(b *testing.B) {
		const n = 100_000
		boxes := make([]*Mesh, n)
		for i := range boxes {
			m := cube()
			for k, p := range m.Positions {
				m.Positions[k] = p.Scale(0.1).Add(geom.Vec3{2.5 + 5.03*float64(i%20), 0, 97.8 - 5.03*float64(i/20%20)})
			}
			boxes[i] = m
		}
		b.ReportAllocs()
		b.ResetTimer()
		for b.Loop() {
			for _, m := range boxes {
				if p := m.Split(cells); len(p) != 1 || p[0].Mesh != m {
					b.Fatal("a box was cut")
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/box")
	})
}
