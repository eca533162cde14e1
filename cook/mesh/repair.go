package mesh

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// leastLength is the length from which a stored direction can be told: packing takes
// what is shorter for none.
const leastLength = 1e-6

// RepairNormals gives vertices whose normal has no direction (zero, or not
// finite) the normal of their own face; vertices that several such faces share
// are split. Normals that are merely short are made one unit long. It returns
// how many vertices got one. A vertex of faces without area alone gets +Z and
// does not count: nothing is seen of it. Slices that change are replaced, not written into.
func (m *Mesh) RepairNormals() (repaired int) {
	if m.Normals == nil {
		return 0
	}
	bad := make(map[uint32]bool) // true once the vertex has a face's normal
	cloned := false
	for i, n := range m.Normals {
		l := math.Sqrt(float64(float64(n[0])*float64(n[0])) + float64(float64(n[1])*float64(n[1])) + float64(float64(n[2])*float64(n[2])))
		if l > leastLength && l <= math.MaxFloat32 {
			continue
		}
		if !cloned {
			m.Normals, cloned = slices.Clone(m.Normals), true
		}
		if l > 0 && l <= math.MaxFloat64 {
			m.Normals[i] = [3]float32{float32(float64(n[0]) / l), float32(float64(n[1]) / l), float32(float64(n[2]) / l)}
			continue
		}
		m.Normals[i] = [3]float32{0, 0, 1}
		bad[uint32(i)] = false
	}
	if len(bad) == 0 {
		return 0
	}
	m.faceNormals(bad)
	for _, done := range bad {
		if done {
			repaired++
		}
	}
	return repaired
}

// Directed reports whether each normal and each tangent that is there has a direction, so
// that RepairNormals and RepairTangents give none to any vertex.
func (m *Mesh) Directed() bool {
	for _, n := range m.Normals {
		if !hasLength(n[0], n[1], n[2]) {
			return false
		}
	}
	for _, t := range m.Tangents {
		if !hasLength(t[0], t[1], t[2]) {
			return false
		}
	}
	return true
}

func hasLength(x32, y32, z32 float32) bool {
	x, y, z := float64(x32), float64(y32), float64(z32)
	l := math.Sqrt(float64(x*x) + float64(y*y) + float64(z*z))
	return l > 0 && l <= math.MaxFloat64
}

// faceNormals gives the corners at the vertices in bad their face's normal.
func (m *Mesh) faceNormals(bad map[uint32]bool) {
	type twin struct {
		vertex uint32
		normal [3]float32
	}
	twins := make(map[twin]uint32)
	m.own()
	m.Tangents = slices.Clip(m.Tangents)
	for i := 0; i+2 < len(m.Indices); i += 3 {
		t := m.Indices[i : i+3]
		normal, ok := m.faceNormal(t)
		if !ok {
			continue
		}
		for k, v := range t {
			done, has := bad[v]
			switch {
			case !has:
				continue
			case !done:
				bad[v], m.Normals[v] = true, normal
			case m.Normals[v] != normal:
				w, ok := twins[twin{v, normal}]
				if !ok {
					w = m.copyVertex(v)
					m.Normals[w] = normal
					twins[twin{v, normal}] = w
				}
				t[k] = w
			}
		}
	}
}

// faceNormal returns the unit normal of a triangle; false when it has no area.
func (m *Mesh) faceNormal(t []uint32) ([3]float32, bool) {
	a, b, c := m.Positions[t[0]], m.Positions[t[1]], m.Positions[t[2]]
	n := b.Sub(a).Cross(c.Sub(a))
	if l := n.Len(); !(l > 0 && l <= math.MaxFloat64) {
		return [3]float32{}, false
	}
	return n.Normalize(0, geom.Vec3{0, 0, 1}).F32(), true
}

// copyVertex appends a copy of v and returns its number. The mesh owns its
// slices.
func (m *Mesh) copyVertex(v uint32) uint32 {
	w := uint32(len(m.Positions))
	m.Positions = append(m.Positions, m.Positions[v])
	m.Normals = append(m.Normals, m.Normals[v])
	m.Tangents = appendOwn(m.Tangents, v)
	for k := range m.UV {
		m.UV[k] = appendOwn(m.UV[k], v)
	}
	m.Colors = appendOwn(m.Colors, v)
	return w
}

// RepairTangents gives vertices whose tangent has no direction one that is
// generated from the texture coordinates, or some direction at a right angle
// to the normal without them. Tangents that are sound stay as they are. It
// returns how many vertices had none. The normals must be sound: see
// RepairNormals.
func (m *Mesh) RepairTangents() (repaired int) {
	if m.Tangents == nil || m.Normals == nil {
		return 0
	}
	given := slices.Clone(m.Tangents)
	sound := make([]bool, len(given))
	for i, t := range given {
		x, y, z := float64(t[0]), float64(t[1]), float64(t[2])
		l := math.Sqrt(float64(x*x) + float64(y*y) + float64(z*z))
		if sound[i] = l > 0 && l <= math.MaxFloat64; !sound[i] {
			repaired++
		} else if l <= leastLength || l > math.MaxFloat32 {
			given[i] = [4]float32{float32(x / l), float32(y / l), float32(z / l), t[3]}
		}
	}
	m.Tangents = given
	if repaired == 0 {
		return 0
	}
	corners := m.Indices
	if m.UV[0] == nil {
		for i := range given {
			if !sound[i] {
				given[i] = defaultTangent(unitOf(m.Normals[i]), 1)
			}
		}
		return repaired
	}
	m.GenerateTangents()
	for c, v := range corners {
		if sound[v] {
			m.Tangents[v] = given[v]
			if m.Indices[c] != v { // a copy was made, so the indices are its own
				m.Indices[c] = v
			}
		}
	}
	return repaired
}

func unitOf(n [3]float32) vec3 {
	u, _ := vec3{n[0], n[1], n[2]}.unit()
	return u
}
