package diff

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// sides orders the two lists so that the same work is done for Compare(a, b) and
// Compare(b, a).
func sides(left [2][]triangle) (first, second int) {
	if left[1][0].place < left[0][0].place {
		return 1, 0
	}
	return 0, 1
}

// grid finds triangles by the middle of their corners.
type grid struct {
	m     *match
	side  int
	cell  float64
	reach float64
	cells map[[3]float64][]int
	list  []triangle
	used  []bool
}

// crowd is how many triangles are looked at in one cell.
const crowd = 64

func (m *match) newGrid(side int, list []triangle, tolerance float64) *grid {
	g := &grid{m: m, side: side, reach: tolerance, cell: 2.5 * tolerance, cells: map[[3]float64][]int{}, list: list, used: make([]bool, len(list))}
	for i, t := range list {
		c := m.units[side][t.unit].corners(int(t.k))
		at := g.cellOf(middle(&c), 0)
		g.cells[at] = append(g.cells[at], i)
	}
	return g
}

func middle(c *[3]corner) (p [3]float64) {
	for a := range p {
		p[a] = (c[0].at[a] + c[1].at[a] + c[2].at[a]) / 3
	}
	return p
}

func (g *grid) cellOf(p [3]float64, off float64) (at [3]float64) {
	for a := range p {
		at[a] = math.Floor((p[a] + off) / g.cell)
	}
	return at
}

// find returns the unused triangle that is most alike t of the other side, moved by
// a vector: -1 for none within reach.
func (g *grid) find(t triangle, by geom.Vec3) (best, mask int) {
	u := &g.m.units[1-g.side][t.unit]
	c := u.corners(int(t.k))
	for i := range c {
		for a := range by {
			c[i].at[a] += by[a]
		}
	}
	best = -1
	low, top := g.cellOf(middle(&c), float64(-1.1*g.reach)), g.cellOf(middle(&c), float64(1.1*g.reach))
	for n := range 8 {
		at := low
		for a := range at {
			if n>>a&1 == 1 {
				at[a] = top[a]
			}
		}
		if n > 0 && at == low || slices.ContainsFunc([]int{0, 1, 2}, func(a int) bool { return n>>a&1 == 1 && low[a] == top[a] }) {
			continue
		}
		seen := 0
		for _, i := range g.cells[at] {
			if g.used[i] {
				continue
			}
			if seen++; seen > crowd {
				break
			}
			v := &g.m.units[g.side][g.list[i].unit]
			d := v.corners(int(g.list[i].k))
			k, ok := closest(&c, &d, g.reach)
			if !ok {
				continue
			}
			if u.material != v.material {
				k |= otherMaterial
			}
			if best < 0 || k < mask || k == mask && i < best {
				best, mask = i, k
			}
		}
	}
	return best, mask
}

// turns are the orders of three corners; the last three turn a triangle over.
var turns = [6][3]int{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}

// closest reports whether the corners of two triangles lie within reach of each
// other in some order, and what else differs then.
func closest(c, d *[3]corner, reach float64) (mask int, ok bool) {
	for n, turn := range turns {
		within := true
		k := 0
		for i := range c {
			e := &d[turn[i]]
			for a := range 3 {
				within = within && math.Abs(c[i].at[a]-e.at[a]) <= reach
			}
			k |= vertexDifferences(&c[i].v, &e.v)
		}
		if n >= 3 {
			k |= otherWinding
		}
		if within && (!ok || k < mask) {
			mask, ok = k, true
		}
	}
	return mask, ok
}

// pairLoosely settles triangles whose corners differ by no more than the tolerance.
func (m *match) pairLoosely(left [2][]triangle) [2][]triangle {
	if len(left[0]) == 0 || len(left[1]) == 0 {
		return left
	}
	first, second := sides(left)
	g := m.newGrid(second, left[second], m.tolerance)
	var rest []triangle
	for _, t := range left[first] {
		i, mask := g.find(t, geom.Vec3{})
		if i < 0 {
			rest = append(rest, t)
			continue
		}
		g.used[i] = true
		a, b := inOrder(first, t, g.list[i])
		m.settle(a, b, mask)
	}
	left[second] = unused(g.list, g.used)
	left[first] = rest
	return left
}

