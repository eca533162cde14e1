package format

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/format/vertex"
)

// checkMeshRanges looks for ranges that overlap without being the same, and
// for geometry that no mesh names.
func (p *parser) checkMeshRanges() {
	if !p.usable[ChunkMeshes] {
		return
	}
	p.checkCoverage(ChunkVertices, func(m *records.Mesh) (uint64, uint64) { return m.VertexOffset, m.VertexSize })
	p.checkCoverage(ChunkIndices, func(m *records.Mesh) (uint64, uint64) { return m.IndexOffset, m.IndexSize })
}

func (p *parser) checkCoverage(t ChunkType, get func(*records.Mesh) (off, n uint64)) {
	if p.index[t] < 0 {
		return
	}
	type piece struct {
		off, end uint64
		i        int
	}
	size := p.chunk(t).UncompressedSize
	var pieces []piece
	for i := range p.meshes {
		off, n := get(&p.meshes[i])
		if off > size || n > size-off {
			return // reported as a range error; coverage has no meaning
		}
		if n > 0 {
			pieces = append(pieces, piece{off, off + n, i})
		}
	}
	slices.SortFunc(pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(b.end, a.end), cmp.Compare(a.i, b.i))
	})
	var end, unused uint64
	prev := piece{}
	for _, s := range pieces {
		if s.off > end {
			unused += s.off - end
		}
		if s.off < end && (s.off != prev.off || s.end != prev.end) {
			p.report(codeRangeOverlap, p.recordAt(ChunkMeshes, s.i, 32), "range [%d, %d) of %s overlaps [%d, %d) of mesh %d",
				s.off, s.end, t, prev.off, prev.end, prev.i)
		}
		end = max(end, s.end)
		prev = s
	}
	if unused += size - end; unused > 0 {
		p.report(codeRangeUnused, inChunk(t, int64(p.chunk(t).Offset)), "%d of %d bytes belong to no mesh", unused, size)
	}
}

// geometryChecker judges the values of vertices and indices mesh by mesh.
type geometryChecker struct {
	p             *parser
	vertices      []byte
	indices       []byte
	haveV, haveI  bool
	vBase, iBase  int64 // file offset of the chunk, -1 when compressed
	work, maxWork uint64
	seen          map[[2]uint64]records.Bounds // vertex ranges judged before, with their boxes
	seenIndices   map[indexKey]bool
	used          []uint64 // bit set of the mesh's referenced vertices
	worlds        []worldTransform
	boxes         []entityBoxes // by entities
	cut           int           // meshes that were not looked at
}

// indexKey is what the verdict on a mesh's indices depends on.
type indexKey struct {
	off, n   uint64
	typ      vertex.IndexType
	vertices uint32
}

// leastWork is how many bytes of geometry may be looked at in small files with
// many instances, too.
const leastWork = 1 << 30

// checkGeometry decodes the geometry and judges every mesh, until it has looked
// at so many bytes at least.
func (p *parser) checkGeometry(least uint64) {
	p.checkMeshRanges()
	g := geometryChecker{p: p, seen: map[[2]uint64]records.Bounds{}, seenIndices: map[indexKey]bool{}}
	g.vertices, g.haveV, g.vBase = p.geometryTable(ChunkVertices)
	g.indices, g.haveI, g.iBase = p.geometryTable(ChunkIndices)
	g.maxWork = 8*uint64(len(g.vertices)+len(g.indices)) + least
	if !p.usable[ChunkMeshes] {
		return
	}
	g.worlds, g.boxes = p.worldTransforms(), make([]entityBoxes, len(p.entities))
	for i := range p.meshes {
		g.mesh(i)
	}
	g.checkEntityBoxes()
	if g.cut > 0 {
		p.report(codeChecksCut, inChunk(ChunkMeshes, -1), "%d of %d meshes were not looked at: they name more than %d bytes of geometry together", g.cut, len(p.meshes), g.maxWork)
	}
}

func (p *parser) geometryTable(t ChunkType) ([]byte, bool, int64) {
	b, ok := p.table(t)
	if ok && p.chunk(t).Compression == CompressNone {
		return b, ok, int64(p.chunk(t).Offset)
	}
	return b, ok, -1
}

