package simplify

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// TestLockedTakesGroups: what a locked vertex takes over from a neighbour may
// have a triangle of another group, and with it a vertex of its own. That lies
// where the locked one does, and is no copy of any.
func TestLockedTakesGroups(t *testing.T) {
	m := grid(16, hills)
	for c := 0; c < len(m.Indices); c += 3 {
		x := 0.0
		for _, v := range m.Indices[c : c+3] {
			x += m.Positions[v][0] / 3
		}
		m.Groups = append(m.Groups, int32(x*7))
	}
	border := func(v int) bool {
		p := m.Positions[v]
		return p[0] == 0 || p[0] == 1 || p[2] == 0 || p[2] == 1
	}
	locked := make([]bool, len(m.Positions))
	for v := range locked {
		locked[v] = border(v)
	}
	for _, o := range []Options{{LockBorder: true}, {Locked: locked}, {Locked: locked, Seams: SeamsKeep}, {Locked: locked, Seams: SeamsWeld}} {
		for _, target := range []int{200, 100, 60, 0} {
			t.Run(fmt.Sprintf("%v %d %d", o.LockBorder, o.Seams, target), func(t *testing.T) {
				s, err := New(m, o)
				if err != nil {
					t.Fatal(err)
				}
				r := s.Reduce(target, 0)
				out, sources := s.MeshAndSources()
				checkMesh(t, m, out, r, o)
				if open := openEdges(out); open != openEdges(m) {
					t.Errorf("%d open edges, %d before", open, openEdges(m))
				}
				for v, src := range sources {
					if src >= 0 && !border(int(src)) {
						t.Errorf("vertex %d at %v claims to be %d, which is not locked", v, out.Positions[v], src)
					}
				}
			})
		}
	}
}

// TestLockedKeepsSeams: a vertex in the middle of four sectors, between which
// seams run outwards over locked vertices, may go to one of these. The sides of
// the seam there stay two.
func TestLockedKeepsSeams(t *testing.T) {
	m := &Mesh{Positions: []geom.Vec3{{}}, UV: [2][][2]float32{{{}}}}
	add := func(p geom.Vec3, u int) uint32 {
		m.Positions = append(m.Positions, p)
		m.UV[0] = append(m.UV[0], [2]float32{float32(u), float32(len(m.Positions))})
		return uint32(len(m.Positions) - 1)
	}
	ring := [4]geom.Vec3{{1, 0, 0}, {0, 0, -1}, {-1, 0, 0}, {0, 0, 1}}
	for i, p := range ring {
		q := ring[(i+1)%4]
		a, b := add(p, i), add(q, i)
		c, d := add(p.Scale(2), i), add(q.Scale(2), i)
		m.Indices = append(m.Indices, 0, a, b, a, c, b, c, d, b)
	}
	o := Options{Locked: make([]bool, len(m.Positions))}
	for v := range o.Locked {
		o.Locked[v] = v > 0
	}
	for _, o.Seams = range []SeamMode{SeamsRelax, SeamsWeld} {
		s, err := New(m, o)
		if err != nil {
			t.Fatal(err)
		}
		r := s.Reduce(10, 0)
		out, sources := s.MeshAndSources()
		checkMesh(t, m, out, r, o)
		if r.Stop != Reached {
			t.Errorf("seams %d: %v", o.Seams, r)
		}
		for v := 1; v < len(m.Positions); v++ {
			if !slices.Contains(sources, int32(v)) {
				t.Errorf("seams %d: locked vertex %d at %v is gone", o.Seams, v, m.Positions[v])
			}
		}
	}
}

// Locked vertices stay where they are and keep a triangle, whatever the mesh.
func TestLockedStay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, o := soup(rt)
		o.Sloppy = false
		s, err := New(m, o)
		if err != nil {
			rt.Fatal(err)
		}
		before := lockedPlaces(s)
		for _, target := range []int{40, 10, 3, 0} {
			r := s.Reduce(target, 0)
			if after := lockedPlaces(s); !maps.Equal(before, after) {
				rt.Fatalf("%v: %v became %v", r, before, after)
			}
		}
	})
}

// lockedPlaces returns the positions of locked vertices that have triangles, by
// their vertices.
func lockedPlaces(s *Simplifier) map[uint32][3]float32 {
	vertices := make(map[uint32][3]float32)
	for c, w := range s.cornerWedge {
		if w == none {
			continue
		}
		if p := s.at(uint32(c)); s.vertices[p].flags&flagLocked != 0 {
			vertices[s.fixed[p]] = s.vertices[p].pos
		}
	}
	return vertices
}

// TestLockedEdges: an edge of a locked border keeps its only triangle to the end,
// though vertices on it are on other components, too.
func TestLockedEdges(t *testing.T) {
	for n := 4; n <= 12; n++ {
		m := join(grid(n, flat), grid(8, flat), boxes(2))
		o := Options{Locked: make([]bool, len(m.Positions))}
		for v, p := range m.Positions {
			o.Locked[v] = p[0] == 0
		}
		for _, o.Seams = range []SeamMode{SeamsRelax, SeamsKeep, SeamsWeld} {
			out, _ := must(t, m, o, 0, 0)
			type edge [2]geom.Vec3
			left := map[edge]bool{}
			for c, v := range out.Indices {
				next, _ := corners(uint32(c))
				left[edge{out.Positions[v], out.Positions[out.Indices[next]]}] = true
			}
			for c, v := range m.Indices {
				next, _ := corners(uint32(c))
				e := edge{m.Positions[v], m.Positions[m.Indices[next]]}
				if e[0][0] == 0 && e[1][0] == 0 && !left[e] {
					t.Errorf("%d, seams %d: edge %v is gone", n, o.Seams, e)
				}
			}
		}
	}
}
