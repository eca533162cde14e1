package diff

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/untoldkit/untold/format/vertex"
)

// triangle is a triangle of a unit. Its corners are read again where they matter.
type triangle struct {
	place uint64 // hash of the sorted corners
	look  uint64 // hash of the attributes, in that order, with the material
	unit  int32
	k     int32 // in the unit
}

// oneByOne settles the triangles of the units that are still pending.
func (m *match) oneByOne() {
	var lists [2][]triangle
	for s := range lists {
		lists[s] = m.pendingTriangles(s)
	}
	var left [2][]triangle
	a, b := lists[0], lists[1]
	for len(a) > 0 && len(b) > 0 {
		switch p := a[0].place; {
		case p < b[0].place:
			left[0] = append(left[0], a[0])
			a = a[1:]
		case p > b[0].place:
			left[1] = append(left[1], b[0])
			b = b[1:]
		default:
			n, k := samePlace(a), samePlace(b)
			x, y := m.pairGroup(a[:n], b[:k])
			left[0], left[1] = append(left[0], x...), append(left[1], y...)
			a, b = a[n:], b[k:]
		}
	}
	left[0], left[1] = append(left[0], a...), append(left[1], b...)
	if m.tolerance > 0 {
		left = m.pairLoosely(left)
	}
	left = m.pairMoved(left)
	for s, list := range left {
		for _, t := range list {
			m.oneSided(s, &m.units[s][t.unit], 1)
		}
	}
}

// oneSided counts triangles that one side alone has.
func (m *match) oneSided(s int, u *unit, n int64) {
	for _, c := range []*Triangles{&m.total, &u.count} {
		if s == 0 {
			c.Removed += n
		} else {
			c.Added += n
		}
	}
}

// pendingTriangles lists the triangles of the pending units of a side, sorted.
// Those beyond what the file holds several times over are counted at once.
func (m *match) pendingTriangles(s int) []triangle {
	budget := int64(maxOverlap*len(m.content[s].geo.Indices)/6 + 1<<20)
	var out []triangle
	for i := range m.units[s] {
		u := &m.units[s][i]
		if u.settled || u.triangles == 0 {
			continue
		}
		if u.triangles > budget {
			u.count.Unmatched, m.total.Unmatched = true, true
			m.oneSided(s, u, u.triangles)
			continue
		}
		budget -= u.triangles
		name := hashString(u.material)
		for k := range int(u.triangles) {
			c, turned := sortedCorners(u.corners(k))
			t := triangle{place: seed, look: mix(seed, name), unit: int32(i), k: int32(k)}
			if turned {
				t.look = mix(t.look, 1)
			}
			for j := range c {
				for _, x := range c[j].at {
					t.place = mix(t.place, math.Float64bits(x))
				}
				t.look = mix(t.look, hashVertex(&c[j].v, true))
			}
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(x, y triangle) int {
		return cmp.Or(cmp.Compare(x.place, y.place), cmp.Compare(x.look, y.look), cmp.Compare(x.unit, y.unit), cmp.Compare(x.k, y.k))
	})
	return out
}

const seed = 0x9e3779b97f4a7c15

// mix is one step of a hash that is the same in every run, which those of
// hash/maphash are not.
func mix(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^v, 0xd6e8feb86659fd93)
	return (hi ^ lo) + bits.RotateLeft64(h, 23) + seed
}

func hashString(s string) uint64 {
	h := uint64(seed)
	for i := range len(s) {
		h = mix(h, uint64(s[i]))
	}
	return h
}

func hashVertex(v *vertex.Vertex, tangent bool) uint64 {
	h := mix(seed, uint64(v.Normal))
	if tangent {
		h = mix(h, uint64(v.Tangent))
	}
	h = mix(h, uint64(v.UV0[0])|uint64(v.UV0[1])<<16|uint64(v.UV1[0])<<32|uint64(v.UV1[1])<<48)
	return mix(h, uint64(v.Color[0])|uint64(v.Color[1])<<8|uint64(v.Color[2])<<16|uint64(v.Color[3])<<24)
}