func (g *geometryChecker) mesh(i int) {
	p, m := g.p, &g.p.meshes[i]
	at := func(f int) place { return p.recordAt(ChunkMeshes, i, f) }
	if m.IndexCount == 0 || m.VertexCount == 0 {
		p.report(codeMeshEmpty, at(16), "%d vertices, %d indices", m.VertexCount, m.IndexCount)
	}
	if m.IndexType == vertex.Index32 && m.VertexCount <= 65535 && m.VertexCount > 0 {
		p.report(codeIndexWide, at(12), "32-bit indices for %d vertices", m.VertexCount)
	}
	edgeBytes := (m.Reserved0 >> 32) * uint64(m.IndexType.Size())
	if want := m.VertexSize + m.IndexSize; m.EstimatedGPUBytes != want && m.EstimatedGPUBytes != want+edgeBytes {
		p.report(codeGPUBytes, at(64), "%d bytes, vertices and indices have %d", m.EstimatedGPUBytes, want)
	}
	if edgeBytes > 0 && !p.holdsEdges(m.Reserved0&0xffffffff, edgeBytes) {
		p.report(codeEdgeRange, at(72), "edge indices [%d, +%d) are not in the file", m.Reserved0&0xffffffff, edgeBytes)
	}
	if m.Flags != 0 {
		p.report(codeReserved, at(28), "mesh flags are 0x%x", m.Flags)
	}
	boxOK := p.checkBox(m.LocalBounds, "mesh bounds", at(80))
	if g.work > g.maxWork {
		g.cut++
		return
	}
	vertices, vok := subRange(g.vertices, m.VertexOffset, m.VertexSize, g.haveV)
	indices, iok := subRange(g.indices, m.IndexOffset, m.IndexSize, g.haveI)
	vok = vok && m.VertexSize == uint64(m.VertexCount)*vertex.Size
	iok = iok && m.IndexType.Size() > 0 && m.IndexSize == uint64(m.IndexCount)*uint64(m.IndexType.Size())
	if key := (indexKey{m.IndexOffset, m.IndexSize, m.IndexType, m.VertexCount}); iok && !g.seenIndices[key] {
		g.seenIndices[key] = true
		g.work += m.IndexSize
		g.checkIndexValues(i, m, indices)
	}
	if !vok || m.VertexCount == 0 {
		return
	}
	key := [2]uint64{m.VertexOffset, m.VertexSize}
	box, seen := g.seen[key]
	if !seen {
		box, _ = positionBounds(vertices)
		g.seen[key] = box
		g.work += m.VertexSize
		g.checkVertexValues(i, m, vertices)
	} else if j, ok := p.byID[m.EntityID]; ok && !g.worlds[j].identity {
		g.work += m.VertexSize // its transform moves them once more
	}
	if boxOK && finite(box.Min[:]...) && finite(box.Max[:]...) {
		p.compareBox(m.LocalBounds, box, "mesh bounds", at(80), true, 1)
	}
	g.gather(m, box, vertices)
}

// holdsEdges reports whether the chunk of edge indices, which later writers
// add, has a range.
func (p *parser) holdsEdges(off, n uint64) bool {
	return slices.ContainsFunc(p.chunks, func(c Chunk) bool {
		return c.Type == chunkEdges && off <= c.UncompressedSize && n <= c.UncompressedSize-off
	})
}

func subRange(b []byte, off, n uint64, ok bool) ([]byte, bool) {
	if size := uint64(len(b)); !ok || off > size || n > size-off {
		return nil, false
	}
	return b[off : off+n], true
}

