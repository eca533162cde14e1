package border

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// Settle returns a mesh, the full one or one with the border of a finer level, with the
// border of this level. What moves takes the attributes that the same surface has where
// it goes to. The mesh itself stays as it is.
func (l *Level) Settle(m *simplify.Mesh) *simplify.Mesh {
	if len(l.moved) == 0 {
		return m
	}
	m, stays := l.detach(m)
	s := newSettler(l, m, stays)
	out := clone(m)
	for v, to := range s.to {
		if to == nil {
			continue
		}
		out.Positions[v] = *to
		a := s.from[v]
		if a < 0 {
			s.extend(out, uint32(v))
			continue
		}
		if m.Normals != nil {
			out.Normals[v] = m.Normals[a]
		}
		for set := range m.UV {
			if m.UV[set] != nil {
				out.UV[set][v] = m.UV[set][a]
			}
		}
		if m.Colors != nil {
			out.Colors[v] = m.Colors[a]
		}
	}
	DropFlat(out)
	return out
}

// detach gives walls that lie in a side vertices of their own where the border moves, and
// says of all vertices whether they stay. The neighbour knows nothing of such a wall, so
// the border does not mind it; moved along with what was cut, it would lose its corners.
func (l *Level) detach(m *simplify.Mesh) (*simplify.Mesh, []bool) {
	stays := make([]bool, len(m.Positions))
	on := sidesOf(m.Positions, &l.cell)
	out := *m
	own := map[uint32]uint32{}
	for t := range m.Triangles() {
		i := m.Indices[3*t : 3*t+3]
		in := on[i[0]] & on[i[1]] & on[i[2]]
		if in == 0 || l.cut(m, i, in) {
			continue
		}
		for k, v := range i {
			if _, ok := l.moved[m.Positions[v]]; !ok {
				continue
			}
			if len(own) == 0 {
				out = *clone(m)
			}
			n, ok := own[v]
			if !ok {
				n = uint32(len(out.Positions))
				own[v] = n
				copyVertex(&out, v)
				stays = append(stays, true)
			}
			out.Indices[3*t+k] = n
		}
	}
	return &out, stays
}

// cut reports whether a triangle that lies in sides is of the border, into which
// simplification has laid it, and no wall.
func (l *Level) cut(m *simplify.Mesh, triangle []uint32, in uint8) bool {
	for _, v := range triangle {
		p := m.Positions[v]
		if _, ok := l.moved[p]; !ok && !l.kept[p] {
			return false
		}
	}
	for side := range sides {
		if in>>side&1 == 0 {
			continue
		}
		wall := true
		for _, v := range triangle {
			wall = wall && l.walls[side][m.Positions[v]]
		}
		if wall {
			return false
		}
	}
	return true
}

// clone returns a mesh that shares nothing with another.
func clone(m *simplify.Mesh) *simplify.Mesh {
	out := *m
	out.Positions, out.Indices = slices.Clone(m.Positions), slices.Clone(m.Indices)
	out.Normals, out.Colors = slices.Clone(m.Normals), slices.Clone(m.Colors)
	for set := range out.UV {
		out.UV[set] = slices.Clone(m.UV[set])
	}
	out.Groups = slices.Clone(m.Groups)
	return &out
}

// copyVertex appends a copy of a vertex to a mesh.
func copyVertex(m *simplify.Mesh, v uint32) {
	m.Positions = append(m.Positions, m.Positions[v])
	if m.Normals != nil {
		m.Normals = append(m.Normals, m.Normals[v])
	}
	for set := range m.UV {
		if m.UV[set] != nil {
			m.UV[set] = append(m.UV[set], m.UV[set][v])
		}
	}
	if m.Colors != nil {
		m.Colors = append(m.Colors, m.Colors[v])
	}
}

// settler finds whose attributes vertices get that move.
type settler struct {
	l    *Level
	m    *simplify.Mesh
	to   []*geom.Vec3 // by vertex, nil for those that stay
	from []int32      // by vertex that moves: a vertex at its new place, or -1

	largest map[uint32]int32 // triangles of those without one there
}

// wedge is a vertex by what it is.
type wedge struct {
	at     geom.Vec3
	normal [3]float32
	uv     [2][2]float32
	color  [4]float32
	group  int32
}

func newSettler(l *Level, m *simplify.Mesh, stays []bool) *settler {
	s := &settler{l: l, m: m, to: make([]*geom.Vec3, len(m.Positions)), from: make([]int32, len(m.Positions))}
	places := map[geom.Vec3]*geom.Vec3{}
	moved := l.divide(m, stays)
	for v, p := range m.Positions {
		s.from[v] = -1
		if stays[v] || !l.on(p) {
			continue
		}
		if to, ok := moved[p]; ok {
			if places[to] == nil {
				places[to] = &to
			}
			s.to[v] = places[to]
		}
	}
	s.flood(places)
	s.spread()
	return s
}

