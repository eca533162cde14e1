package runtime

import (
	"math"
	"math/bits"
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// Where the place of a child passes from a node of the pyramid to what lies below it,
// or back, both are drawn for the time of a fade: what goes with the lower part of the
// mask that the place has, what comes with the rest. Below a place that fades in, all
// that shows there does so by the one clock of that place; a fade further down shares
// out what the one above has left.

// maskSteps is how many parts a mask has. Fractions of them add up without rounding.
const maskSteps = 1 << 12

// span is a part of a mask: the steps from lo up to hi.
type span struct{ lo, hi int32 }

var wholeSpan = span{0, maskSteps}

func (s span) empty() bool { return s.lo >= s.hi }

// cut shares a span out: the upper part of it, by a share from 0 to 1, and what
// lies below that.
func (s span) cut(share float64) (lower, upper span) {
	at := s.hi - int32(math.Round(float64(s.hi-s.lo)*min(max(share, 0), 1)))
	return span{s.lo, at}, span{at, s.hi}
}

// drawn makes an entry of the list to draw.
func (s span) drawn(key payload.Key) Drawn {
	return Drawn{Key: key, Fade: float64(s.hi-s.lo) / maskSteps, From: float64(s.lo) / maskSteps}
}

// placeFades is what fades of the places below a node.
type placeFades struct {
	of    uint64          // children: both the node and what lies below are drawn
	next  uint64          // of that is being worked out
	below []time.Duration // by child: for how long what lies below has faded in
}

// pass lets a place fade that the node had until now (before), or one that fades go
// on from where it is; a new fade begins at from.
func (f *placeFades) pass(bit int, before uint64, from time.Duration) {
	at := uint64(1) << bit
	switch {
	case f.of&at != 0:
	case before&at != 0:
		f.below[bit] = from
	default:
		return
	}
	f.next |= at
}

// drawsBelow reports whether what lies below the node is drawn in a child's place.
func (n *node) drawsBelow(bit int) bool { return (^n.mask|n.fades.of)>>bit&1 != 0 }

// draws reports whether the node is drawn in a child's place.
func (n *node) draws(bit int) bool { return (n.mask|n.fades.of)>>bit&1 != 0 }

// hold leaves what is drawn below a place as it is, while it fades out.
func (p *refinement) hold(row int32) {
	if row < p.first {
		return
	}
	n := &p.nodes[row-p.first]
	n.next, n.fades.next = n.mask, n.fades.of
	for bit, child := range n.children {
		if n.drawsBelow(bit) {
			p.hold(child)
		}
	}
}

// remains reports whether all that is drawn below a place can still be drawn.
func (p *refinement) remains(sc *scene, row int32) bool {
	if row < p.first {
		return sc.showsTile(row)
	}
	n := &p.nodes[row-p.first]
	ready := sc.ready(sc.recordOf(row).rep(payload.RepHLOD))
	for bit, child := range n.children {
		if n.draws(bit) && !ready || n.drawsBelow(bit) && !p.remains(sc, child) {
			return false
		}
	}
	return true
}

// shareBelow returns how much of a child's place what lies below it has.
func (n *node) shareBelow(bit uint8, fade time.Duration) float64 {
	switch at := uint64(1) << bit; {
	case n.fades.of&at != 0:
		return float64(n.fades.below[bit]) / float64(fade)
	case n.mask&at != 0:
		return 0
	}
	return 1
}

// spanOf returns which part of the mask the nodes above a place leave it.
func (sc *scene) spanOf(at place) span {
	if at.node < 0 {
		return wholeSpan
	}
	n := &sc.refinement.nodes[at.node]
	_, left := sc.spanOf(n.place).cut(n.shareBelow(at.bit, sc.fadeDuration))
	return left
}

// fadesWith reports whether a node, or something below it, is still drawn in a place
// that fades: should the fade be turned round, the node is wanted again.
func (p *refinement) fadesWith(sc *scene, n *node) bool {
	return p.fades > 0 && (n.fades.of != 0 || !sc.spanOf(n.place).empty())
}

// spanOfTile is spanOf for a tile.
func (sc *scene) spanOfTile(tile int32) span {
	if p := sc.refinement; p != nil && int(tile) < len(p.parent) {
		return sc.spanOf(p.parent[tile])
	}
	return wholeSpan
}

// dissolves reports whether a tile that nobody wants is still drawn, and will be until
// a node above it has faded in.
func (sc *scene) dissolves(tile int32) bool {
	p := sc.refinement
	if p == nil || !sc.cfg.EnableFadeTransitions || int(tile) >= len(p.parent) || sc.spanOfTile(tile).empty() {
		return false
	}
	for at := p.parent[tile]; at.node >= 0; at = p.nodes[at.node].place {
		if p.nodes[at.node].wanted && sc.ready(p.record(sc, at.node).rep(payload.RepHLOD)) {
			return true
		}
	}
	return false
}

// speaksForItself reports whether something of a tile is drawn that is not about to go:
// then its place needs no node. With fades a tile that nobody wants is there until a
// node has faded in.
func (sc *scene) speaksForItself(tile int32) bool {
	if !sc.showsTile(tile) {
		return false
	}
	r := sc.recordOf(tile)
	return !sc.cfg.EnableFadeTransitions || r.near && !(r.retire && r.target == payload.RepNone)
}

// advanceFades runs every frame. When a place has passed, the next tick comes at
// once and lets go what is not drawn any more.
func (p *pyramid) advanceFades(dt time.Duration) {
	for _, sc := range p.scenes {
		ref := sc.refinement
		if ref == nil || ref.fades == 0 {
			continue
		}
		for i := range ref.nodes {
			n := &ref.nodes[i]
			for left := n.fades.of; left != 0; left &= left - 1 {
				bit := bits.TrailingZeros64(left)
				below := &n.fades.below[bit]
				done := false
				if n.mask>>bit&1 != 0 {
					*below = max(0, *below-dt)
					done = *below == 0
				} else {
					*below = min(p.fadeDuration, *below+dt)
					done = *below == p.fadeDuration
				}
				if done {
					n.fades.of &^= 1 << bit
					ref.fades--
					p.wake = true
				}
			}
		}
	}
}

// endFades ends all fades of a scene's pyramid.
func (p *refinement) endFades() {
	if p == nil {
		return
	}
	p.fades = 0
	for i := range p.nodes {
		p.nodes[i].fades.of = 0
	}
}

// appendDrawn appends the nodes that are drawn: an entry for all children whose
// places one has alone, and one for those that fade alike.
func (p *refinement) appendDrawn(sc *scene, dst []Drawn) []Drawn {
	if p == nil {
		return dst
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		left := n.mask | n.fades.of
		if left == 0 {
			continue
		}
		own := sc.spanOf(n.place)
		if own.empty() {
			continue
		}
		key := p.record(sc, int32(i)).key(payload.RepHLOD)
		if alone := n.mask &^ n.fades.of; alone != 0 {
			dst = append(dst, own.drawn(key))
			dst[len(dst)-1].Parts = alone
		}
		for left &= n.fades.of; left != 0; {
			at := n.fades.below[bits.TrailingZeros64(left)]
			alike := uint64(0)
			for rest := left; rest != 0; rest &= rest - 1 {
				if bit := bits.TrailingZeros64(rest); n.fades.below[bit] == at {
					alike |= 1 << bit
				}
			}
			left &^= alike
			part, _ := own.cut(float64(at) / float64(sc.fadeDuration))
			dst = append(dst, part.drawn(key))
			dst[len(dst)-1].Parts = alike
		}
	}
	return dst
}

// drawn counts the nodes that are drawn.
func (p *refinement) drawn() (n int) {
	if p == nil {
		return 0
	}
	for i := range p.nodes {
		if p.nodes[i].mask|p.nodes[i].fades.of != 0 {
			n++
		}
	}
	return n
}
