package mesh

import "testing"

// BenchmarkGenerateTangents measures an indexed terrain and the same as loose
// triangles. The baseline sums unweighted directions per vertex, without
// welding, groups or splits: the least that could be called tangents.
func BenchmarkGenerateTangents(b *testing.B) {
	indexed := hills(256)
	loose := looseCopy(indexed)
	for _, c := range []struct {
		name string
		mesh *Mesh
	}{{"indexed", indexed}, {"loose", loose}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m := *c.mesh
				m.GenerateTangents()
			}
			perSecond(b, len(c.mesh.Positions), len(c.mesh.Indices)/3)
		})
		b.Run(c.name+"-baseline", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				plainTangents(c.mesh)
			}
			perSecond(b, len(c.mesh.Positions), len(c.mesh.Indices)/3)
		})
	}
}

// looseCopy gives every corner its own vertex.
func looseCopy(m *Mesh) *Mesh {
	out := &Mesh{
		Positions: gather(m.Positions, m.Indices), Normals: gather(m.Normals, m.Indices),
		Colors: gather(m.Colors, m.Indices), Indices: make([]uint32, len(m.Indices)),
	}
	for k := range m.UV {
		out.UV[k] = gather(m.UV[k], m.Indices)
	}
	for i := range out.Indices {
		out.Indices[i] = uint32(i)
	}
	return out
}

func plainTangents(m *Mesh) [][4]float32 {
	g := &tangentSpace{m: m}
	sum := make([]vec3, len(m.Positions))
	for i := 0; i+2 < len(m.Indices); i += 3 {
		s := g.face(i / 3).s
		for _, v := range m.Indices[i : i+3] {
			sum[v] = sum[v].add(s)
		}
	}
	out := make([][4]float32, len(sum))
	for v, s := range sum {
		n := m.Normals[v]
		t := vec3{n[0], n[1], n[2]}.project(s)
		out[v] = [4]float32{t.x, t.y, t.z, 1}
	}
	return out
}
