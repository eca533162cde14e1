package border

import (
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
	s := newSettler(l, m)
	out := *m
	out.Positions = slices.Clone(m.Positions)
	out.Normals, out.Colors = slices.Clone(m.Normals), slices.Clone(m.Colors)
	for set := range out.UV {
		out.UV[set] = slices.Clone(m.UV[set])
	}
	for v, to := range s.to {
		if to == nil {
			continue
		}
		out.Positions[v] = *to
		a := s.from[v]
		if a < 0 {
			continue // the surface does not reach that far
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
	DropFlat(&out)
	return &out
}

// settler finds whose attributes vertices get that move.
type settler struct {
	l    *Level
	m    *simplify.Mesh
	to   []*geom.Vec3 // by vertex, nil for those that stay
	from []int32      // by vertex that moves: a vertex at its new place, or -1
}

// wedge is a vertex by what it is.
type wedge struct {
	at     geom.Vec3
	normal [3]float32
	uv     [2][2]float32
	color  [4]float32
	group  int32
}

func newSettler(l *Level, m *simplify.Mesh) *settler {
	s := &settler{l: l, m: m, to: make([]*geom.Vec3, len(m.Positions)), from: make([]int32, len(m.Positions))}
	places := map[geom.Vec3]*geom.Vec3{}
	for v, p := range m.Positions {
		s.from[v] = -1
		if !l.on(p) {
			continue
		}
		if to, ok := l.moved[p]; ok {
			if places[to] == nil {
				places[to] = &to
			}
			s.to[v] = places[to]
		}
	}
	s.flood(places)
	return s
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
