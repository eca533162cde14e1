package simplify

import (
	"math"
	"math/bits"

	"github.com/untoldkit/untold/internal/geom"
)

// none marks dead corners, missing vertices and empty slots of tables.
const none = ^uint32(0)

// table is a hash table of numbers with open addressing; what they stand for
// is compared by its users. Lookups give the same answers whatever the hashes,
// so that these never show in results.
type table struct {
	slots []uint32
	mask  uint64
}

func newTable(n int) table {
	size := 16
	for size < n+n/2 {
		size *= 2
	}
	t := table{slots: make([]uint32, size), mask: uint64(size - 1)}
	for i := range t.slots {
		t.slots[i] = none
	}
	return t
}

// insert reports whether the table holds a number with the same key, and adds
// this one if not.
func (t *table) insert(c uint32, key func(c uint32) [3]uint32) bool {
	k := key(c)
	h := mix(mix(uint64(k[0])<<32|uint64(k[1])) ^ uint64(k[2]))
	for h &= t.mask; ; h = (h + 1) & t.mask {
		j := t.slots[h]
		if j == none {
			t.slots[h] = c
			return false
		}
		if key(j) == k {
			return true
		}
	}
}

// mix is the finalizer of a common 64-bit hash (splitmix64).
func mix(h uint64) uint64 {
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}

func hashPosition(p *geom.Vec3) uint64 {
	// Adding zero turns -0 into 0, which is the same vertex.
	x, y, z := math.Float64bits(p[0]+0), math.Float64bits(p[1]+0), math.Float64bits(p[2]+0)
	return fold(fold(x^0x9e3779b97f4a7c15, y^0xbf58476d1ce4e5b9)^z, 0x94d049bb133111eb)
}

// fold mixes two numbers by the two halves of their product, and themselves, as
// one may be zero.
func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low ^ a ^ b
}

// weldPositions numbers distinct positions by their first vertex and returns
// each vertex's number and each number's first vertex. firsts is nil when no
// two vertices share a position. memory is overwritten.
func weldPositions(positions []geom.Vec3, memory []uint32) (vertex, firsts []uint32) {
	// Like table, but of any size, which mostly fits into memory, and with numbers
	// greater by one, so that empty slots are zero.
	n := len(positions)
	if len(memory) < n+n/2 {
		memory = make([]uint32, n+n/2+1)
	}
	slots := memory[:min(len(memory), 2*n)]
	clear(slots)
	vertex = make([]uint32, n)
	count := uint32(0)
	for i := range positions {
		p := &positions[i]
		h, _ := bits.Mul64(hashPosition(p), uint64(len(slots)))
		for {
			j := slots[h]
			if j == 0 {
				slots[h] = uint32(i) + 1
				vertex[i] = count
				count++
				break
			}
			if q := &positions[j-1]; q[0] == p[0] && q[1] == p[1] && q[2] == p[2] {
				vertex[i] = vertex[j-1]
				break
			}
			if h++; h == uint64(len(slots)) {
				h = 0
			}
		}
	}
	if int(count) == n {
		return vertex, nil
	}
	firsts = make([]uint32, count)
	for i := n - 1; i >= 0; i-- {
		firsts[vertex[i]] = uint32(i)
	}
	return vertex, firsts
}

// wedges are the distinct (vertex, attributes, group) triples of a mesh.
type wedges struct {
	vertex   []uint32 // per wedge
	input    []uint32 // per wedge: an input vertex with its attributes; nil: the same number
	group    []int32  // per wedge; nil without groups
	of       []uint32 // per vertex: one of its wedges, none for unused ones; nil: the same number
	vertices int      // that have a wedge
}

func (w *wedges) source(i uint32) uint32 {
	if w.input == nil {
		return i
	}
	return w.input[i]
}

// weldWedges finds the wedges and writes the one of each corner. Vertices that
// weld, if not nil, says so for may differ in their normals. vertex becomes that of the
// wedges; memory is overwritten.
func weldWedges(m *Mesh, vertex, firsts []uint32, weld func(v uint32) bool, corners, memory []uint32) wedges {
	vertices := len(vertex)
	if firsts != nil {
		vertices = len(firsts)
	}
	if m.Groups != nil {
		return weldGroups(m, vertex, vertices, weld, corners)
	}
	if firsts == nil {
		copy(corners, m.Indices)
		return wedges{vertex: vertex, vertices: vertices}
	}
	joined := corners
	if len(joined) < len(vertex) {
		joined = make([]uint32, len(vertex))
	}
	joined = joined[:len(vertex)]
	for i := range joined {
		joined[i] = none
	}
	for _, v := range m.Indices {
		joined[v] = v
	}
	count, used := joinVertices(m, vertex, vertices, weld, joined, memory)
	if count == len(vertex) {
		copy(corners, m.Indices)
		return wedges{vertex: vertex, vertices: used}
	}
	// Wedges are in the order of vertices, so that neighbours in memory stay so.
	w := wedges{vertex: vertex[:0], input: make([]uint32, 0, count), of: make([]uint32, len(vertex)), vertices: used}
	for v, first := range joined {
		switch {
		case first == uint32(v):
			w.of[v] = uint32(len(w.vertex))
			w.vertex = append(w.vertex, vertex[v])
			w.input = append(w.input, first)
		case first != none:
			w.of[v] = w.of[first]
		default:
			w.of[v] = none
		}
	}
	for c, v := range m.Indices {
		corners[c] = w.of[v]
	}
	return w
}

