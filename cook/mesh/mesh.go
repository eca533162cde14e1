// Package mesh holds the geometry steps of the cooker: baking transforms, flat
// normals, tangents, and packing into the container's vertex layout.
package mesh

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// Mesh is a triangle list on its way into a tile. Positions are in double
// precision, so that baking and cutting round once, when they are stored.
// Optional attributes are nil when absent, else as long as Positions.
type Mesh struct {
	Positions []geom.Vec3
	Normals   [][3]float32
	Tangents  [][4]float32    // w is the handedness
	UV        [2][][2]float32 // v top-down as in glTF
	Colors    [][4]float32    // linear
	Indices   []uint32        // three per triangle
}

// Triangles returns the number of triangles.
func (m *Mesh) Triangles() int { return len(m.Indices) / 3 }

// Bounds returns the box of all positions, empty without any.
func (m *Mesh) Bounds() geom.Box {
	b := geom.EmptyBox()
	for _, p := range m.Positions {
		b = b.Extend(p)
	}
	return b
}

// Bytes returns what the attributes and the indices take in memory.
func (m *Mesh) Bytes() int64 {
	return int64(24*len(m.Positions) + 12*len(m.Normals) + 16*len(m.Tangents) + 8*(len(m.UV[0])+len(m.UV[1])) +
		16*len(m.Colors) + 4*len(m.Indices))
}

// Transform moves the mesh by an affine matrix: positions by the matrix,
// normals by its inverse transpose, tangents by the matrix, each renormalised.
// A mirroring matrix flips the winding and the tangents' handedness, so that
// front faces stay counter-clockwise. Slices that change are replaced, not
// written into.
func (m *Mesh) Transform(world *geom.Mat4) {
	if *world == geom.Identity() {
		return
	}
	positions := make([]geom.Vec3, len(m.Positions))
	for i, p := range m.Positions {
		positions[i] = world.Point(p)
	}
	m.Positions = positions
	mirror := world.Det3() < 0
	if m.Normals != nil {
		cof := world.Cofactor()
		if mirror {
			for i := range cof {
				cof[i] = -cof[i]
			}
		}
		out := make([][3]float32, len(m.Normals))
		for i, n := range m.Normals {
			out[i] = unitDir(&cof, n[0], n[1], n[2])
		}
		m.Normals = out
	}
	if m.Tangents != nil {
		out := make([][4]float32, len(m.Tangents))
		for i, t := range m.Tangents {
			d, w := unitDir(world, t[0], t[1], t[2]), t[3]
			if mirror {
				w = -w
			}
			out[i] = [4]float32{d[0], d[1], d[2], w}
		}
		m.Tangents = out
	}
	if mirror {
		idx := make([]uint32, len(m.Indices))
		for i := 0; i+2 < len(idx); i += 3 {
			idx[i], idx[i+1], idx[i+2] = m.Indices[i], m.Indices[i+2], m.Indices[i+1]
		}
		m.Indices = idx
	}
}

// unitDir transforms a direction and makes it one unit long; 0 stays 0.
func unitDir(m *geom.Mat4, x32, y32, z32 float32) [3]float32 {
	x, y, z := float64(x32), float64(y32), float64(z32)
	a := float64(m[0]*x) + float64(m[4]*y) + float64(m[8]*z)
	b := float64(m[1]*x) + float64(m[5]*y) + float64(m[9]*z)
	c := float64(m[2]*x) + float64(m[6]*y) + float64(m[10]*z)
	l := math.Sqrt(float64(a*a) + float64(b*b) + float64(c*c))
	if !(l > 0 && l <= math.MaxFloat64) {
		return [3]float32{}
	}
	k := 1 / l
	return [3]float32{float32(a * k), float32(b * k), float32(c * k)}
}

// FlatNormals gives every triangle its own three vertices with the face's
// normal, as glTF asks for meshes without normals. Tangents are dropped: glTF
// says to ignore them in that case.
func (m *Mesh) FlatNormals() {
	n := len(m.Indices)
	out := Mesh{
		Positions: make([]geom.Vec3, n), Normals: make([][3]float32, n), Indices: make([]uint32, n),
	}
	for k := range m.UV {
		out.UV[k] = gather(m.UV[k], m.Indices)
	}
	out.Colors = gather(m.Colors, m.Indices)
	for i := 0; i+2 < n; i += 3 {
		a, b, c := m.Positions[m.Indices[i]], m.Positions[m.Indices[i+1]], m.Positions[m.Indices[i+2]]
		normal := b.Sub(a).Cross(c.Sub(a)).Normalize(0, geom.Vec3{0, 0, 1}).F32()
		for k, p := range [3]geom.Vec3{a, b, c} {
			out.Positions[i+k], out.Normals[i+k], out.Indices[i+k] = p, normal, uint32(i+k)
		}
	}
	*m = out
}

func gather[T any](src []T, idx []uint32) []T {
	if src == nil {
		return nil
	}
	out := make([]T, len(idx))
	for i, v := range idx {
		out[i] = src[v]
	}
	return out
}
