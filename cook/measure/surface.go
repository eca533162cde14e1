package measure

import (
	"math"
	"sync"

	"github.com/untoldkit/untold/internal/geom"
)

// Surface is a triangle list. It must not change while an Index of it is used.
type Surface struct {
	Positions []geom.Vec3
	Normals   [][3]float32 // per vertex, of any length; nil: shading is not compared
	Indices   []uint32     // three per triangle, each < len(Positions)
}

// Triangles returns the number of triangles.
func (s *Surface) Triangles() int { return len(s.Indices) / 3 }

// Diagonal returns the length of the diagonal of the box round all triangles;
// 0 if there are none.
func (s *Surface) Diagonal() float64 {
	box := geom.EmptyBox()
	for _, v := range s.Indices {
		box = box.Extend(s.Positions[v])
	}
	if box.IsEmpty() {
		return 0
	}
	return box.Size().Len()
}

// Index is a surface prepared for nearest-point queries. It is safe for
// concurrent use.
type Index struct {
	s     *Surface
	nodes []node
	order []uint32  // leaf order to triangle
	tris  []corners // in leaf order
	// sums are running sums of the triangles' areas, in the surface's order. Most queries need
	// none.
	sums func() []float64
}

// NewIndex prepares a surface. It takes about 200 bytes a triangle.
func NewIndex(s *Surface) *Index {
	x := &Index{s: s}
	x.build()
	n := s.Triangles()
	x.tris = make([]corners, n)
	for i, t := range x.order {
		x.tris[i] = corners{s.corner(t, 0), s.corner(t, 1), s.corner(t, 2)}
	}
	x.sums = sync.OnceValue(s.sums)
	return x
}

// sums returns running sums of the triangles' areas.
func (s *Surface) sums() []float64 {
	sums := make([]float64, s.Triangles())
	sum := 0.0
	for t := range sums {
		sum += s.area(uint32(t))
		sums[t] = sum
	}
	return sums
}

// area returns the area of a triangle.
func (s *Surface) area(t uint32) float64 {
	a := s.corner(t, 0)
	return float64(s.corner(t, 1).Sub(a).Cross(s.corner(t, 2).Sub(a)).Len() / 2)
}

// Surface returns what the index was made of.
func (x *Index) Surface() *Surface { return x.s }

// Area returns the sum of the areas of all triangles.
func (x *Index) Area() float64 { return last(x.sums()) }

func last(sums []float64) float64 {
	if len(sums) == 0 {
		return 0
	}
	return sums[len(sums)-1]
}

func (s *Surface) corner(t uint32, k int) geom.Vec3 { return s.Positions[s.Indices[3*int(t)+k]] }

// normal returns the interpolated unit normal at barycentric coordinates, the
// zero vector if the normals cancel out.
func (s *Surface) normal(t uint32, w [3]float64) geom.Vec3 {
	var n geom.Vec3
	for k := range w {
		v := s.Normals[s.Indices[3*int(t)+k]]
		n = n.Add(geom.FromF32(v).Scale(w[k]))
	}
	l := n.Len()
	if !(l > 1e-12) {
		return geom.Vec3{}
	}
	return n.Scale(1 / l)
}

// angle returns the angle between two unit vectors in degrees.
func angle(a, b geom.Vec3) float64 {
	// The arc tangent is exact where the arc cosine loses digits, near 0.
	return math.Atan2(a.Cross(b).Len(), a.Dot(b)) * (180 / math.Pi)
}
