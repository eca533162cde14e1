package measure

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// Walk is a Facing for queries of one goroutine that follow one another closely. It
// remembers the boxes round the last place, so that a query begins in the smallest one
// outside which nothing is near. Answers are those of the Facing.
type Walk struct {
	f     *Facing
	at    geom.Vec3
	path  [maxStack]step // from the root down; only the first steps are in use
	steps int
	asked int // queries since the path was found
}

// step is a node around a place.
type step struct {
	node  uint32
	clear float64 // metres from the place to the nearest box outside the node
}

// walkFor is how many queries a path serves.
const walkFor = 8

// Walk returns a Walk of its own for the calling goroutine.
func (f *Facing) Walk() *Walk { return &Walk{f: f, asked: walkFor} }

// Nearest is that of the Facing.
func (w *Walk) Nearest(p, along geom.Vec3, cosine, within float64, hint Hint) (Near, bool) {
	return w.f.nearestFrom(w, p, along, cosine, within, hint)
}

// First is that of the Facing.
func (w *Walk) First(p, along geom.Vec3, cosine, ahead, behind float64, hint Hint) (Near, bool) {
	return w.f.firstFrom(w, p, along, cosine, ahead, behind, hint)
}

// Nearer is Nearest for what is below a squared distance.
func (w *Walk) Nearer(p, along geom.Vec3, cosine, below float64, hint Hint) (Near, bool) {
	return w.f.nearestOf(w, p, along, cosine, 0, below, hint)
}

// Touches reports whether Nearest would find something, and returns a hint for a query
// nearby: the first triangle that is met does.
func (w *Walk) Touches(p, along geom.Vec3, cosine, within float64, hint Hint) (Hint, bool) {
	n, ok := w.f.nearestOf(w, p, along, cosine, float64(within*within), notAbove(within), hint)
	return n.Hint, ok
}

// Blocked is that of the Facing's index.
func (w *Walk) Blocked(p, dir geom.Vec3, from, to float64) bool {
	return w.f.x.blockedFrom(w, p, dir, from, to)
}

// from returns the node in which all lies that is within so many metres of a point. The
// walk may be nil.
func (w *Walk) from(p *geom.Vec3, reach float64) uint32 {
	if w == nil {
		return 0
	}
	if w.asked++; w.asked > walkFor {
		w.find(p)
	}
	d := sub(p, &w.at)
	need := float64((reach + math.Sqrt(dot(&d, &d))) * (1 + 1e-9))
	k := w.steps - 1
	for k > 0 && !(w.path[k].clear > need) {
		k--
	}
	return w.path[k].node
}

// find goes down to a point.
func (w *Walk) find(p *geom.Vec3) {
	w.at, w.asked = *p, 0
	nodes := w.f.x.nodes
	at, clear2 := uint32(0), math.Inf(1)
	w.path[0], w.steps = step{0, math.Inf(1)}, 1
	for nodes[at].count == 0 && w.steps < len(w.path) {
		a, b := at+1, nodes[at].next
		da, db := nodes[a].distance2(p), nodes[b].distance2(p)
		if db < da {
			a, da, db = b, db, da
		}
		if clear2 = min(clear2, db); !(clear2 > 0) {
			return
		}
		at = a
		w.path[w.steps] = step{a, math.Sqrt(clear2)}
		w.steps++
	}
}
