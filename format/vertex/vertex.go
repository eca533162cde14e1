// Package vertex packs the vertices and indices of .untold containers: layout
// PBR_STATIC_V1 with half floats and 10-bit normals, and indices of 16 or 32 bits.
package vertex

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/human"
)

// VertexLayout names the layout of a vertex.
type Layout uint32

// LayoutPBRStatic is UNT_VERTEX_LAYOUT_PBR_STATIC_V1: 32 bytes, see [Vertex].
const LayoutPBRStatic Layout = 1

// VertexSize is the size of a serialised vertex in bytes.
const Size = 32

// String returns the layout's name.
func (l Layout) String() string {
	return human.EnumName([]string{"", "PBR_STATIC_V1"}, uint32(l))
}

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
func Put(b []byte, v *Vertex) {
	le := binary.LittleEndian
	_ = b[Size-1]
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
func Get(b []byte) Vertex {
	le := binary.LittleEndian
	_ = b[Size-1]
	return Vertex{
		Position: [3]float32{f32(b), f32(b[4:]), f32(b[8:])},
		Normal:   le.Uint32(b[12:]),
		Tangent:  le.Uint32(b[16:]),
		UV0:      [2]uint16{le.Uint16(b[20:]), le.Uint16(b[22:])},
		UV1:      [2]uint16{le.Uint16(b[24:]), le.Uint16(b[26:])},
		Color:    [4]uint8{b[28], b[29], b[30], b[31]},
	}
}

// AppendVertices appends the serialised vertices to dst.
func Append(dst []byte, vs []Vertex) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(vs)*Size)[:n+len(vs)*Size]
	out := dst[n:]
	for i := range vs {
		Put(out[i*Size:][:Size], &vs[i])
	}
	return dst
}

func f32(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
