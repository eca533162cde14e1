package mesh

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
)

// weldVertices maps every vertex to the first one with the same position,
// normal and UV. Nothing else may tell them apart: seams in other attributes
// must not show as seams of the tangents. The hash seed differs per process
// and does not influence the result.
func weldVertices(m *Mesh) []uint32 {
	size := 16
	for size < len(m.Positions)*2 {
		size *= 2
	}
	mask := uint64(size - 1)
	table := make([]uint32, size) // vertex + 1
	out := make([]uint32, len(m.Positions))
	var key, other [44]byte
	for i := range m.Positions {
		weldKey(&key, m, i)
		for h := maphash.Bytes(weldSeed, key[:]) & mask; ; h = (h + 1) & mask {
			k := table[h]
			if k == 0 {
				table[h], out[i] = uint32(i)+1, uint32(i)
				break
			}
			if weldKey(&other, m, int(k-1)); other == key {
				out[i] = k - 1
				break
			}
		}
	}
	return out
}

// weldKey writes the bits of what is compared; adding +0 makes -0 equal to it.
func weldKey(b *[44]byte, m *Mesh, i int) {
	le := binary.LittleEndian
	p, n, t := &m.Positions[i], &m.Normals[i], &m.UV[0][i]
	le.PutUint64(b[0:], math.Float64bits(p[0]+0))
	le.PutUint64(b[8:], math.Float64bits(p[1]+0))
	le.PutUint64(b[16:], math.Float64bits(p[2]+0))
	le.PutUint32(b[24:], math.Float32bits(n[0]+0))
	le.PutUint32(b[28:], math.Float32bits(n[1]+0))
	le.PutUint32(b[32:], math.Float32bits(n[2]+0))
	le.PutUint32(b[36:], math.Float32bits(t[0]+0))
	le.PutUint32(b[40:], math.Float32bits(t[1]+0))
}

// link pairs half-edges that run between the same welded vertices in opposite
// directions. Where more than two triangles meet, the first of each direction
// pair up, in the order of the triangles.
func (g *tangentSpace) link() {
	g.twin = make([]uint32, g.n)
	start := make([]uint32, len(g.weld)+1) // by the smaller vertex of an edge
	for h := range uint32(g.n) {
		if g.faces[h/3].flags&faceFlat == 0 {
			a, b := g.ends(h)
			start[min(a, b)+1]++
		}
	}
	for i := 1; i < len(start); i++ {
		start[i] += start[i-1]
	}
	edges := make([]uint64, start[len(start)-1]) // larger vertex, half-edge
	for h := range uint32(g.n) {
		if g.faces[h/3].flags&faceFlat == 0 {
			a, b := g.ends(h)
			lo := min(a, b)
			edges[start[lo]] = uint64(max(a, b))<<32 | uint64(h)
			start[lo]++
		}
	}
	begin := uint32(0)
	var wait []uint32
	for _, end := range start[:len(g.weld)] {
		list := edges[begin:end]
		begin = end
		sortEdges(list)
		for i := 0; i < len(list); {
			k := i + 1
			for k < len(list) && list[k]>>32 == list[i]>>32 {
				k++
			}
			if k-i > 1 {
				wait = g.pair(list[i:k], wait)
			}
			i = k
		}
	}
}

// ends returns the welded vertices of a half-edge.
func (g *tangentSpace) ends(h uint32) (from, to uint32) {
	return g.weld[g.m.Indices[h]], g.weld[g.m.Indices[after(h)]]
}

// sortEdges sorts; the lists are short but in hostile meshes.
func sortEdges(a []uint64) {
	if len(a) > 24 {
		slices.Sort(a)
		return
	}
	for i := 1; i < len(a); i++ {
		x, k := a[i], i
		for ; k > 0 && a[k-1] > x; k-- {
			a[k] = a[k-1]
		}
		a[k] = x
	}
}

// pair links the half-edges of one edge. wait is scratch space: those of one
// direction that are still without a partner.
func (g *tangentSpace) pair(list []uint64, wait []uint32) []uint32 {
	wait = wait[:0]
	first, up := 0, false
	for _, e := range list {
		h := uint32(e)
		a, b := g.ends(h)
		if first == len(wait) || up == (a < b) {
			up = a < b
			wait = append(wait, h)
			continue
		}
		o := wait[first]
		first++
		g.twin[h], g.twin[o] = o+1, h+1
	}
	return wait
}
