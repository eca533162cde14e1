package mesh

import (
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
)

// AppendTo unpacks the mesh behind the vertices and triangles of m, without
// tangents. m holds all other attributes. Positions, texture coordinates and
// colours survive packing again unchanged; normals to 10 bits.
func (p *Packed) AppendTo(m *Mesh) {
	base := uint32(len(m.Positions))
	for i := 0; i < len(p.Vertices); i += vertex.Size {
		v := vertex.Get(p.Vertices[i:])
		m.Positions = append(m.Positions, geom.FromF32(v.Position))
		m.Normals = append(m.Normals, vertex.UnpackNormal(v.Normal))
		for set, c := range [2][2]uint16{v.UV0, v.UV1} {
			m.UV[set] = append(m.UV[set], [2]float32{vertex.FromHalf(c[0]), 1 - vertex.FromHalf(c[1])})
		}
		var color [4]float32
		for k, c := range v.Color {
			color[k] = float32(c) / 255
		}
		m.Colors = append(m.Colors, color)
	}
	for _, v := range p.Indices {
		m.Indices = append(m.Indices, base+v)
	}
}