// joinVertices finds the vertices that are one wedge and replaces them by the
// first of them in joined, which holds each vertex's own number at first, or none
// for unused ones. It returns the numbers of wedges and of vertices that have any.
func joinVertices(m *Mesh, vertex []uint32, vertices int, weld func(v uint32) bool, joined, memory []uint32) (wedges, used int) {
	// The wedges of a vertex form a chain.
	if len(memory) < vertices+len(vertex) {
		memory = make([]uint32, vertices+len(vertex))
	}
	head, next := memory[:vertices], memory[vertices:vertices+len(vertex)]
	for i := range head {
		head[i] = none
	}
	normals := m.Normals // looked at first, as they tell most wedges apart
	if weld != nil {
		normals = nil
	}
	joined, next = joined[:len(vertex)], next[:len(vertex)]
	for i, p := range vertex {
		v := uint32(i)
		if joined[i] == none {
			continue
		}
		j := head[p]
		for n := 1; j != none; n++ {
			if (normals == nil || sameNormal(&normals[j], &normals[i])) && sameAttributes(m, j, v, weld) {
				break
			}
			if j = next[j]; n == chainMax {
				j = none
			}
		}
		if j != none {
			joined[v] = j
			continue
		}
		if next[v] = head[p]; next[v] == none {
			used++
		}
		head[p] = v
		wedges++
	}
	return wedges, used
}

// weldGroups is weldWedges where groups tell wedges apart.
func weldGroups(m *Mesh, vertex []uint32, vertices int, weld func(v uint32) bool, corners []uint32) wedges {
	w := wedges{of: make([]uint32, len(vertex))}
	for i := range w.of {
		w.of[i] = none
	}
	head := make([]uint32, vertices)
	for i := range head {
		head[i] = none
	}
	next := make([]uint32, 0, len(vertex))
	w.vertex = make([]uint32, 0, len(vertex))
	w.input = make([]uint32, 0, len(vertex))
	w.group = make([]int32, 0, len(vertex))
	add := func(v uint32, group int32) uint32 {
		p := vertex[v]
		for j, n := head[p], 0; j != none && n < chainMax; j, n = next[j], n+1 {
			if w.group[j] == group && sameAttributes(m, w.input[j], v, weld) {
				return j
			}
		}
		j := uint32(len(w.vertex))
		if head[p] == none {
			w.vertices++
		}
		next = append(next, head[p])
		head[p] = j
		w.vertex = append(w.vertex, p)
		w.input = append(w.input, v)
		w.group = append(w.group, group)
		return j
	}
	for c, v := range m.Indices {
		j, g := w.of[v], m.Groups[c/3]
		if j == none || w.group[j] != g {
			j = add(v, g)
			w.of[v] = j
		}
		corners[c] = j
	}
	return w
}

// chainMax is how many wedges of a vertex are compared. Where more meet, equal
// ones may stay apart.
const chainMax = 64

// sameAttributes reports whether two source vertices at one position are one wedge. weld is
// nil if their normals must always be the same.
func sameAttributes(m *Mesh, a, b uint32, weld func(v uint32) bool) bool {
	if a == b {
		return true
	}
	if m.Normals != nil && !sameNormal(&m.Normals[a], &m.Normals[b]) && (weld == nil || !(weld(a) && weld(b))) {
		return false
	}
	return sameUV(m.UV[0], a, b) && sameUV(m.UV[1], a, b) && sameColors(m.Colors, a, b)
}

func sameNormal(a, b *[3]float32) bool {
	return same(a[0], b[0]) && same(a[1], b[1]) && same(a[2], b[2])
}

func sameUV(uv [][2]float32, a, b uint32) bool {
	return uv == nil || same(uv[a][0], uv[b][0]) && same(uv[a][1], uv[b][1])
}

func sameColors(c [][4]float32, a, b uint32) bool {
	return c == nil || same(c[a][0], c[b][0]) && same(c[a][1], c[b][1]) && same(c[a][2], c[b][2]) && same(c[a][3], c[b][3])
}

// same counts NaN as the same as NaN.
func same(x, y float32) bool { return x == y || x != x && y != y }
