package border

import (
	"slices"

	"github.com/untoldkit/untold/cook/internal/forest"
	"github.com/untoldkit/untold/internal/geom"
)

// chains simplifies the chains of edges between places where more or fewer than two
// meet: they lose the places that lie within a tolerance of what is left (Douglas and
// Peucker 1973), and what is left does not move any more.
type chains struct {
	positions []geom.Vec3
	least     float64                 // the extent of the smallest cut that neighbours share, metres
	on        []uint8                 // by vertex: bit k for side k of the cell
	moved     map[geom.Vec3]geom.Vec3 // places that go, and where their vertices go to
	locked    map[geom.Vec3]bool
	corners   map[geom.Vec3]bool // places where two sides meet: chains end there
}

// Settle simplifies the edges on the sides of a cell, chain by chain. It returns the
// positions to simplify on, and which of them must stay: nil where nothing was cut. Edges
// that hang together along less than least metres, as those of a car, are left as they are and
// may go: kept, each such thing would take triangles for good, however coarse all else becomes.
func Settle(positions []geom.Vec3, indices []uint32, cell *geom.Box, tolerance, least float64) ([]geom.Vec3, []bool) {
	b := &chains{positions: positions, least: least, on: sidesOf(positions, cell), moved: map[geom.Vec3]geom.Vec3{}, locked: map[geom.Vec3]bool{}, corners: map[geom.Vec3]bool{}}
	for side := range sides {
		b.simplify(b.edges(indices, side), side, tolerance)
	}
	if len(b.locked) == 0 {
		return positions, nil
	}
	out, locked := slices.Clone(positions), make([]bool, len(positions))
	for i, p := range out {
		if b.on[i] == 0 {
			continue
		}
		if to, ok := b.moved[p]; ok {
			out[i] = to
		}
		locked[i] = b.locked[out[i]]
	}
	return out, locked
}

// edges returns the neighbours of places on a side, along edges of triangles that do
// not lie in it: these were cut there.
func (b *chains) edges(indices []uint32, side int) map[geom.Vec3][]geom.Vec3 {
	next := map[geom.Vec3][]geom.Vec3{}
	bit := uint8(1) << side
	for i := 0; i+2 < len(indices); i += 3 {
		t := indices[i : i+3]
		if b.on[t[0]]&b.on[t[1]]&b.on[t[2]]&bit != 0 {
			continue
		}
		for k := range t {
			u, v := t[k], t[(k+1)%3]
			if p, q := b.positions[u], b.positions[v]; b.on[u]&b.on[v]&bit != 0 && p != q {
				if !slices.Contains(next[p], q) {
					next[p], next[q] = append(next[p], q), append(next[q], p)
				}
				// A corner of the cell belongs to several sides.
				for _, w := range t {
					if b.on[w]&b.on[u]&^bit != 0 && b.on[w]&bit != 0 {
						b.corners[b.positions[w]] = true
					}
				}
			}
		}
	}
	return next
}

// simplify goes along all chains of a side.
func (b *chains) simplify(next map[geom.Vec3][]geom.Vec3, side int, tolerance float64) {
	places := make([]geom.Vec3, 0, len(next))
	for p := range next {
		places = append(places, p)
	}
	slices.SortFunc(places, comparePlaces)
	places = b.large(places, next)
	ends := map[geom.Vec3]bool{}
	for _, p := range places {
		if len(next[p]) != 2 || b.corners[p] || b.locked[p] {
			ends[p] = true
		}
	}
	seen := map[[2]geom.Vec3]bool{}
	walk := func(from, to geom.Vec3) {
		chain := []geom.Vec3{from, to}
		seen[[2]geom.Vec3{from, to}], seen[[2]geom.Vec3{to, from}] = true, true
		for last := to; !ends[last] && last != from; {
			n := next[last][0]
			if n == chain[len(chain)-2] {
				n = next[last][1]
			}
			seen[[2]geom.Vec3{last, n}], seen[[2]geom.Vec3{n, last}] = true, true
			chain, last = append(chain, n), n
		}
		b.chain(chain, tolerance)
	}
	for _, p := range places {
		if ends[p] {
			b.locked[p] = true
			list := slices.Clone(next[p])
			slices.SortFunc(list, comparePlaces)
			for _, q := range list {
				if !seen[[2]geom.Vec3{p, q}] {
					walk(p, q)
				}
			}
		}
	}
	for _, p := range places { // rings, from their least place on
		if !ends[p] && !seen[[2]geom.Vec3{p, next[p][0]}] {
			ends[p], b.locked[p] = true, true
			walk(p, slices.MinFunc(next[p], comparePlaces))
		}
	}
}

// large leaves the places whose edges hang together along at least the least extent.
func (b *chains) large(places []geom.Vec3, next map[geom.Vec3][]geom.Vec3) []geom.Vec3 {
	if !(b.least > 0) {
		return places
	}
	number := make(map[geom.Vec3]int32, len(places))
	for i, p := range places {
		number[p] = int32(i)
	}
	joined, boxes := forest.New(len(places)), make([]geom.Box, len(places)) // of what hangs together, by root
	for i, p := range places {
		boxes[i] = geom.EmptyBox()
		for _, q := range next[p] {
			joined.Unite(int32(i), number[q])
		}
	}
	for i, p := range places {
		box := &boxes[joined.Root(int32(i))]
		*box = box.Extend(p)
	}
	return slices.DeleteFunc(places, func(p geom.Vec3) bool { return boxes[joined.Root(number[p])].Size().Len() < b.least })
}

// chain keeps the places of a chain that lie farther from what is left than the
// tolerance, and moves the others to the nearest that stays along the chain.
func (b *chains) chain(c []geom.Vec3, tolerance float64) {
	if comparePlaces(c[0], c[len(c)-1]) > 0 {
		slices.Reverse(c) // both sides begin at the same end
	}
	stays := make([]bool, len(c))
	stays[0], stays[len(c)-1] = true, true
	var split func(lo, hi int)
	split = func(lo, hi int) {
		most, at := tolerance, -1
		for i := lo + 1; i < hi; i++ {
			if d := fromSegment(c[i], c[lo], c[hi]); d > most {
				most, at = d, i
			}
		}
		if at > 0 {
			stays[at] = true
			split(lo, at)
			split(at, hi)
		}
	}
	split(0, len(c)-1)
	for lo := 0; lo < len(c)-1; {
		hi := lo + 1
		for !stays[hi] {
			hi++
		}
		for i := lo + 1; i < hi; i++ {
			to := c[lo]
			if c[hi].Sub(c[i]).Len() < c[i].Sub(c[lo]).Len() {
				to = c[hi]
			}
			b.moved[c[i]] = to
		}
		b.locked[c[lo]], b.locked[c[hi]] = true, true
		lo = hi
	}
}
