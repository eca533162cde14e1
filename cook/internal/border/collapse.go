package border

import (
	"container/heap"
	"math"
)

const (
	// exactness is the part of a coordinate that two of its last bits are worth.
	exactness = 1.0 / (1 << 22)
	// mostStood bounds the places that an edge stands for, and mostEdges the edges of a
	// place that goes: what a step costs.
	mostStood = 512
	mostEdges = 12
)

// step moves a place to another one.
type step struct {
	from, to int32
	cost     float64 // how far things move for it at most, metres; 0: nothing does
	left     int     // edges before it
}

// wish is the cheapest step from a place.
type wish struct {
	step
	stood   int // places on the way: the shorter edge goes first
	version int32
}

// queue holds wishes, the cheapest one on top. Its order depends on nothing but places.
type queue []wish

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(wish)) }
func (q *queue) Pop() any {
	n := len(*q) - 1
	x := (*q)[n]
	*q = (*q)[:n]
	return x
}

func (q queue) Less(i, j int) bool {
	a, b := &q[i], &q[j]
	switch {
	case a.cost != b.cost:
		return a.cost < b.cost
	case a.stood != b.stood:
		return a.stood < b.stood
	case a.from != b.from:
		return a.from < b.from
	}
	return a.version > b.version // the others are old
}

// plan collapses a graph until nothing is left that may go, or what is left costs more
// than a limit. It returns the steps, in the order in which borders lose places.
func (g *graph) plan(limit float64) []step {
	var q queue
	version := make([]int32, len(g.places))
	wishFor := func(p int32) {
		version[p]++
		if w, ok := g.cheapest(p); ok && w.cost <= limit {
			w.version = version[p]
			heap.Push(&q, w)
		}
	}
	for p := range g.places {
		wishFor(int32(p))
	}
	var out []step
	for q.Len() > 0 {
		w := heap.Pop(&q).(wish)
		if w.version != version[w.from] {
			continue
		}
		version[w.from]++
		var near []int32
		for _, e := range g.places[w.from].edges {
			near = append(near, g.edges[e].other(w.from))
		}
		w.left = g.left
		g.collapse(w.from, w.to)
		out = append(out, w.step)
		for _, p := range near {
			wishFor(p)
		}
	}
	return out
}

// cheapest returns the best step from a place.
func (g *graph) cheapest(p int32) (best wish, ok bool) {
	pl := &g.places[p]
	if pl.fixed || len(pl.edges) > mostEdges {
		return best, false
	}
	for _, e := range pl.edges {
		q := g.edges[e].other(p)
		cost, stood := g.cost(p, e)
		if !ok || cost < best.cost || cost == best.cost && (stood < best.stood || stood == best.stood && q < best.to) {
			best, ok = wish{step: step{from: p, to: q, cost: cost}, stood: stood}, true
		}
	}
	return best, ok
}

// cost is how far a step along an edge moves what is there, and how many places the
// edges stand for that it changes.
func (g *graph) cost(p, along int32) (cost float64, stood int) {
	own, at := &g.edges[along], g.places[p].at
	to := g.places[own.other(p)].at
	length := to.Sub(at).Len()
	// What the edge stood for goes to the nearest edge that is left.
	nearest := make([]float64, len(own.stood)+1)
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	alone := len(g.places[p].edges) == 1
	for _, e := range g.places[p].edges {
		x := &g.edges[e]
		end := to
		if e != along {
			end = g.places[x.other(p)].at
		} else if !alone {
			continue
		}
		if !alone && !g.continues(p, along, e) {
			cost = max(cost, length)
		}
		for i := range nearest {
			s := at
			if i > 0 {
				s = own.stood[i-1]
			}
			nearest[i] = min(nearest[i], fromSegment(s, to, end))
		}
		if e == along {
			continue
		}
		cost = max(cost, fromSegment(at, to, end))
		for _, s := range x.stood {
			cost = max(cost, fromSegment(s, to, end))
		}
		stood = max(stood, len(x.stood))
	}
	for _, d := range nearest {
		cost = max(cost, d)
	}
	if stood += len(own.stood) + 1; stood > mostStood {
		cost = math.Inf(1)
	}
	if cost <= g.places[p].exact {
		cost = 0
	}
	return cost, stood
}