// inOrder returns a triangle of the first list and one of the second as those of A
// and B.
func inOrder(first int, t, u triangle) (a, b triangle) {
	if first == 0 {
		return t, u
	}
	return u, t
}

// part is a number of triangles that hang together.
type part struct {
	list []triangle
	min  geom.Vec3
	max  geom.Vec3
	sig  uint64 // of what is seen of it, wherever it lies
	gone bool
}

// signature is what parts have in common that may be one and the same.
type signature struct {
	triangles int
	sig       uint64
}

// partsOf divides triangles into parts by shared corners.
func (m *match) partsOf(side int, list []triangle) []*part {
	root := make([]int, len(list))
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	at := map[[3]float64]int{}
	for i, t := range list {
		root[i] = i
		for _, c := range m.units[side][t.unit].corners(int(t.k)) {
			if j, ok := at[c.at]; ok {
				root[find(i)] = find(j)
			} else {
				at[c.at] = i
			}
		}
	}
	byRoot := map[int]*part{}
	var out []*part
	for i, t := range list {
		u := &m.units[side][t.unit]
		p := byRoot[find(i)]
		c := u.corners(int(t.k))
		if p == nil {
			p = &part{min: c[0].at, max: c[0].at}
			byRoot[find(i)] = p
			out = append(out, p)
		}
		p.list = append(p.list, t)
		sum := hashString(u.material)
		for j := range c {
			sum += hashVertex(&c[j].v, false)
			for a := range p.min {
				p.min[a], p.max[a] = min(p.min[a], c[j].at[a]), max(p.max[a], c[j].at[a])
			}
		}
		p.sig += mix(seed, sum)
	}
	return out
}

// Limits of the search for moved parts: how many pairs of a kind vote for a
// translation, how many translations are tried, how many partners a part tries, how
// often a triangle is compared on average.
const (
	mostVotes  = 4096
	mostShifts = 16
	mostTries  = 16

	workPerTriangle = 64
)

// pairMoved settles parts that have the same shape and looks elsewhere.
func (m *match) pairMoved(left [2][]triangle) [2][]triangle {
	if len(left[0]) == 0 || len(left[1]) == 0 {
		return left
	}
	first, second := sides(left)
	f := &mover{m: m, first: first, second: second, work: workPerTriangle * (len(left[0]) + len(left[1]))}
	f.kinds[0], f.kinds[1] = kindsOf(m.partsOf(first, left[first])), kindsOf(m.partsOf(second, left[second]))
	for _, k := range sortedKinds(f.kinds[0]) {
		if len(f.kinds[1][k]) > 0 {
			f.common = append(f.common, k)
		}
	}
	for _, by := range f.shifts() {
		f.tryShift(by)
	}
	f.tryInOrder()
	gone := map[triangle]bool{}
	for _, k := range f.common {
		for s := range f.kinds {
			for _, p := range f.kinds[s][k] {
				if p.gone {
					for _, t := range p.list {
						gone[mark(t, s == 0)] = true
					}
				}
			}
		}
	}
	for s := range left {
		left[s] = slices.DeleteFunc(left[s], func(t triangle) bool { return gone[mark(t, s == first)] })
	}
	return left
}

// mark tells a triangle of the first list from the same of the second.
func mark(t triangle, first bool) triangle {
	t.place, t.look = 0, 0
	if first {
		t.look = 1
	}
	return t
}

func kindsOf(parts []*part) map[signature][]*part {
	out := map[signature][]*part{}
	for _, p := range parts {
		k := signature{len(p.list), p.sig}
		out[k] = append(out[k], p)
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(x, y *part) int { return slices.Compare(x.min[:], y.min[:]) })
	}
	return out
}

// sortedKinds returns the signatures, the largest first.
func sortedKinds(kinds map[signature][]*part) []signature {
	return slices.SortedFunc(maps.Keys(kinds), func(x, y signature) int {
		return cmp.Or(cmp.Compare(y.triangles, x.triangles), cmp.Compare(x.sig, y.sig))
	})
}

