package cook

import (
	"math"

	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
)

// levelSource is the full geometry of a tile on its way into coarser levels:
// one joint mesh, so that neighbouring materials and objects stay closed where
// they touch, and the triangles are spent where they are seen.
type levelSource struct {
	joint  mesh.Mesh
	groups []int32    // by triangle: index into names
	names  []drawable // without geometry
}

// newLevelSource joins the finest geometry of a tile's drawables.
func newLevelSource(all []drawable) *levelSource {
	s := &levelSource{}
	s.reserve(all)
	for i := range all {
		d := &all[i]
		if d.level > 0 {
			continue // coarser levels of authored groups
		}
		group := int32(len(s.names))
		named := *d
		named.packed, named.instance, named.transform = nil, instanceKey{}, [16]float32{}
		s.names = append(s.names, named)
		s.append(d)
		for range len(d.packed.Indices) / 3 {
			s.groups = append(s.groups, group)
		}
	}
	s.dropUnusedAttributes()
	return s
}

// reserve makes room for the geometry of drawables.
func (s *levelSource) reserve(all []drawable) {
	vertices, indices := 0, 0
	for i := range all {
		if d := &all[i]; d.level == 0 {
			vertices += len(d.packed.Vertices) / vertex.Size
			indices += len(d.packed.Indices)
		}
	}
	m := &s.joint
	m.Positions = make([]geom.Vec3, 0, vertices)
	m.Normals = make([][3]float32, 0, vertices)
	m.Colors = make([][4]float32, 0, vertices)
	for set := range m.UV {
		m.UV[set] = make([][2]float32, 0, vertices)
	}
	m.Indices = make([]uint32, 0, indices)
	s.groups = make([]int32, 0, indices/3)
}

// append adds a drawable's geometry, in world space.
func (s *levelSource) append(d *drawable) {
	if d.instance == (instanceKey{}) {
		d.packed.AppendTo(&s.joint)
		return
	}
	var own mesh.Mesh
	d.packed.AppendTo(&own)
	var world geom.Mat4
	for i, v := range d.transform {
		world[i] = float64(v)
	}
	own.Transform(&world)
	m, base := &s.joint, uint32(len(s.joint.Positions))
	for _, p := range own.Positions {
		m.Positions = append(m.Positions, geom.FromF32(p.F32()))
	}
	m.Normals = append(m.Normals, own.Normals...)
	m.Colors = append(m.Colors, own.Colors...)
	for set := range m.UV {
		m.UV[set] = append(m.UV[set], own.UV[set]...)
	}
	for _, v := range own.Indices {
		m.Indices = append(m.Indices, base+v)
	}
}

// dropUnusedAttributes forgets attributes that are the same everywhere: what
// Pack fills in for absent ones.
func (s *levelSource) dropUnusedAttributes() {
	m := &s.joint
	for set := range m.UV {
		if same(m.UV[set], [2]float32{0, 1}) {
			m.UV[set] = nil
		}
	}
	if same(m.Colors, [4]float32{1, 1, 1, 1}) {
		m.Colors = nil
	}
}

func same[T comparable](list []T, v T) bool {
	for _, x := range list {
		if x != v {
			return false
		}
	}
	return true
}

// borderPlaces collects where vertices lie on the sides of a cell and belong
// to an edge along the side. Geometry was cut there, and the neighbouring tile
// has the same edge: where these vertices stay, no crack opens between tiles
// at different levels. Triangles that lie wholly in a side were not cut.
// Without a cell there are none.
func (s *levelSource) borderPlaces(cell *geom.Box) map[geom.Vec3]bool {
	if cell == nil {
		return nil
	}
	m := &s.joint
	var planes [6]float32
	for a := range 3 {
		planes[2*a], planes[2*a+1] = float32(cell.Min[a]), float32(cell.Max[a])
	}
	on := make([]uint8, len(m.Positions)) // bit k: on planes[k]
	for i := range m.Positions {
		for k, plane := range planes {
			if float32(m.Positions[i][k/2]) == plane {
				on[i] |= 1 << k
			}
		}
	}
	out := map[geom.Vec3]bool{}
	for i := 0; i+2 < len(m.Indices); i += 3 {
		t := m.Indices[i : i+3]
		all := on[t[0]] & on[t[1]] & on[t[2]]
		for k := range t {
			if a, b := t[k], t[(k+1)%3]; on[a]&on[b]&^all != 0 {
				out[m.Positions[a]], out[m.Positions[b]] = true, true
			}
		}
	}
	return out
}

// lockedIn marks the vertices at the given places, which are borderPlaces of
// the cell.
func lockedIn(m *simplify.Mesh, places map[geom.Vec3]bool, cell *geom.Box) []bool {
	if len(places) == 0 {
		return nil
	}
	out := make([]bool, len(m.Positions))
	for i, p := range m.Positions {
		out[i] = onSide(p, cell) && places[p]
	}
	return out
}

// onSide reports whether a point lies in the plane of a side of a cell, as
// vertices know it.
func onSide(p geom.Vec3, cell *geom.Box) bool {
	for a, x := range p {
		if x := float32(x); x == float32(cell.Min[a]) || x == float32(cell.Max[a]) {
			return true
		}
	}
	return false
}

// mesh returns the input of the simplifier.
func (s *levelSource) mesh() *simplify.Mesh {
	return &simplify.Mesh{
		Positions: s.joint.Positions, Normals: s.joint.Normals, UV: s.joint.UV, Colors: s.joint.Colors,
		Indices: s.joint.Indices, Groups: s.groups,
	}
}

// triangles returns the number of triangles of the finest geometry.
func (s *levelSource) triangles() int { return len(s.joint.Indices) / 3 }

// take splits a simplified mesh by drawable. A nil entry has no triangle left.
func (s *levelSource) take(m *simplify.Mesh) []*mesh.Mesh {
	out := make([]*mesh.Mesh, len(s.names))
	remap := make([]uint32, len(m.Positions)) // vertex in the group that stamp names
	stamp := make([]int32, len(m.Positions))  // group + 1
	byGroup := make([][]uint32, len(s.names))
	count := make([]int, len(s.names))
	for _, g := range m.Groups {
		count[g] += 3
	}
	for t, g := range m.Groups {
		if byGroup[g] == nil {
			byGroup[g] = make([]uint32, 0, count[g])
		}
		byGroup[g] = append(byGroup[g], m.Indices[3*t:3*t+3]...)
	}
	var used []uint32 // vertices of a group, in the order of first use
	for g, indices := range byGroup {
		if len(indices) == 0 {
			continue
		}
		used = used[:0]
		for i, v := range indices {
			if stamp[v] != int32(g)+1 {
				stamp[v], remap[v] = int32(g)+1, uint32(len(used))
				used = append(used, v)
			}
			indices[i] = remap[v]
		}
		o := &mesh.Mesh{
			Indices:   indices,
			Positions: pick(m.Positions, used), Normals: pick(m.Normals, used), Colors: pick(m.Colors, used),
		}
		for set := range o.UV {
			o.UV[set] = pick(m.UV[set], used)
		}
		out[g] = o
	}
	return out
}

// pick returns some elements of a list, or nil if that is nil.
func pick[T any](from []T, which []uint32) []T {
	if from == nil {
		return nil
	}
	to := make([]T, len(which))
	for i, v := range which {
		to[i] = from[v]
	}
	return to
}

// atLeast returns ratio of n, rounded, and at least 1.
func atLeast(ratio float64, n int) int { return max(1, int(math.Round(ratio*float64(n)))) }
