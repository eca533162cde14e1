package mesh

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
)

// rotated is a world matrix with rotation, uneven scale and translation.
func rotated() geom.Mat4 {
	return geom.TRS(geom.Vec3{10, 2, -3}, [4]float64{0.1, 0.5, -0.2, 0.8}, geom.Vec3{1, 2, 0.5})
}

// hills is an indexed grid of n x n vertices with normals and UVs, as a
// terrain exporter would write it.
func hills(n int) *Mesh {
	m := &Mesh{}
	for y := range n {
		for x := range n {
			u, v := float32(x)/float32(n-1), float32(y)/float32(n-1)
			h := math.Sin(float64(u)*20) * math.Cos(float64(v)*13)
			m.Positions = append(m.Positions, geom.Vec3{float64(u) * 100, h, float64(v) * 100})
			nx, nz := -math.Cos(float64(u)*20)*0.2, math.Sin(float64(v)*13)*0.13
			m.Normals = append(m.Normals, geom.Vec3{nx, 1, nz}.Normalize(0, geom.Vec3{}).F32())
			m.UV[0] = append(m.UV[0], [2]float32{u * 8, v * 8})
		}
	}
	for y := range n - 1 {
		for x := range n - 1 {
			a := uint32(y*n + x)
			b, c, d := a+1, a+uint32(n), a+uint32(n)+1
			m.Indices = append(m.Indices, a, c, b, b, c, d)
		}
	}
	return m
}

// bake is what the cooker does with one primitive.
func bake(tb testing.TB, src *Mesh, world *geom.Mat4) *Packed {
	m := *src
	m.Transform(world)
	if m.Normals == nil {
		m.FlatNormals()
	}
	if m.Tangents == nil {
		m.GenerateTangents()
	}
	p, err := m.Pack(PackOptions{RepeatU: 1, RepeatV: 1})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// BenchmarkBake measures the way from a loaded primitive to packed bytes. The
// baseline does the least that could be called baking: it moves every position
// by the matrix and writes 32 bytes per vertex.
func BenchmarkBake(b *testing.B) {
	const n = 256
	world := rotated()
	plain := hills(n)
	tangents := *plain
	tangents.GenerateTangents()
	noUV := *plain
	noUV.UV = [2][][2]float32{}
	unindexed := *plain
	unindexed.Normals, unindexed.UV = nil, noUV.UV
	for _, c := range []struct {
		name string
		mesh *Mesh
	}{
		{"tangents-given", &tangents}, {"tangents-generated", plain}, {"no-uv", &noUV}, {"flat-normals", &unindexed},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bake(b, c.mesh, &world)
			}
			perSecond(b, len(c.mesh.Positions), len(c.mesh.Indices)/3)
		})
	}
	b.Run("baseline-copy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			out := make([]byte, 0, len(plain.Positions)*vertex.Size)
			var v vertex.Vertex
			for i, p := range plain.Positions {
				v.Position = world.Point(p).F32()
				v.Normal = uint32(i)
				out = out[:len(out)+vertex.Size]
				vertex.Put(out[i*vertex.Size:], &v)
			}
		}
		perSecond(b, len(plain.Positions), len(plain.Indices)/3)
	})
}

func perSecond(b *testing.B, vertices, triangles int) {
	s := b.Elapsed().Seconds() / float64(b.N) * 1e6
	b.ReportMetric(float64(vertices)/s, "Mvert/s")
	b.ReportMetric(float64(triangles)/s, "Mtri/s")
}