func samePlace(list []triangle) int {
	n := 1
	for n < len(list) && list[n].place == list[0].place {
		n++
	}
	return n
}

// fewInPlace is how many triangles with the same corners are paired by likeness;
// more are paired in their order.
const fewInPlace = 8

// pairGroup settles triangles with the same corners and returns those that are left.
func (m *match) pairGroup(a, b []triangle) (p, q []triangle) {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i].look < b[j].look:
			p = append(p, a[i])
			i++
		case a[i].look > b[j].look:
			q = append(q, b[j])
			j++
		default:
			if mask, ok := m.maskOf(a[i], b[j]); ok && mask == 0 {
				m.settle(a[i], b[j], 0)
			} else { // hashes that are the same by chance or design
				p, q = append(p, a[i]), append(q, b[j])
			}
			i, j = i+1, j+1
		}
	}
	p, q = append(p, a[i:]...), append(q, b[j:]...)
	if len(p) == 0 || len(q) == 0 {
		return p, q
	}
	return m.pairAlike(p, q)
}

// pairAlike pairs triangles with the same corners and other attributes.
func (m *match) pairAlike(a, b []triangle) (p, q []triangle) {
	type pair struct{ i, j, mask int }
	var pairs []pair
	if len(a) <= fewInPlace && len(b) <= fewInPlace {
		for i := range a {
			for j := range b {
				if mask, ok := m.maskOf(a[i], b[j]); ok {
					pairs = append(pairs, pair{i, j, mask})
				}
			}
		}
		slices.SortStableFunc(pairs, func(x, y pair) int {
			return cmp.Or(cmp.Compare(bits.OnesCount(uint(x.mask)), bits.OnesCount(uint(y.mask))), cmp.Compare(x.mask, y.mask),
				cmp.Compare(x.i+x.j, y.i+y.j))
		})
	} else {
		for i := range min(len(a), len(b)) {
			if mask, ok := m.maskOf(a[i], b[i]); ok {
				pairs = append(pairs, pair{i, i, mask})
			}
		}
	}
	usedA, usedB := make([]bool, len(a)), make([]bool, len(b))
	for _, x := range pairs {
		if !usedA[x.i] && !usedB[x.j] {
			usedA[x.i], usedB[x.j] = true, true
			m.settle(a[x.i], b[x.j], x.mask)
		}
	}
	return unused(a, usedA), unused(b, usedB)
}

func unused(list []triangle, used []bool) (out []triangle) {
	for i := range list {
		if !used[i] {
			out = append(out, list[i])
		}
	}
	return out
}

// maskOf compares two triangles; ok says that their corners are the same.
func (m *match) maskOf(a, b triangle) (mask int, ok bool) {
	u, v := &m.units[0][a.unit], &m.units[1][b.unit]
	x, turnedX := sortedCorners(u.corners(int(a.k)))
	y, turnedY := sortedCorners(v.corners(int(b.k)))
	for i := range x {
		for k := range 3 {
			if cmp.Compare(x[i].at[k], y[i].at[k]) != 0 {
				return 0, false
			}
		}
	}
	mask = differences(&x, &y, u.material != v.material)
	if turnedX != turnedY {
		mask |= otherWinding
	}
	return mask, true
}

// settle counts a triangle that both sides have in one place.
func (m *match) settle(a, b triangle, mask int) {
	for _, c := range m.counts(a, b) {
		if mask == 0 {
			c.Same++
			continue
		}
		c.Changed++
		c.Attributes.note(mask)
	}
}

// counts returns where a triangle of both sides is counted: in total, and in its
// mesh, if that is the same.
func (m *match) counts(a, b triangle) []*Triangles {
	u, v := &m.units[0][a.unit], &m.units[1][b.unit]
	if u.partner == int(b.unit) {
		return []*Triangles{&m.total, &u.count}
	}
	u.count.To++
	v.count.From++
	return []*Triangles{&m.total}
}
