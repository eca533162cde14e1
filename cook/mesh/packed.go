package mesh

import "github.com/untoldkit/untold/format/vertex"

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
