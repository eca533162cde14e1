package simplify

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// Mesh returns the present state as a mesh of its own, without unused
// vertices. Triangles keep their order, vertices are in the order of first
// use. Vertices that never moved have the source's positions bit for bit,
// locked ones the source's attributes too. Normals of others have unit length,
// texture coordinates and colours stay in the source's range.
func (s *Simplifier) Mesh() *Mesh {
	m, _ := s.extract(false)
	return m
}

// MeshAndSources is Mesh with, for each vertex, the source vertex that it is a
// copy of if it is locked, or -1. Locked vertices that are equal in all respects
// are one. A triangle whose group or attributes a locked vertex did not have may
// come to it: that makes another vertex at this position, which is no copy.
func (s *Simplifier) MeshAndSources() (*Mesh, []int32) { return s.extract(true) }

// Left returns which triangle of the source each triangle of Mesh is what is left of.
func (s *Simplifier) Left() []int32 {
	out := make([]int32, 0, s.triangles)
	for c := 0; c < len(s.cornerWedge); c += 3 {
		if s.cornerWedge[c] != none {
			out = append(out, int32(c/3))
		}
	}
	return out
}

func (s *Simplifier) extract(sources bool) (out *Mesh, source []int32) {
	k := &s.crease
	if k.triangles != s.triangles { // not fitted
		k = &creases{}
	}
	used := newRanks(len(s.wedgeVertex))
	for _, w := range s.cornerWedge {
		if w != none {
			used.put(w)
		}
	}
	wedges := used.number()
	// Vertices of wedges, and the second ones of those that have a crease.
	number := make([]uint32, wedges+k.count())
	out = s.reserve(len(number))
	if sources {
		source = make([]int32, 0, len(number))
	}
	box := s.attributeBox()
	for c, w := range s.cornerWedge {
		if w == none {
			continue
		}
		i, corner := used.of(w), uint32(len(out.Indices))
		if k.cut(corner) {
			i = uint32(wedges) + k.wedges.of(w)
		}
		if number[i] == 0 {
			v := s.emit(out, w, &box)
			number[i] = uint32(len(out.Positions))
			if n := k.normal(w, corner); n != nil {
				out.Normals[number[i]-1] = s.unitNormal(n.double(), s.wedges.source(w))
			}
			if sources {
				source = append(source, v)
			}
		}
		out.Indices = append(out.Indices, number[i]-1)
		if s.in.Groups != nil && c%3 == 0 {
			out.Groups = append(out.Groups, s.in.Groups[c/3])
		}
	}
	return out, source
}

// reserve makes room for the triangles that are left and so many vertices.
func (s *surface) reserve(vertices int) *Mesh {
	out := &Mesh{
		Positions: make([]geom.Vec3, 0, vertices),
		Indices:   make([]uint32, 0, 3*s.triangles),
	}
	if s.in.Normals != nil {
		out.Normals = make([][3]float32, 0, vertices)
	}
	for i, uv := range s.in.UV {
		if uv != nil {
			out.UV[i] = make([][2]float32, 0, vertices)
		}
	}
	if s.in.Colors != nil {
		out.Colors = make([][4]float32, 0, vertices)
	}
	if s.in.Groups != nil {
		out.Groups = make([]int32, 0, s.triangles)
	}
	return out
}

// attributeBox is the range of the source's attributes.
type attributeBox struct{ min, max [maxAttributes]float32 }

func (s *surface) attributeBox() attributeBox {
	var b attributeBox
	for k := range b.min {
		b.min[k], b.max[k] = inf, -inf
	}
	k0 := 0
	if s.in.Normals != nil {
		k0 = 3
	}
	extend := func(k int, x float32) {
		x = float32(finite(x))
		b.min[k] = min(b.min[k], x)
		b.max[k] = max(b.max[k], x)
	}
	for _, uv := range s.in.UV {
		for _, x := range uv {
			extend(k0, x[0])
			extend(k0+1, x[1])
		}
		if uv != nil {
			k0 += 2
		}
	}
	for _, x := range s.in.Colors {
		for i := range 4 {
			extend(k0+i, x[i])
		}
	}
	return b
}

// emit appends a wedge as a vertex and returns the source vertex that it
// copies, or -1.
func (s *Simplifier) emit(out *Mesh, w uint32, box *attributeBox) int32 {
	vertex, v := s.wedgeVertex[w], s.wedges.source(w)
	p := &s.vertices[vertex]
	at, came := s.in.Positions[v], false
	switch {
	case p.flags&flagMoved != 0:
		at = geom.FromF32(p.pos).Add(s.centre)
	case p.flags&flagLocked != 0:
		// A wedge that came from elsewhere has attributes of its own.
		if there := s.in.Positions[s.fixed[vertex]]; there != at {
			at, came = there, true
		}
	}
	out.Positions = append(out.Positions, at)
	if p.flags&flagLocked != 0 && !came && !s.welds(v) {
		s.copyAttributes(out, v)
		return int32(v)
	}
	r := s.record(w)[1:]
	k := 0
	get := func(own float32) float32 {
		x := float32(float64(r[3*k]) / float64(s.scale[k]))
		if x != x { // very large numbers met
			x = float32(finite(own))
		}
		x = max(box.min[k], min(box.max[k], x))
		k++
		return x
	}
	if s.in.Normals != nil {
		n := vec{float64(r[0]), float64(r[3]), float64(r[6])}
		k = 3
		out.Normals = append(out.Normals, s.unitNormal(n, v))
	}
	for i, uv := range s.in.UV {
		if uv != nil {
			own := uv[v]
			out.UV[i] = append(out.UV[i], [2]float32{get(own[0]), get(own[1])})
		}
	}
	if s.in.Colors != nil {
		own := s.in.Colors[v]
		out.Colors = append(out.Colors, [4]float32{get(own[0]), get(own[1]), get(own[2]), get(own[3])})
	}
	return -1
}

// copyAttributes appends a source vertex's attributes.
func (s *surface) copyAttributes(out *Mesh, v uint32) {
	if s.in.Normals != nil {
		out.Normals = append(out.Normals, s.in.Normals[v])
	}
	for i, uv := range s.in.UV {
		if uv != nil {
			out.UV[i] = append(out.UV[i], uv[v])
		}
	}
	if s.in.Colors != nil {
		out.Colors = append(out.Colors, s.in.Colors[v])
	}
}

// unitNormal returns a wedge's normal with length 1.
func (s *surface) unitNormal(n vec, v uint32) [3]float32 {
	l := math.Sqrt(n.length2())
	if !(l > 0 && l <= math.MaxFloat64) {
		// Opposite or very large normals met: any one of the source will do.
		a := s.in.Normals[v]
		n = vec{finite(a[0]), finite(a[1]), finite(a[2])}
		if l = math.Sqrt(n.length2()); !(l > 0) {
			return [3]float32{0, 1, 0}
		}
	}
	return n.scale(1 / l).f32()
}
