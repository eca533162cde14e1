package appearance

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// Mesh is a list of triangles, three indices each, counter-clockwise seen from
// the front. Optional lists are nil when absent, else as long as Positions.
type Mesh struct {
	Positions []geom.Vec3 // metres
	Normals   [][3]float32
	UV        [][2]float32 // of the base colour, v downwards
	Colors    [][4]float32 // linear, multiplied with the material's
	Indices   []uint32
	Materials []int32 // of each triangle, an index into the list given to New
}

// Material is what counts of a material at a distance. The zero value is black
// and opaque.
type Material struct {
	Color       [4]float32 // linear, multiplied with the texture
	Emissive    [3]float32 // linear, added to what is lit
	Texture     *Texture   // nil: none
	Light       *Texture   // of NewLight, at the texture's places; nil: vertices are lit
	Transparent bool       // alpha is the part of the pixels that are drawn
	Masked      bool       // pixels with an alpha below Cutoff are not drawn
	Cutoff      float32
	DoubleSided bool
	Unlit       bool
}

// one is full light, and a whole pixel.
const one = 4095

// fixed turns a part of 1 into units of one.
func fixed(v float64) int32 {
	if !(v > 0) {
		return 0
	}
	return int32(min(float64(v*one), one) + 0.5)
}

// sun is the direction towards the light: from the side and above, so that no
// two walls of a box are equally bright. Its length is 1.
var sun = geom.Vec3{2.0 / 7, 6.0 / 7, 3.0 / 7}

// light returns how bright a surface with a normal is: sky, ground and sun.
func light(n geom.Vec3) int32 {
	return fixed(0.25 + float64(0.15*n[1]) + float64(0.6*max(0, n.Dot(sun))))
}

// lights shades the vertices; without normals it returns nil, and faces are
// shaded.
func (m *Mesh) lights() []int32 {
	if m.Normals == nil {
		return nil
	}
	out := make([]int32, len(m.Normals))
	for i, n := range m.Normals {
		out[i] = light(geom.FromF32(n).Normalize(1e-12, geom.Vec3{0, 1, 0}))
	}
	return out
}

// faceLight shades a triangle by its own plane.
func (m *Mesh) faceLight(a, b, c uint32) int32 {
	p := m.Positions[a]
	n := m.Positions[b].Sub(p).Cross(m.Positions[c].Sub(p))
	return light(n.Normalize(1e-300, geom.Vec3{0, 1, 0}))
}

// area returns the area of all triangles.
func (m *Mesh) area() float64 {
	sum := 0.0
	for i := 0; i+2 < len(m.Indices); i += 3 {
		p := m.Positions[m.Indices[i]]
		n := m.Positions[m.Indices[i+1]].Sub(p).Cross(m.Positions[m.Indices[i+2]].Sub(p))
		if l := float64(n.Len() / 2); l > 0 && l <= math.MaxFloat64 {
			sum += l
		}
	}
	return sum
}

// box returns the box of the vertices that triangles use.
func (m *Mesh) box() geom.Box {
	box := geom.EmptyBox()
	for _, v := range m.Indices {
		box = box.Extend(m.Positions[v])
	}
	return box
}
