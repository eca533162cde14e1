package border

import (
	"slices"

	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// The places that an edge of a level stands for go to one of its ends each: those before
// some point to the first, those after it to the other. Where that point lies changes
// nothing about the border, so each tile chooses it for itself: where the triangles of
// its own turn least. Else a long triangle that ends near one end of the edge would be
// dragged to the other, and turn over.

// chain is what an edge stands for, where that is a simple way from end to end.
type chain struct {
	ends   [2]geom.Vec3
	places []geom.Vec3 // from the first end on
}

// ways is how places were linked before any went.
type ways struct {
	number map[geom.Vec3]int32
	next   [][]int32
}

func (g *graph) ways() *ways {
	w := &ways{number: make(map[geom.Vec3]int32, len(g.places)), next: make([][]int32, len(g.places))}
	for p := range g.places {
		w.number[g.places[p].at] = int32(p)
		for _, e := range g.places[p].edges {
			w.next[p] = append(w.next[p], g.edges[e].other(int32(p)))
		}
	}
	return w
}

// chainOf returns the places of an edge in their order; ok is false if they are not a
// simple way between its ends.
func (w *ways) chainOf(g *graph, e *edge) (c chain, ok bool) {
	stood := make(map[int32]bool, len(e.stood))
	for _, p := range e.stood {
		stood[w.number[p]] = true
	}
	a, b := e.ends[0], e.ends[1]
	c.ends = [2]geom.Vec3{g.places[a].at, g.places[b].at}
	last, at := a, int32(-1)
	for _, p := range w.next[a] {
		if stood[p] {
			if at >= 0 {
				return c, false
			}
			at = p
		}
	}
	for at >= 0 && at != b {
		if !stood[at] || len(w.next[at]) != 2 {
			return c, false
		}
		delete(stood, at)
		c.places = append(c.places, g.places[at].at)
		n := w.next[at][0]
		if n == last {
			n = w.next[at][1]
		}
		last, at = at, n
	}
	return c, at == b && len(stood) == 0
}

// divider chooses for a mesh where chains are divided.
type divider struct {
	m     *simplify.Mesh
	at    map[geom.Vec3][]int32 // triangles at places of chains
	moved map[geom.Vec3]geom.Vec3
}

// divide returns where places of a mesh go to, apart from vertices that stay.
func (l *Level) divide(m *simplify.Mesh, stays []bool) map[geom.Vec3]geom.Vec3 {
	d := &divider{m: m, at: map[geom.Vec3][]int32{}, moved: make(map[geom.Vec3]geom.Vec3, len(l.moved))}
	for p, to := range l.moved {
		d.moved[p] = to
	}
	for i := range l.chains {
		for _, p := range l.chains[i].places {
			d.at[p] = nil
		}
	}
	for t := range m.Triangles() {
		for _, v := range m.Indices[3*t : 3*t+3] {
			p := m.Positions[v]
			if list, ok := d.at[p]; ok && !stays[v] {
				d.at[p] = append(list, int32(t))
			}
		}
	}
	for i := range l.chains {
		d.choose(&l.chains[i])
	}
	return d.moved
}

// choose divides a chain.
func (d *divider) choose(c *chain) {
	// Of a finer level some places are left.
	places := slices.DeleteFunc(slices.Clone(c.places), func(p geom.Vec3) bool { return len(d.at[p]) == 0 })
	n := len(places)
	if n == 0 {
		return
	}
	go1, go2 := make([]float64, n), make([]float64, n) // cost of each way
	far1, far2 := make([]float64, n), make([]float64, n)
	pairs := make([]float64, n+1)
	for i, p := range places {
		far1[i], far2[i] = p.Sub(c.ends[0]).Len(), p.Sub(c.ends[1]).Len()
		for _, t := range d.at[p] {
			if i+1 < n && d.has(t, places[i+1]) {
				pairs[i+1] += d.turn(t, p, c.ends[0], places[i+1], c.ends[1])
				continue // else it is gone
			}
			if i > 0 && d.has(t, places[i-1]) {
				continue
			}
			go1[i] += d.turn(t, p, c.ends[0], p, c.ends[0])
			go2[i] += d.turn(t, p, c.ends[1], p, c.ends[1])
		}
	}
	best, bestFar, at := 0.0, 0.0, -1
	for k := range n + 1 { // places before k go to the first end
		cost, far := pairs[k], 0.0
		for i := range n {
			if i < k {
				cost += go1[i]
				far += far1[i]
			} else {
				cost += go2[i]
				far += far2[i]
			}
		}
		const same = 1e-6 // square metres
		if at < 0 || cost < best-same || cost <= best+same && far < bestFar {
			best, bestFar, at = cost, far, k
		}
	}
	for i, p := range places {
		if d.moved[p] = c.ends[1]; i < at {
			d.moved[p] = c.ends[0]
		}
	}
}

func (d *divider) has(t int32, p geom.Vec3) bool {
	for _, v := range d.m.Indices[3*t : 3*t+3] {
		if d.m.Positions[v] == p {
			return true
		}
	}
	return false
}

// turn says how much a triangle turns, two of whose corners may go elsewhere: 0 if it
// does not, twice its new area, in square metres, if it turns over.
func (d *divider) turn(t int32, p, toP, q, toQ geom.Vec3) float64 {
	var was, is [3]geom.Vec3
	for k, v := range d.m.Indices[3*t : 3*t+3] {
		at := d.m.Positions[v]
		was[k], is[k] = at, at
		switch {
		case at == p:
			is[k] = toP
		case at == q:
			is[k] = toQ
		default:
			if to, ok := d.moved[at]; ok {
				is[k] = to
			}
		}
	}
	before := was[1].Sub(was[0]).Cross(was[2].Sub(was[0])).Normalize(0, geom.Vec3{})
	after := is[1].Sub(is[0]).Cross(is[2].Sub(is[0])).Scale(0.5)
	return after.Len() - after.Dot(before)
}
