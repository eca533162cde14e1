package pyramid

import (
	"cmp"
	"math"
	"slices"

	"github.com/untoldkit/untold/cook/internal/border"
	"github.com/untoldkit/untold/cook/internal/forest"
	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// What lies flush on something larger, such as a window on its wall or a marking on
// its road, needs no triangles of its own once textures are baked: the texture of
// what is behind shows it.

// piece is a connected part of a mesh within one group.
type piece struct {
	triangles []int32
	area      float64
	class     int // of the area: powers of two
	group     int32
	cost      float64 // of its vanishing, square metres times the square of a distance
}

const (
	// flushFacing is the part of a piece's area that must face the way of what is
	// behind it: the back of a wall does not go with its front.
	flushFacing = 0.15
	flushCosine = 0.7
	// boxTriangles is how many triangles are left of a large piece that vanishes.
	boxTriangles = 12
)

// dropFlush removes the pieces that lie within a tolerance in metres of larger ones of
// the same group. Those that reach up to a locked vertex stay. It returns the piece of each
// triangle that is left, and what each piece costs that vanishes later.
func dropFlush(m *simplify.Mesh, locked []bool, tolerance float64) (of []int32, costs []float64) {
	pieces := piecesOf(m)
	all := pieces
	drop := make([]bool, m.Triangles())
	for len(pieces) > 0 {
		n := 1
		for n < len(pieces) && pieces[n].group == pieces[0].group {
			n++
		}
		dropFlushOf(m, locked, pieces[:n], tolerance, drop)
		pieces = pieces[n:]
	}
	part := make([]int32, m.Triangles())
	for i := range all {
		for _, t := range all[i].triangles {
			part[t] = int32(i)
		}
		// Costs are shared out to the triangles of the beginning. Of large pieces most go before.
		costs = append(costs, all[i].cost*max(1, float64(len(all[i].triangles))/boxTriangles))
	}
	border.Keep(m, func(t int) bool {
		if !drop[t] {
			of = append(of, part[t])
		}
		return !drop[t]
	})
	return of, costs
}

// dropFlushOf marks the triangles of one group that go. Its pieces are sorted by class,
// the largest first: each is held against those of larger classes that stay.
func dropFlushOf(m *simplify.Mesh, locked []bool, pieces []piece, tolerance float64, drop []bool) {
	larger := &backs{positions: m.Positions}
	for len(pieces) > 0 {
		n := 1
		for n < len(pieces) && pieces[n].class == pieces[0].class {
			n++
		}
		var stays []uint32
		for i := range pieces[:n] {
			p := &pieces[i]
			flush := len(larger.walks) > 0 && p.flush(m, locked, larger, tolerance)
			if p.cost = math.Inf(1); !flush && len(larger.walks) > 0 {
				p.cost = p.standsOff(m, larger)
			}
			for _, t := range p.triangles {
				if drop[t] = flush; !flush {
					stays = append(stays, m.Indices[3*t:3*t+3]...)
				}
			}
		}
		if pieces = pieces[n:]; len(pieces) > 0 {
			larger.add(stays)
		}
	}
}

// backs are what smaller pieces are held against: two surfaces, so that little is indexed
// again when some is added.
type backs struct {
	positions []geom.Vec3
	indices   [2][]uint32 // the second has less than half as many
	walks     []*measure.Walk
	hint      [2]measure.Hint
}

func (b *backs) add(indices []uint32) {
	if len(indices) == 0 {
		return
	}
	k := 1
	if b.indices[1] = append(b.indices[1], indices...); 2*len(b.indices[1]) >= len(b.indices[0]) {
		b.indices[0], b.indices[1] = append(b.indices[0], b.indices[1]...), nil
		k = 0
	}
	b.hint = [2]measure.Hint{}
	f := measure.NewFacing(measure.NewIndex(&measure.Surface{Positions: b.positions, Indices: b.indices[k]}), nil)
	b.walks = append(b.walks[:k], f.Walk())
}

// touches reports whether some point whose cosine to a unit vector is at least so much lies
// within a distance in metres.
func (b *backs) touches(p, along geom.Vec3, cosine, within float64) bool {
	for k, w := range b.walks {
		hint, ok := w.Touches(p, along, cosine, within, b.hint[k])
		if ok {
			b.hint[k] = hint
			return true
		}
	}
	return false
}

// distance2 returns the squared distance of the nearest point, at most so much.
func (b *backs) distance2(p geom.Vec3, most float64) float64 {
	for k, w := range b.walks {
		if n, ok := w.Nearer(p, geom.Vec3{0, 1, 0}, measure.AnyCosine, most, b.hint[k]); ok {
			most, b.hint[k] = n.Distance2, n.Hint
		}
	}
	return most
}

// standsOff returns the square of how far a piece stands off a surface, over its area: the
// surface is what is seen in its place once it is gone.
func (p *piece) standsOff(m *simplify.Mesh, larger *backs) float64 {
	box := geom.EmptyBox()
	for _, t := range p.triangles {
		for _, v := range m.Indices[3*t : 3*t+3] {
			box = box.Extend(m.Positions[v])
		}
	}
	within := box.Size().Len()
	sum := 0.0
	for _, t := range p.triangles {
		i := m.Indices[3*t : 3*t+3]
		squares := 0.0
		for k := range 3 { // the mean of a square over a triangle is that of its sides' middles
			middle := m.Positions[i[k]].Add(m.Positions[i[(k+1)%3]]).Scale(0.5)
			squares += larger.distance2(middle, float64(within*within))
		}
		sum += float64(triangleArea(m.Positions, i) * squares / 3)
	}
	if !(sum >= 0) { // beyond all measure
		return math.Inf(1)
	}
	return sum
}

// flush reports whether all corners and sides of a piece are within a tolerance of a
// surface, and enough of it faces the same way.
func (p *piece) flush(m *simplify.Mesh, locked []bool, larger *backs, tolerance float64) bool {
	within := func(q geom.Vec3) bool {
		return larger.touches(q, geom.Vec3{0, 1, 0}, measure.AnyCosine, tolerance)
	}
	for _, t := range p.triangles {
		for _, v := range m.Indices[3*t : 3*t+3] {
			if locked != nil && locked[v] {
				return false
			}
		}
	}
	facing := 0.0
	for _, t := range p.triangles {
		i := m.Indices[3*t : 3*t+3]
		a, b, c := m.Positions[i[0]], m.Positions[i[1]], m.Positions[i[2]]
		if !within(a) || !within(b) || !within(c) || !within(a.Add(b).Scale(0.5)) || !within(b.Add(c).Scale(0.5)) || !within(c.Add(a).Scale(0.5)) {
			return false
		}
		normal := b.Sub(a).Cross(c.Sub(a))
		area := float64(normal.Len() / 2)
		if larger.touches(a.Add(b).Add(c).Scale(1.0/3), normal.Normalize(1e-30, geom.Vec3{}), flushCosine, tolerance) {
			facing += area
		}
	}
	return facing >= float64(flushFacing*p.area)
}

// piecesOf returns the connected parts of a mesh, by group and falling class.
func piecesOf(m *simplify.Mesh) []piece {
	n := m.Triangles()
	joined := forest.New(n)
	group := func(t int) int32 {
		if m.Groups == nil {
			return 0
		}
		return m.Groups[t]
	}
	// At most places all triangles are of one group: of others each has a list.
	type first struct{ triangle, next int32 }
	place, count := placesOf(m.Positions, m.Indices)
	heads := make([]int32, count) // into all, counted from 1
	var all []first
	for t := range n {
		for _, v := range m.Indices[3*t : 3*t+3] {
			head := &heads[place[v]]
			at := *head
			for at > 0 && group(int(all[at-1].triangle)) != group(t) {
				at = all[at-1].next
			}
			if at > 0 {
				joined.Unite(all[at-1].triangle, int32(t))
				continue
			}
			all = append(all, first{int32(t), *head})
			*head = int32(len(all))
		}
	}
	number := make([]int32, n)
	var out []piece
	for t := range n {
		r := joined.Root(int32(t))
		if r == int32(t) {
			number[r] = int32(len(out))
			out = append(out, piece{group: group(t)})
		}
		p := &out[number[r]]
		i := m.Indices[3*t : 3*t+3]
		a := m.Positions[i[0]]
		p.area += float64(m.Positions[i[1]].Sub(a).Cross(m.Positions[i[2]].Sub(a)).Len() / 2)
		p.triangles = append(p.triangles, int32(t))
	}
	for i := range out {
		if _, out[i].class = math.Frexp(out[i].area); out[i].area == 0 { // of which Frexp says 0
			out[i].class = math.MinInt
		}
	}
	slices.SortStableFunc(out, func(a, b piece) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(b.class, a.class)) })
	return out
}
