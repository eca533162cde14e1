package simplify

import (
	"fmt"
	"testing"
)

// TestLockedTakesGroups: what a locked place takes over from a neighbour may
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