// checkIndexValues finds indices out of range, unused vertices and triangles
// with repeated indices.
func (g *geometryChecker) checkIndexValues(i int, m *records.Mesh, b []byte) {
	p := g.p
	bad, firstBad, degenerate := 0, 0, 0
	words := (uint64(m.VertexCount) + 63) / 64
	if words > uint64(len(g.vertices)) { // a count that nothing backs
		words = 0
	}
	g.used = slices.Grow(g.used[:0], int(words))[:words]
	clear(g.used)
	n := int(m.IndexCount)
	for k := range n {
		v := vertex.IndexAt(b, m.IndexType, k)
		if v >= m.VertexCount {
			if bad++; bad == 1 {
				firstBad = k
			}
		} else if words > 0 {
			g.used[v/64] |= 1 << (v % 64)
		}
		if k%3 == 2 {
			x, y := vertex.IndexAt(b, m.IndexType, k-2), vertex.IndexAt(b, m.IndexType, k-1)
			if x == y || y == v || v == x {
				degenerate++
			}
		}
	}
	if bad > 0 {
		at := place{ChunkMeshes, i, -1}
		if g.iBase >= 0 {
			at.offset = g.iBase + int64(m.IndexOffset) + int64(firstBad*m.IndexType.Size())
		}
		p.report(codeIndexValue, at, "%d of %d indices are not below the vertex count %d, the first is index %d = %d",
			bad, n, m.VertexCount, firstBad, vertex.IndexAt(b, m.IndexType, firstBad))
	}
	if degenerate > 0 {
		p.report(codeDegenerate, p.recordAt(ChunkMeshes, i, 40), "%d of %d triangles repeat an index", degenerate, n/3)
	}
	if words == 0 || n == 0 {
		return
	}
	if unused := int(m.VertexCount) - countBits(g.used); unused > 0 {
		p.report(codeVertexUnused, p.recordAt(ChunkMeshes, i, 16), "%d of %d vertices are not referenced", unused, m.VertexCount)
	}
}

// vertexTally counts what is wrong with the vertices of a mesh, by kind.
type vertexTally struct {
	code  finding.Code
	what  string
	n     int
	first int // vertex
	field int64
}

// checkVertexValues judges packed attributes; it reports each kind of fault
// once per mesh, with a count and the first place.
func (g *geometryChecker) checkVertexValues(i int, m *records.Mesh, b []byte) {
	tallies := [...]vertexTally{
		{code: codePosition, what: "positions are not finite", field: 0},
		{code: codeUV, what: "texture coordinates are not finite", field: 20},
		{code: codeNormal, what: "normals are not of unit length", field: 12},
		{code: codeNormalBits, what: "packed normals have top bits set or a component of -512", field: 12},
		{code: codeTangent, what: "tangents are not of unit length", field: 16},
		{code: codeTangentBits, what: "packed tangents have top bits other than 1 and 3 or a component of -512", field: 16},
	}
	hit := func(k, v int) {
		if tallies[k].n++; tallies[k].n == 1 {
			tallies[k].first = v
		}
	}
	le := binary.LittleEndian
	for v := range int(m.VertexCount) {
		s := b[v*vertex.Size:][:vertex.Size]
		if !finite(records.Float(s), records.Float(s[4:]), records.Float(s[8:])) {
			hit(0, v)
		}
		if halfNotFinite(le.Uint64(s[20:])) {
			hit(1, v)
		}
		normal, tangent := le.Uint32(s[12:]), le.Uint32(s[16:])
		if !vertex.IsUnit(normal) {
			hit(2, v)
		}
		if normal>>30 != 0 || vertex.HasMin(normal) {
			hit(3, v)
		}
		if !vertex.IsUnit(tangent) {
			hit(4, v)
		}
		if tangent>>30&1 == 0 || vertex.HasMin(tangent) {
			hit(5, v)
		}
	}
	for _, t := range tallies {
		if t.n == 0 {
			continue
		}
		at := place{ChunkMeshes, i, -1}
		if g.vBase >= 0 {
			at.offset = g.vBase + int64(m.VertexOffset) + int64(t.first)*vertex.Size + t.field
		}
		g.p.report(t.code, at, "%d of %d %s, the first is vertex %d", t.n, m.VertexCount, t.what, t.first)
	}
}

// halfNotFinite tests four halves at once for an exponent of all ones.
func halfNotFinite(v uint64) bool {
	const exp = 0x7c007c007c007c00
	const low = 0x0400040004000400
	// Adding one to the exponent field carries into the sign's place only
	// when the field was all ones.
	return ((v&exp)+low)&0x8000800080008000 != 0
}

func countBits(words []uint64) int {
	n := 0
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}