// spread finds for each vertex that goes beyond the surface that it is of the largest
// triangle that it has.
func (s *settler) spread() {
	s.largest = map[uint32]int32{}
	areas := map[uint32]float64{}
	for t := range s.m.Triangles() {
		i := s.m.Indices[3*t : 3*t+3]
		a := s.m.Positions[i[0]]
		area := -1.0
		for _, v := range i {
			if s.to[v] == nil || s.from[v] >= 0 {
				continue
			}
			if area < 0 {
				area = s.m.Positions[i[1]].Sub(a).Cross(s.m.Positions[i[2]].Sub(a)).Len()
			}
			if area > areas[v] {
				areas[v], s.largest[v] = area, int32(t)
			}
		}
	}
}

// mostExtended is how many times its size the texture of a triangle goes on beyond it.
const mostExtended = 8

// extend gives a vertex that goes beyond its surface the texture coordinates that this
// would have there, so that the texture is not stretched. Other attributes stay.
func (s *settler) extend(out *simplify.Mesh, v uint32) {
	t, ok := s.largest[v]
	if !ok {
		return
	}
	i := s.m.Indices[3*t : 3*t+3]
	a, b, c := s.m.Positions[i[0]], s.m.Positions[i[1]], s.m.Positions[i[2]]
	n := b.Sub(a).Cross(c.Sub(a))
	d := n.Dot(n)
	p := *s.to[v]
	part := [3]float64{
		b.Sub(p).Cross(c.Sub(p)).Dot(n) / d, c.Sub(p).Cross(a.Sub(p)).Dot(n) / d, a.Sub(p).Cross(b.Sub(p)).Dot(n) / d,
	}
	for _, x := range part {
		if !(math.Abs(x) <= mostExtended) {
			return
		}
	}
	for set := range s.m.UV {
		uv := s.m.UV[set]
		if uv == nil {
			continue
		}
		for k := range 2 {
			sum := 0.0
			for j, w := range i {
				sum += float64(part[j] * float64(uv[w][k]))
			}
			out.UV[set][v][k] = float32(sum)
		}
	}
}

// flood goes along edges, from the vertices that stay to those that come to them.
func (s *settler) flood(places map[geom.Vec3]*geom.Vec3) {
	m := s.m
	// target is where a vertex ends up, nil away from places to which others move.
	target := func(v uint32) *geom.Vec3 {
		if s.to[v] != nil {
			return s.to[v]
		}
		return places[m.Positions[v]]
	}
	number := map[wedge]int32{} // of vertices that are one
	first := []uint32{}         // vertex of each
	var next [][]int32
	of := make(map[uint32]int32)
	numberOf := func(v uint32, group int32) int32 {
		w := wedgeOf(m, v, group)
		n, ok := number[w]
		if !ok {
			n = int32(len(first))
			number[w] = n
			first, next = append(first, v), append(next, nil)
		}
		of[v] = n
		return n
	}
	for t := range m.Triangles() {
		group := int32(0)
		if m.Groups != nil {
			group = m.Groups[t]
		}
		for k := range 3 {
			u, v := m.Indices[3*t+k], m.Indices[3*t+(k+1)%3]
			if to := target(u); to == nil || to != target(v) {
				if to != nil {
					numberOf(u, group)
				}
				continue
			}
			a, b := numberOf(u, group), numberOf(v, group)
			next[a], next[b] = append(next[a], b), append(next[b], a)
		}
	}
	source := make([]int32, len(first))
	var queue []int32
	for n, v := range first {
		source[n] = -1
		if s.to[v] == nil {
			source[n] = int32(v)
			queue = append(queue, int32(n))
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, k := range next[n] {
			if source[k] < 0 {
				source[k] = source[n]
				queue = append(queue, k)
			}
		}
	}
	for v, n := range of {
		if s.to[v] != nil {
			s.from[v] = source[n]
		}
	}
}

func wedgeOf(m *simplify.Mesh, v uint32, group int32) wedge {
	w := wedge{at: m.Positions[v], group: group}
	if m.Normals != nil {
		w.normal = m.Normals[v]
	}
	for set := range m.UV {
		if m.UV[set] != nil {
			w.uv[set] = m.UV[set][v]
		}
	}
	if m.Colors != nil {
		w.color = m.Colors[v]
	}
	return w
}
