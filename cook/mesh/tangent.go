package mesh

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// GenerateTangents computes tangents from positions, normals and the first UV
// set as MikkTSpace does, for v bottom-up, as glTF and the container want it.
// A vertex whose corners get different tangents is split; slices of the source
// are not written. Meshes without UVs or normals get none; where no triangle
// tells a direction, vertices get some tangent of positive handedness, as from
// tools that run the reference on glTF's UVs and negate its signs.
func (m *Mesh) GenerateTangents() {
	if m.UV[0] == nil || m.Normals == nil {
		return
	}
	g := newTangentSpace(m)
	g.adopt()
	s := splitter{m: m, taken: make([]bool, len(m.Positions))}
	tangents := g.tangents()
	m.Tangents = make([][4]float32, len(m.Positions))
	for c, v := range m.Indices[:g.n] {
		t := [4]float32{3: 1}
		if id := g.group[c]; id != 0 {
			t = tangents[id-1]
		}
		if t[0] == 0 && t[1] == 0 && t[2] == 0 {
			t = defaultTangent(g.norm[v], t[3])
		}
		if !s.taken[v] {
			s.taken[v], m.Tangents[v] = true, t
		} else if m.Tangents[v] != t {
			m.Indices[c] = s.split(v, t)
		}
	}
	for v, taken := range s.taken {
		if !taken {
			m.Tangents[v] = defaultTangent(g.norm[v], 1)
		}
	}
}

// UVsHaveDirections reports whether each triangle with an area has directions in which its
// first texture coordinates grow. Then the tangents that GenerateTangents gives a corner
// follow from the triangles alone that have a corner in the same place, and from their
// order; else also from what lies around those.
func (m *Mesh) UVsHaveDirections() bool {
	g := tangentSpace{m: m}
	for f := range len(m.Indices) / 3 {
		if g.face(f).flags&faceAny != 0 {
			return false
		}
	}
	return true
}

// splitter makes copies of vertices with other tangents.
type splitter struct {
	m     *Mesh
	taken []bool // per vertex of the source: has a tangent
	twins map[twinKey]uint32
}

type twinKey struct {
	vertex  uint32
	tangent [4]float32
}

// split returns the copy of v that has the tangent t.
func (s *splitter) split(v uint32, t [4]float32) uint32 {
	m, key := s.m, twinKey{v, t}
	if w, ok := s.twins[key]; ok {
		return w
	}
	if s.twins == nil {
		s.twins = map[twinKey]uint32{}
		m.own()
	}
	w := m.copyVertex(v)
	s.twins[key], m.Tangents[w] = w, t
	return w
}

// own makes the slices safe to append to and the indices safe to change: the
// mesh may share them with others.
func (m *Mesh) own() {
	m.Positions, m.Normals = slices.Clip(m.Positions), slices.Clip(m.Normals)
	for k := range m.UV {
		m.UV[k] = slices.Clip(m.UV[k])
	}
	m.Colors, m.Indices = slices.Clip(m.Colors), slices.Clone(m.Indices)
}

func appendOwn[T any](a []T, v uint32) []T {
	if a == nil {
		return nil
	}
	return append(a, a[v])
}

// acos is the arc cosine after Abramowitz and Stegun 4.4.46, good to 2e-8.
// math.Acos differs in the last bit between architectures.
func acos(x float64) float64 {
	a := min(math.Abs(x), 1)
	p := float64(-0.0012624911*a) + 0.0066700901
	p = float64(p*a) - 0.0170881256
	p = float64(p*a) + 0.0308918810
	p = float64(p*a) - 0.0501743046
	p = float64(p*a) + 0.0889789874
	p = float64(p*a) - 0.2145988016
	p = float64(p*a) + 1.5707963050
	p = float64(p * math.Sqrt(1-a))
	if x < 0 {
		return math.Pi - p
	}
	return p
}

// perpendicular returns some unit vector at a right angle to n, always the
// same one.
func perpendicular(n geom.Vec3) geom.Vec3 {
	axis := geom.Vec3{1, 0, 0}
	if math.Abs(n[0]) > 0.9 {
		axis = geom.Vec3{0, 1, 0}
	}
	d := n.Dot(axis)
	axis = geom.Vec3{axis[0] - float64(d*n[0]), axis[1] - float64(d*n[1]), axis[2] - float64(d*n[2])}
	return axis.Normalize(0, geom.Vec3{1, 0, 0})
}
