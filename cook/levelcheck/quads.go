package levelcheck

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/internal/geom"
)

// corner is a vertex by what it is, wherever it is stored.
type corner struct {
	at       geom.Vec3
	normal   [3]float32
	uv       [2]float32
	color    [4]float32
	material int32
}

// quad is two triangles in one plane that share two vertices with each other and
// none with others: a pane, a sign, the side of a box.
type quad [2]int32 // triangles

const (
	// flat is the least cosine between the normals of a quad's triangles.
	flat = 0.9998
	// turned is the least cosine between those of a quad and of what is left of it.
	turned = 0.9
	// off is how far a corner may lie from where it was, in parts of the quad's
	// shortest side: fitting moves it a little.
	off = 0.1
)

// uses are the first two triangles at a vertex, and how many there are.
type uses struct {
	at [2]int32
	n  int
}

// findQuads returns the quads of a mesh.
func findQuads(m *appearance.Mesh) []quad {
	known := map[corner]*uses{}
	triangles := len(m.Indices) / 3
	corners := make([]*uses, 3*triangles)
	for i, v := range m.Indices {
		k := corner{m.Positions[v], m.Normals[v], m.UV[v], m.Colors[v], m.Materials[i/3]}
		u := known[k]
		if u == nil {
			u = &uses{}
			known[k] = u
		}
		if u.n < 2 {
			u.at[u.n] = int32(i / 3)
		}
		u.n++
		corners[i] = u
	}
	// other returns the only triangle that shares vertices with one, if these are two.
	other := func(t int32) int32 {
		found, shared := int32(-1), 0
		for _, u := range corners[3*t : 3*t+3] {
			switch {
			case u.n > 2:
				return -1
			case u.n == 2:
				o := u.at[0] ^ u.at[1] ^ t
				if shared > 0 && o != found {
					return -1
				}
				found = o
				shared++
			}
		}
		if shared != 2 {
			return -1
		}
		return found
	}
	var out []quad
	for t := range int32(triangles) {
		o := other(t)
		if o <= t || other(o) != t {
			continue
		}
		if a, b := normalOf(m, int(t)), normalOf(m, int(o)); a.Dot(b) >= flat {
			out = append(out, quad{t, o})
		}
	}
	return out
}

// countQuads says of how many quads of the full geometry a level shows both
// triangles, by either diagonal, and of how many only one, beyond whose diagonal
// nothing goes on: a post with fewer sides has a triangle as its cap, but no half.
func (c *checker) countQuads(full *appearance.Mesh, quads []quad, level *appearance.Mesh) (whole, half int) {
	x := measure.NewIndex(&measure.Surface{Positions: level.Positions, Indices: level.Indices})
	edges := findEdges(level)
	for _, q := range quads {
		at := cornersOf(full, q)
		slack := float64(off * shorterSide(&at))
		normal := normalOf(full, int(q[0]))
		var there [4]bool // the triangle without that corner
		open := false     // and its longest side is nobody else's
		for i := range there {
			without := [3]geom.Vec3{at[(i+1)%4], at[(i+2)%4], at[(i+3)%4]}
			there[i] = x.Near(middle(&without), slack, func(k int) bool {
				if c.kindOf[level.Materials[k]] != c.kindOf[full.Materials[q[0]]] || normalOf(level, k).Dot(normal) < turned {
					return false
				}
				a, b, ok := stands(level, k, &without, slack)
				open = open || ok && !goesOn(level, edges[edgeOf(a, b)], k)
				return ok
			})
		}
		switch {
		case there[0] && there[2] || there[1] && there[3]:
			whole++
		case open:
			half++
		}
	}
	return whole, half
}

// edge is a side of triangles, whichever way they go along it.
type edge [2]geom.Vec3

func edgeOf(a, b geom.Vec3) edge {
	if slices.Compare(a[:], b[:]) > 0 {
		a, b = b, a
	}
	return edge{a, b}
}

// findEdges returns which triangles have each edge.
func findEdges(m *appearance.Mesh) map[edge][]int32 {
	out := make(map[edge][]int32, len(m.Indices))
	for i, v := range m.Indices {
		next := i + 1
		if next%3 == 0 {
			next -= 3
		}
		e := edgeOf(m.Positions[v], m.Positions[m.Indices[next]])
		out[e] = append(out[e], int32(i/3))
	}
	return out
}

// goesOn reports whether some triangle at an edge continues the surface of one:
// another one that is not its back.
func goesOn(m *appearance.Mesh, at []int32, t int) bool {
	n := normalOf(m, t)
	return slices.ContainsFunc(at, func(k int32) bool { return int(k) != t && normalOf(m, int(k)).Dot(n) > -turned })
}

// stands reports whether a triangle has its corners at three places, and returns
// those at the first and the last one.
func stands(m *appearance.Mesh, t int, at *[3]geom.Vec3, slack float64) (first, last geom.Vec3, ok bool) {
	used := 0
	var found [3]geom.Vec3
	for _, v := range m.Indices[3*t : 3*t+3] {
		for k, p := range at {
			if used&(1<<k) == 0 && m.Positions[v].Sub(p).Len() <= slack {
				used |= 1 << k
				found[k] = m.Positions[v]
				break
			}
		}
	}
	return found[0], found[2], used == 7
}

// cornersOf returns the corners of a quad in order round it: the second and the
// last are those that only one triangle has.
func cornersOf(m *appearance.Mesh, q quad) [4]geom.Vec3 {
	var t [2][3]geom.Vec3
	for i := range t {
		for k := range 3 {
			t[i][k] = m.Positions[m.Indices[3*int(q[i])+k]]
		}
	}
	own := 0 // of the first triangle, its place is that of none of the other's
	for k, p := range t[0] {
		if p != t[1][0] && p != t[1][1] && p != t[1][2] {
			own = k
		}
	}
	out := [4]geom.Vec3{t[0][(own+2)%3], t[0][own], t[0][(own+1)%3]}
	for _, p := range t[1] {
		if p != out[0] && p != out[2] {
			out[3] = p
		}
	}
	return out
}

// shorterSide returns the length of the shortest side of a quad.
func shorterSide(at *[4]geom.Vec3) float64 {
	least := math.Inf(1)
	for i, p := range at {
		least = min(least, at[(i+1)%4].Sub(p).Len())
	}
	return least
}

func middle(t *[3]geom.Vec3) geom.Vec3 { return t[0].Add(t[1]).Add(t[2]).Scale(1.0 / 3) }

// normalOf returns a triangle's normal, of length 1, or 0 if it has no area.
func normalOf(m *appearance.Mesh, t int) geom.Vec3 {
	v := m.Indices[3*t : 3*t+3]
	a := m.Positions[v[0]]
	return m.Positions[v[1]].Sub(a).Cross(m.Positions[v[2]].Sub(a)).Normalize(1e-300, geom.Vec3{})
}