// mover pairs the parts of two sides.
type mover struct {
	m             *match
	first, second int
	kinds         [2]map[signature][]*part // of first and second
	common        []signature
	work          int // triangles that may still be compared
}

// slack is how far corners may lie beside where a translation brings them: both
// were rounded to single precision.
func (f *mover) slack(p, q *part) float64 {
	far := 1e-6
	for a := range p.min {
		far = max(far, math.Abs(p.min[a]), math.Abs(p.max[a]), math.Abs(q.min[a]), math.Abs(q.max[a]))
	}
	return f.m.tolerance + float64(far*0x1p-21)
}

// shiftOf returns the translation between two parts, if their boxes are alike.
func (f *mover) shiftOf(p, q *part) (by geom.Vec3, ok bool) {
	slack := f.slack(p, q)
	for a := range by {
		by[a] = q.min[a] - p.min[a]
		if !(math.Abs(q.max[a]-p.max[a]-by[a]) <= 2*slack) {
			return by, false
		}
	}
	return by, true
}

// eachPair calls do with all pairs of parts of one kind, of kinds that have not too many.
func (f *mover) eachPair(do func(k signature, p, q *part)) {
	for _, k := range f.common {
		x, y := f.kinds[0][k], f.kinds[1][k]
		if len(x)*len(y) > mostVotes {
			continue
		}
		for _, p := range x {
			for _, q := range y {
				do(k, p, q)
			}
		}
	}
}

// shifts returns the translations that most triangles agree on.
func (f *mover) shifts() []geom.Vec3 {
	votes := map[geom.Vec3]int{}
	f.eachPair(func(k signature, p, q *part) {
		if by, ok := f.shiftOf(p, q); ok {
			votes[roundShift(by)] += k.triangles
		}
	})
	out := slices.SortedFunc(maps.Keys(votes), func(x, y geom.Vec3) int {
		return cmp.Or(cmp.Compare(votes[y], votes[x]), cmp.Compare(x.Len(), y.Len()), slices.Compare(x[:], y[:]))
	})
	return out[:min(len(out), mostShifts)]
}

// roundShift rounds a translation to millimetres, so that votes for it fall
// together.
func roundShift(by geom.Vec3) geom.Vec3 {
	for a := range by {
		by[a] = geom.Round(by[a], 3) + 0
	}
	return by
}

// tryShift pairs parts that lie apart by one translation.
func (f *mover) tryShift(want geom.Vec3) {
	f.eachPair(func(_ signature, p, q *part) {
		if p.gone || q.gone {
			return
		}
		if by, ok := f.shiftOf(p, q); ok && roundShift(by) == want {
			f.pair(p, q, by)
		}
	})
}

// tryInOrder pairs what is left in the order of places.
func (f *mover) tryInOrder() {
	for _, k := range f.common {
		y := f.kinds[1][k]
		for _, p := range f.kinds[0][k] {
			for len(y) > 0 && y[0].gone {
				y = y[1:]
			}
			tries := 0
			for _, q := range y {
				if p.gone || tries >= mostTries {
					break
				}
				if q.gone {
					continue
				}
				tries++
				if by, ok := f.shiftOf(p, q); ok {
					f.pair(p, q, by)
				}
			}
		}
	}
}

// pair counts two parts as one that moved, if every triangle of the one finds its
// place in the other. Tangents may differ: they are computed from rounded places.
func (f *mover) pair(p, q *part, by geom.Vec3) {
	if f.work -= len(p.list); f.work < 0 {
		return
	}
	g := f.m.newGrid(f.second, q.list, f.slack(p, q))
	partner := make([]triangle, len(p.list))
	for k, t := range p.list {
		i, mask := g.find(t, by)
		if i < 0 || mask&^otherTangents != 0 {
			return
		}
		g.used[i], partner[k] = true, q.list[i]
	}
	p.gone, q.gone = true, true
	for k, t := range p.list {
		for _, c := range f.m.counts(inOrder(f.first, t, partner[k])) {
			c.Moved++
		}
	}
	if f.first == 1 {
		for a := range by {
			by[a] = -by[a]
		}
	}
	f.m.noteMove(by, false, int64(len(p.list)))
}
