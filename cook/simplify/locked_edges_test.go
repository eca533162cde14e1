package simplify

import (
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// TestLockedEdges: an edge of a locked border keeps its only triangle to the end,
// though places on it are on other components, too.
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
