package mesh

import (
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
)

// VertexCount returns the number of vertices.
func (p *Packed) VertexCount() int { return len(p.Vertices) / vertex.Size }

// Append adds the vertices and triangles of another mesh behind its own.
func (p *Packed) Append(o *Packed) {
	base := uint32(p.VertexCount())
	p.Vertices = append(p.Vertices, o.Vertices...)
	for _, v := range o.Indices {
		p.Indices = append(p.Indices, v+base)
	}
}

// Split16 cuts a mesh that is too large for 16-bit indices into several that
// are not, in the order of its triangles, when the result is smaller: shared
// vertices are stored again, indices shrink to half. Otherwise it returns the
// mesh alone.
func (p *Packed) Split16() []*Packed {
	const limit = 65535
	n := p.VertexCount()
	if n <= limit {
		return []*Packed{p}
	}
	var out []*Packed
	var cur *Packed
	remap := make([]uint32, n) // vertex + 1 in the current piece
	stamp := make([]int, n)    // piece in which remap is valid, + 1
	vertices := 0
	for i := 0; i+2 < len(p.Indices); i += 3 {
		fresh := 0
		for _, v := range p.Indices[i : i+3] {
			if stamp[v] != len(out) {
				fresh++
			}
		}
		if cur == nil || cur.VertexCount()+fresh > limit {
			cur = &Packed{}
			out = append(out, cur)
		}
		for _, v := range p.Indices[i : i+3] {
			if stamp[v] != len(out) {
				stamp[v] = len(out)
				remap[v] = uint32(cur.VertexCount())
				cur.Vertices = append(cur.Vertices, p.Vertices[int(v)*vertex.Size:][:vertex.Size]...)
				vertices++
			}
			cur.Indices = append(cur.Indices, remap[v])
		}
	}
	if (vertices-n)*vertex.Size >= len(p.Indices)*2 {
		return []*Packed{p}
	}
	return out
}

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
