package simplify

import (
	"errors"
	"fmt"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// ErrMesh is wrapped by the errors of New and Simplify: the mesh breaks a rule
// that the error states.
var ErrMesh = errors.New("simplify: unusable mesh")

// Mesh is a triangle list. Positions are in metres. Optional attributes are
// empty or as long as Positions.
type Mesh struct {
	Positions []geom.Vec3
	Normals   [][3]float32
	UV        [2][][2]float32
	Colors    [][4]float32
	Indices   []uint32 // three per triangle
	// Groups is empty or holds a number per triangle, such as its material or
	// part. Where groups meet, the mesh has a seam: triangles of different
	// groups share positions but no attributes.
	Groups []int32
}

// Equal reports whether two meshes have the same triangles, vertices and groups, in
// the same order. A mesh with NaN is not equal to itself.
func (m *Mesh) Equal(o *Mesh) bool {
	return slices.Equal(m.Indices, o.Indices) && slices.Equal(m.Groups, o.Groups) && slices.Equal(m.Positions, o.Positions) &&
		slices.Equal(m.Normals, o.Normals) && slices.Equal(m.UV[0], o.UV[0]) && slices.Equal(m.UV[1], o.UV[1]) &&
		slices.Equal(m.Colors, o.Colors)
}

// Triangles returns the number of triangles.
func (m *Mesh) Triangles() int { return len(m.Indices) / 3 }

// SeamMode says what may happen to seams, the lines along which attributes or
// groups change at once.
type SeamMode uint8

// The seam modes.
const (
	// SeamsRelax keeps seams while it can, and lets sides grow together at the
	// price of their attributes' difference when no other collapse is left.
	SeamsRelax SeamMode = iota
	// SeamsKeep never joins two sides of a seam. A mesh with many seams can
	// stop short of its target.
	SeamsKeep
	// SeamsWeld does away with hard edges from the start: vertices at one place
	// that differ in nothing but their normals share the mean of these. Other
	// seams are relaxed at once. For far proxies of flat-shaded models, where
	// every face has its own vertices. Groups stay apart.
	SeamsWeld
)

// Weights say how much attributes count against geometry. The unit is that of
// the geometric error: an attribute's deviation is multiplied by its weight
// and by a length, and then means metres. For normals and colours the length
// is the typical edge of the source mesh, for texture coordinates the length
// on the surface that one unit spans. Zero stands for the default, a negative
// weight for "does not count".
type Weights struct {
	Normal float64 // default 0.31 on smooth meshes, down to half of that on those with many seams
	UV     float64 // default 0.1, both sets
	Color  float64 // default 0.5
}

// Options control a Simplifier. The zero value keeps nothing locked, relaxes
// seams when nothing else is left, and removes no components.
type Options struct {
	// Locked is empty or says for each vertex whether it must stay as it is: it
	// neither moves nor vanishes, and keeps its attributes bit for bit. What
	// tiles share is locked so that neighbours fit. Locking one vertex locks all
	// others at its position.
	Locked []bool
	// LockBorder locks every vertex on an open edge.
	LockBorder bool
	Seams      SeamMode
	Weights    Weights
	// ColorSeams holds the line of a seam by how far the colours on its two sides
	// differ, and not all seams alike. For meshes whose colours say how they look.
	ColorSeams bool
	// PruneBelow lets connected components vanish whose box has a diagonal of
	// less than so many metres. A component goes when that costs less than
	// collapses elsewhere; its diagonal counts as error and must keep to the
	// limit. Components with locked vertices stay. 0 means never, +Inf any size;
	// models of many small parts need it to get to a few percent.
	PruneBelow float64
	// Parts is empty or numbers the part of each triangle, from 0: what vanishes
	// as a whole, for PartCosts of that part, instead of components. PruneBelow
	// bounds their size too. Collapses leave two triangles of a part at least if
	// PartWhole says so, as of a window: half of it would be worse than none.
	Parts     []int32
	PartCosts []float64 // in the unit of collapses: square metres times the square of a distance; +Inf means never
	PartWhole []bool
	// Sloppy falls back to clustering vertices in a grid when collapses do not
	// reach the target: seams and shading are lost, but not the outline. Combine
	// it with PruneBelow, or components are flattened before it comes to that.
	// Locked vertices stay where they are, but can lose their last triangle.
	Sloppy bool
	// Creases is how many places may get a second normal in the result, as a part
	// of the places left: normals may then turn at once along an edge, as they do
	// along ridges that the level has no triangles for. Each adds a vertex. 0
	// means 0.4, a negative number none. Levels with few triangles look better for
	// it; NoRefine goes without.
	Creases float64
	// NoRefine skips the fitting of positions and normals to the source after
	// the collapses, and with it the measurement: Result.Error is then the
	// greatest estimate, MeanError 0.
	NoRefine bool
}

// Simplify is New, one Reduce and Mesh.
func Simplify(m *Mesh, o Options, target int, maxError float64) (*Mesh, Result, error) {
	s, err := New(m, o)
	if err != nil {
		return nil, Result{}, err
	}
	r := s.Reduce(target, maxError)
	return s.Mesh(), r, nil
}

// check refuses meshes that the rest of the package could not work on. It returns
// the box of the positions.
func check(m *Mesh, o *Options) (geom.Box, error) {
	n := len(m.Positions)
	if n > maxVertices || len(m.Indices) > maxCorners {
		return geom.Box{}, fmt.Errorf("%w: %d vertices and %d indices, at most %d and %d are possible: split it",
			ErrMesh, n, len(m.Indices), maxVertices, maxCorners)
	}
	if len(m.Indices)%3 != 0 {
		return geom.Box{}, fmt.Errorf("%w: %d indices are not whole triangles", ErrMesh, len(m.Indices))
	}
	for _, a := range []struct {
		name string
		len  int
		want int
	}{
		{"Normals", len(m.Normals), n},
		{"UV[0]", len(m.UV[0]), n},
		{"UV[1]", len(m.UV[1]), n},
		{"Colors", len(m.Colors), n},
		{"Groups", len(m.Groups), len(m.Indices) / 3},
		{"Options.Locked", len(o.Locked), n},
		{"Options.Parts", len(o.Parts), len(m.Indices) / 3},
	} {
		if a.len != 0 && a.len != a.want {
			return geom.Box{}, fmt.Errorf("%w: %s has length %d, not %d", ErrMesh, a.name, a.len, a.want)
		}
	}
	if len(o.Parts) > 0 {
		if err := checkParts(o); err != nil {
			return geom.Box{}, err
		}
	}
	if greatest(m.Indices) >= int64(n) {
		i := slices.IndexFunc(m.Indices, func(v uint32) bool { return int64(v) >= int64(n) })
		return geom.Box{}, fmt.Errorf("%w: Indices[%d] is %d, but there are %d vertices", ErrMesh, i, m.Indices[i], n)
	}
	box, ok := boxOf(m.Positions)
	if !ok {
		i := slices.IndexFunc(m.Positions, func(p geom.Vec3) bool { return !(within(p[0]) && within(p[1]) && within(p[2])) })
		return geom.Box{}, fmt.Errorf("%w: Positions[%d] is %v, not within +-%g", ErrMesh, i, m.Positions[i], maxCoordinate)
	}
	return box, nil
}

// greatest returns the greatest index of some triangles, -1 if there are none.
func greatest(indices []uint32) int64 {
	if len(indices) == 0 {
		return -1
	}
	most := uint32(0)
	for ; len(indices) >= 3; indices = indices[3:] {
		most = max(most, indices[0], indices[1], indices[2])
	}
	return int64(most)
}

// boxOf returns the box of some points, and whether it is within the limits. Unlike
// Extend it need not mind the signs of zeros.
func boxOf(points []geom.Vec3) (box geom.Box, ok bool) {
	if len(points) == 0 {
		return geom.EmptyBox(), true
	}
	low := vec{points[0][0], points[0][1], points[0][2]}
	high, sum := low, 0.0 // a NaN stays in the sum, but not in the box
	for i := range points {
		p := &points[i]
		x, y, z := p[0], p[1], p[2]
		sum += x + y + z
		if x < low.x {
			low.x = x
		} else if x > high.x {
			high.x = x
		}
		if y < low.y {
			low.y = y
		} else if y > high.y {
			high.y = y
		}
		if z < low.z {
			low.z = z
		} else if z > high.z {
			high.z = z
		}
	}
	ok = sum == sum && within(low.x) && within(low.y) && within(low.z) && within(high.x) && within(high.y) && within(high.z)
	return geom.Box{Min: geom.Vec3{low.x, low.y, low.z}, Max: geom.Vec3{high.x, high.y, high.z}}, ok
}

// Limits of a mesh. Vertices leave bits free in 32-bit numbers; coordinates
// leave room for their squares in single precision.
const (
	maxVertices   = 1 << 30
	maxCorners    = 1<<31 - 2
	maxCoordinate = 1e9
)

// within is false for NaN, too.
func within(x float64) bool { return -maxCoordinate <= x && x <= maxCoordinate }
