package render

import (
	"cmp"
	"slices"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/format/vertex/compact"
)

// bundle is the meshes of a representation whose vertices have one layout: few have colours
// or a normal map, and those should not cost the others bytes.
type bundle struct {
	packing           compact.Packing
	at                place
	vertices, indices []byte // until they are uploaded
}

// vertexRange is the vertices of a mesh, or of several that share them.
type vertexRange struct {
	from, size int // bytes in the asset
	layout     compact.Layout
	first      int32 // vertex in the bundle
}

// pack stores the vertices of each mesh in as few bytes as it can do with, all on one
// lattice; made is what was made of them already, or nil.
func (p *prepared) pack(meshes []records.Mesh, made *Packed) {
	ranges, of := p.ranges(meshes)
	if made == nil || !made.fits(ranges) {
		made = p.packed(ranges)
	}
	p.made = made
	packing := made.Packing
	if packing.Layout == compact.Full {
		p.bundles = []bundle{{vertices: p.vertices, indices: p.indices}}
		return
	}
	var number [compact.Layouts]int32
	for l := range compact.Layouts {
		if slices.Contains(made.Layouts, l) {
			number[l] = int32(len(p.bundles))
			packing.Layout = l
			p.bundles = append(p.bundles, bundle{packing: packing, vertices: made.Vertices[l]})
		}
	}
	var first [compact.Layouts]int32
	for i := range ranges {
		r, l := &ranges[i], made.Layouts[i]
		r.layout, r.first = l, first[l]
		first[l] += int32(r.size / vertex.Size)
	}
	for i := range p.meshes {
		m, r := &p.meshes[i], &ranges[of[i]]
		m.bundle = number[r.layout]
		m.baseVertex += r.first - int32(r.from/vertex.Size)
	}
	p.dealIndices()
}

// ranges returns the vertex ranges of the meshes, in their order in the asset, with the
// layouts that they have at least, and which is whose. Where some overlap, all vertices are
// one range.
func (p *prepared) ranges(meshes []records.Mesh) (list []vertexRange, of []int) {
	type span struct{ from, size int }
	spanOf := func(m *mesh) span {
		return span{int(m.baseVertex) * vertex.Size, int(meshes[m.record].VertexSize)}
	}
	number := map[span]int{}
	for i := range p.meshes {
		m := &p.meshes[i]
		s := spanOf(m)
		at, ok := number[s]
		if !ok {
			at = len(list)
			number[s] = at
			list = append(list, vertexRange{from: s.from, size: s.size, layout: compact.Plain})
		}
		if p.materials[m.material].NormalTexture != records.NoIndex {
			list[at].layout = compact.Mapped
		}
	}
	slices.SortFunc(list, func(a, b vertexRange) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.size, b.size))
	})
	of = make([]int, len(p.meshes))
	end, overlap, most := 0, false, compact.Plain
	for i, r := range list {
		number[span{r.from, r.size}] = i
		overlap = overlap || r.from < end
		end = max(end, r.from+r.size)
		most = max(most, r.layout)
	}
	if overlap {
		return []vertexRange{{size: len(p.vertices) / vertex.Size * vertex.Size, layout: most}}, of
	}
	for i := range p.meshes {
		of[i] = number[spanOf(&p.meshes[i])]
	}
	return list, of
}

// dealIndices gives the bundles the indices of their meshes: one all of them as they are,
// several each range once.
func (p *prepared) dealIndices() {
	if len(p.bundles) == 1 {
		p.bundles[0].indices = p.indices
		return
	}
	type span struct {
		bundle       int32
		first, count uint32
		wide         bool
	}
	moved := map[span]uint32{}
	for i := range p.meshes {
		m := &p.meshes[i]
		s := span{m.bundle, m.firstIndex, m.indexCount, m.wide}
		first, ok := moved[s]
		if !ok {
			size := m.indexSize()
			b := &p.bundles[m.bundle]
			for len(b.indices)%4 != 0 {
				b.indices = append(b.indices, 0)
			}
			first = uint32(len(b.indices) / size)
			from := int(m.firstIndex) * size
			b.indices = append(b.indices, p.indices[from:from+int(m.indexCount)*size]...)
			moved[s] = first
		}
		m.firstIndex = first
	}
}

// indexSize returns the bytes of an index.
func (m *mesh) indexSize() int {
	if m.wide {
		return 4
	}
	return 2
}

// pending returns the bytes of a representation that are to be uploaded, or were.
func (n *rep) pending() (bytes int) {
	for i := range n.bundles {
		bytes += len(n.bundles[i].vertices) + len(n.bundles[i].indices)
	}
	return bytes
}

// forget gives up the bytes that were uploaded, or need not be any more.
func (n *rep) forget() {
	n.asset.Release()
	n.asset = nil
	n.made.release()
	n.made = nil
	for i := range n.bundles {
		n.bundles[i].vertices, n.bundles[i].indices = nil, nil
	}
}

// give gives the memory of bundles back to a pool.
func (p *pool) give(bundles []bundle) {
	for i := range bundles {
		p.release(bundles[i].at)
	}
}
