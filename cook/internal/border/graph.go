package border

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// look is what a corner of a cut triangle looks like, apart from its normal.
type look struct {
	label int32
	uv    [2]float32
	color [4]float32
}

// like reports whether two looks are one, as far as neighbours store them alike:
// texture coordinates may differ by whole repeats, and are rounded.
func (a *look) like(b *look) bool {
	const (
		texel = 1.0 / 128 // of a repeat
		ulp   = 1.0 / 512 // of a half float, and some
		tint  = 1.0 / 64
	)
	if a.label != b.label {
		return false
	}
	for k := range a.uv {
		x, y := float64(a.uv[k]), float64(b.uv[k])
		if d := x - y; math.Abs(d-math.Round(d)) > max(texel, max(math.Abs(x), math.Abs(y))*ulp) {
			return false
		}
	}
	for k := range a.color {
		if math.Abs(float64(a.color[k])-float64(b.color[k])) > tint {
			return false
		}
	}
	return true
}

// alike reports whether each look of a list has its like in the other.
func alike(a, b []look) bool {
	within := func(a, b []look) bool {
		for i := range a {
			if !slices.ContainsFunc(b, func(l look) bool { return a[i].like(&l) }) {
				return false
			}
		}
		return true
	}
	return within(a, b) && within(b, a)
}

// place is a point of a side where edges meet.
type place struct {
	at    geom.Vec3
	fixed bool    // other sides have it, too
	edges []int32 // that are left
	exact float64 // what is no farther off is in its place, metres
}

// edge lies between two places of a side.
type edge struct {
	ends  [2]int32
	looks [2][]look   // at the ends
	stood []geom.Vec3 // places that it stands for
	gone  bool
}

// other returns the end of an edge that is not p.
func (e *edge) other(p int32) int32 { return e.ends[0] + e.ends[1] - p }

// end returns which end of an edge p is.
func (e *edge) end(p int32) int {
	if e.ends[0] == p {
		return 0
	}
	return 1
}

// graph is the edges of one side. It is the same for the cells on both of its sides:
// places are in order, then edges by them.
type graph struct {
	places []place
	edges  []edge
	left   int // edges that are left
}

// mostLooks bounds what is compared at an end of an edge.
const mostLooks = 16

// corner is an end of an edge as a triangle has it.
type corner struct {
	a, b  geom.Vec3 // a before b
	looks [2]look
}

// newGraph gathers the edges on a side along triangles that do not lie in it: these
// were cut there. It returns nil if there are none.
func newGraph(m *simplify.Mesh, labels []int32, on []uint8, side int) *graph {
	corners := cutEdges(m, labels, on, side)
	if len(corners) == 0 {
		return nil
	}
	g := &graph{}
	at := map[geom.Vec3]int32{}
	for i := range corners {
		for _, p := range []geom.Vec3{corners[i].a, corners[i].b} {
			if _, ok := at[p]; !ok {
				at[p] = 0
				g.places = append(g.places, place{at: p})
			}
		}
	}
	slices.SortFunc(g.places, func(a, b place) int { return comparePlaces(a.at, b.at) })
	for i := range g.places {
		p := &g.places[i]
		at[p.at] = int32(i)
		p.exact = exactOf(p.at)
	}
	for i := range on {
		if k, ok := at[m.Positions[i]]; ok && on[i]&^(1<<side) != 0 {
			g.places[k].fixed = true
		}
	}
	slices.SortStableFunc(corners, func(a, b corner) int {
		if c := comparePlaces(a.a, b.a); c != 0 {
			return c
		}
		return comparePlaces(a.b, b.b)
	})
	for i := range corners {
		c := &corners[i]
		if i == 0 || c.a != corners[i-1].a || c.b != corners[i-1].b {
			a, b := at[c.a], at[c.b]
			g.places[a].edges = append(g.places[a].edges, int32(len(g.edges)))
			g.places[b].edges = append(g.places[b].edges, int32(len(g.edges)))
			g.edges = append(g.edges, edge{ends: [2]int32{a, b}})
		}
		e := &g.edges[len(g.edges)-1]
		for k := range e.looks {
			if l := &c.looks[k]; len(e.looks[k]) < mostLooks && !slices.ContainsFunc(e.looks[k], func(x look) bool { return l.like(&x) }) {
				e.looks[k] = append(e.looks[k], *l)
			}
		}
	}
	g.left = len(g.edges)
	return g
}

// cutEdges returns the edges of triangles on a side.
func cutEdges(m *simplify.Mesh, labels []int32, on []uint8, side int) (out []corner) {
	bit := uint8(1) << side
	lookOf := func(t int, v uint32) look {
		l := look{label: labels[t]}
		if m.UV[0] != nil {
			l.uv = m.UV[0][v]
		}
		if m.Colors != nil {
			l.color = m.Colors[v]
		}
		return l
	}
	for t := range m.Triangles() {
		i := m.Indices[3*t : 3*t+3]
		if on[i[0]]&on[i[1]]&on[i[2]]&bit != 0 {
			continue
		}
		for k := range i {
			u, v := i[k], i[(k+1)%3]
			if on[u]&on[v]&bit == 0 {
				continue
			}
			if d := comparePlaces(m.Positions[u], m.Positions[v]); d == 0 {
				continue
			} else if d > 0 {
				u, v = v, u
			}
			out = append(out, corner{m.Positions[u], m.Positions[v], [2]look{lookOf(t, u), lookOf(t, v)}})
		}
	}
	return out
}

// between returns the edge of two places, or -1.
func (g *graph) between(p, q int32) int32 {
	for _, e := range g.places[p].edges {
		if g.edges[e].other(p) == q {
			return e
		}
	}
	return -1
}

// drop takes an edge from a place.
func (g *graph) drop(p, e int32) {
	l := g.places[p].edges
	g.places[p].edges = slices.Delete(l, slices.Index(l, e), slices.Index(l, e)+1)
}

// collapse moves a place to another one, at the other end of an edge.
func (g *graph) collapse(p, q int32) {
	along := g.between(p, q)
	own := &g.edges[along]
	own.gone = true
	g.drop(p, along)
	g.drop(q, along)
	g.left--
	lost := append(own.stood, g.places[p].at)
	heir, nearest := int32(-1), math.Inf(1)
	for _, e := range g.places[p].edges {
		x := &g.edges[e]
		r := x.other(p)
		looks := own.looks[own.end(q)]
		if !g.continues(p, along, e) {
			looks = x.looks[x.end(p)]
		}
		if same := g.between(q, r); same >= 0 { // two become one
			y := &g.edges[same]
			y.stood = append(y.stood, x.stood...)
			x.gone = true
			g.drop(r, e)
			g.left--
			e = same
		} else {
			k := x.end(p)
			x.ends[k], x.looks[k] = q, looks
			g.places[q].edges = append(g.places[q].edges, e)
		}
		if d := fromSegment(g.places[p].at, g.places[q].at, g.places[r].at); d < nearest {
			heir, nearest = e, d
		}
	}
	g.places[p].edges = nil
	if heir < 0 && len(g.places[q].edges) > 0 {
		heir = g.places[q].edges[0] // an end that is shorter now
	}
	if heir >= 0 {
		g.edges[heir].stood = append(g.edges[heir].stood, lost...)
	}
}

// continues reports whether what is seen along one edge of a place goes on along
// another.
func (g *graph) continues(p, a, b int32) bool {
	x, y := &g.edges[a], &g.edges[b]
	return alike(x.looks[x.end(p)], y.looks[y.end(p)])
}
