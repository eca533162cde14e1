package format

import (
	"encoding/binary"
	"math"
	"slices"
)

// Vertex is one vertex of layout PBR_STATIC_V1, packed. Serialised it has 32
// bytes: position 3 x f32, normal u32, tangent u32, uv0 and uv1 2 x half each,
// colour 4 x u8.
type Vertex struct {
	Position [3]float32
	Normal   uint32    // PackNormal
	Tangent  uint32    // PackTangent
	UV0, UV1 [2]uint16 // Half; v runs bottom-up
	Color    [4]uint8
}

// PutVertex writes v into the first 32 bytes of b, field by field.
func PutVertex(b []byte, v *Vertex) {
	le := binary.LittleEndian
	_ = b[VertexSize-1]
	le.PutUint32(b[0:], math.Float32bits(v.Position[0]))
	le.PutUint32(b[4:], math.Float32bits(v.Position[1]))
	le.PutUint32(b[8:], math.Float32bits(v.Position[2]))
	le.PutUint32(b[12:], v.Normal)
	le.PutUint32(b[16:], v.Tangent)
	le.PutUint16(b[20:], v.UV0[0])
	le.PutUint16(b[22:], v.UV0[1])
	le.PutUint16(b[24:], v.UV1[0])
	le.PutUint16(b[26:], v.UV1[1])
	b[28], b[29], b[30], b[31] = v.Color[0], v.Color[1], v.Color[2], v.Color[3]
}

// GetVertex reads the first 32 bytes of b.
func GetVertex(b []byte) Vertex {
	le := binary.LittleEndian
	_ = b[VertexSize-1]
	return Vertex{
		Position: [3]float32{readF32(b), readF32(b[4:]), readF32(b[8:])},
		Normal:   le.Uint32(b[12:]),
		Tangent:  le.Uint32(b[16:]),
		UV0:      [2]uint16{le.Uint16(b[20:]), le.Uint16(b[22:])},
		UV1:      [2]uint16{le.Uint16(b[24:]), le.Uint16(b[26:])},
		Color:    [4]uint8{b[28], b[29], b[30], b[31]},
	}
}

// AppendVertices appends the serialised vertices to dst.
func AppendVertices(dst []byte, vs []Vertex) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(vs)*VertexSize)[:n+len(vs)*VertexSize]
	out := dst[n:]
	for i := range vs {
		PutVertex(out[i*VertexSize:][:VertexSize], &vs[i])
	}
	return dst
}

// AppendIndices appends indices in the given width; the caller has chosen it by
// IndexTypeFor, so that every value fits.
func AppendIndices(dst []byte, t IndexType, indices []uint32) []byte {
	n := len(dst)
	size := len(indices) * t.Size()
	dst = slices.Grow(dst, size)[:n+size]
	out := dst[n:]
	le := binary.LittleEndian
	if t == Index16 {
		for i, v := range indices {
			le.PutUint16(out[2*i:], uint16(v))
		}
		return dst
	}
	for i, v := range indices {
		le.PutUint32(out[4*i:], v)
	}
	return dst
}

// PositionBounds returns the exact box of the positions of serialised vertices;
// ok is false when there is none.
func PositionBounds(vertices []byte) (b Bounds, ok bool) {
	inf := float32(math.Inf(1))
	b = Bounds{Min: [3]float32{inf, inf, inf}, Max: [3]float32{-inf, -inf, -inf}}
	for ; len(vertices) >= VertexSize; vertices = vertices[VertexSize:] {
		x, y, z := readF32(vertices), readF32(vertices[4:]), readF32(vertices[8:])
		b.Min[0], b.Max[0] = min(b.Min[0], x), max(b.Max[0], x)
		b.Min[1], b.Max[1] = min(b.Min[1], y), max(b.Max[1], y)
		b.Min[2], b.Max[2] = min(b.Min[2], z), max(b.Max[2], z)
		ok = true
	}
	return b, ok
}

// union returns the box around both.
func (b Bounds) union(o Bounds) Bounds {
	for i := range 3 {
		b.Min[i] = min(b.Min[i], o.Min[i])
		b.Max[i] = max(b.Max[i], o.Max[i])
	}
	return b
}

// Indices decodes serialised indices.
func Indices(b []byte, t IndexType) []uint32 {
	if t.Size() == 0 {
		return nil
	}
	out := make([]uint32, len(b)/t.Size())
	for i := range out {
		out[i] = indexAt(b, t, i)
	}
	return out
}
