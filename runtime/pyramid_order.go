package runtime

import (
	"cmp"
	"math"

	"github.com/untoldkit/untold/runtime/payload"
)

// What is seen of the error of what is drawn now says what is loaded first below the roots of a
// pyramid. It is a stretch: how many times as far away a thing would have to be, by one
// metre more, for the error to be as small as was asked for.

// nodeOf is a node that could be loaded now.
type nodeOf struct {
	scene *scene
	node  int32
	root  bool
	low   bool    // out of view
	frees bool    // what lies below it goes once it is there
	spare bool    // all that lies below it is drawn
	seen  float64 // of the error of what is drawn in its place: refinement.seenAt
}

// compare orders nodes as they are loaded.
func (a nodeOf) compare(b nodeOf) int {
	switch {
	case a.root != b.root:
		return firstIf(a.root)
	case a.frees != b.frees:
		return firstIf(a.frees)
	case a.low != b.low:
		return firstIf(b.low)
	case a.spare != b.spare:
		return firstIf(b.spare)
	}
	return cmp.Or(cmp.Compare(b.seen, a.seen), cmp.Compare(b.node, a.node))
}

// firstIf is the result of a comparison by something that is said of one of two alone.
func firstIf(one bool) int {
	if one {
		return -1
	}
	return 1
}

// seenAt returns how much is seen of the error of the node that is drawn in a place, at a
// distance. Before one has come that is the root.
func (p *refinement) seenAt(sc *scene, at place, d float64) float64 {
	for at.node >= 0 {
		n := &p.nodes[at.node]
		if n.node < 0 || sc.ready(p.record(sc, at.node).rep(payload.RepHLOD)) {
			return n.begins / (1 + d)
		}
		at = n.place
	}
	return math.Inf(1)
}

// mostDoublings bounds what seenOf tells apart.
const mostDoublings = 16

// seenOf returns how much is seen of an error in the place of a tile at a distance while the
// scene has a draft, in doublings of what was asked for, else 0: what is out of view has no such
// order, and a draft loads nothing of that. r is nil for an idle tile.
func (p *refinement) seenOf(sc *scene, tile int32, r *record, d float64) int32 {
	if !sc.drafts() || tile >= int32(len(p.parent)) {
		return 0
	}
	seen := 0.0
	switch {
	case r == nil || r.drawn == payload.RepNone:
		seen = p.seenAt(sc, p.parent[tile], d)
	case r.drawn != payload.RepFull:
		seen = sc.tiles.begin(tile, r.drawn) / (1 + d)
	}
	return doublings(seen)
}

// doublings returns the least power of two that is more than a number.
func doublings(x float64) int32 {
	const most = 1 << mostDoublings
	if !(x >= 1.0/most) {
		return -mostDoublings
	}
	_, exponent := math.Frexp(min(x, most))
	return int32(exponent)
}
