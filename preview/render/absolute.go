package render

import (
	"encoding/binary"

	"github.com/untoldkit/untold/format/vertex"
)

// Devices without a base vertex (gpu.Caps.BaseVertex) read indices that count from
// the first vertex of the page, with 32 bits: every mesh has its own, and meshes
// that are drawn from the same ranges share them.

// absoluteSize returns how many bytes the indices of a bundle take then.
func (p *prepared) absoluteSize(bundle int32) (n int) {
	for i := range p.meshes {
		m := &p.meshes[i]
		if m.bundle == bundle && (i == 0 || !m.sharesRanges(&p.meshes[i-1])) {
			n += 4 * int(m.indexCount)
		}
	}
	return n
}

// makeAbsolute replaces the indices of a bundle, of which it is known where its vertices
// lie. Meshes then have no base vertex.
func (p *prepared) makeAbsolute(bundle int32) {
	b := &p.bundles[bundle]
	first := b.at.vertices.at
	out := make([]byte, 0, p.absoluteSize(bundle))
	before := mesh{bundle: -1}
	for i := range p.meshes {
		m := &p.meshes[i]
		if m.bundle != bundle {
			continue
		}
		was := *m
		if m.sharesRanges(&before) {
			m.firstIndex = p.meshes[i-1].firstIndex
		} else {
			m.firstIndex = uint32(len(out) / 4)
			out = appendAbsolute(out, b.indices, was.wide, int(was.firstIndex), int(was.indexCount), uint32(first)+uint32(was.baseVertex))
		}
		m.baseVertex, m.wide = int32(-first), true // Upload adds first
		before = was
	}
	b.indices = out
}

// sharesRanges reports whether two meshes are drawn from the same ranges.
func (m *mesh) sharesRanges(o *mesh) bool {
	return m.bundle == o.bundle && m.firstIndex == o.firstIndex && m.indexCount == o.indexCount && m.baseVertex == o.baseVertex && m.wide == o.wide
}

// appendAbsolute appends count indices from number first on, moved by base.
func appendAbsolute(dst, indices []byte, wide bool, first, count int, base uint32) []byte {
	if wide {
		for src := indices[4*first:][:4*count]; len(src) > 0; src = src[4:] {
			dst = binary.LittleEndian.AppendUint32(dst, binary.LittleEndian.Uint32(src)+base)
		}
		return dst
	}
	for src := indices[2*first:][:2*count]; len(src) > 0; src = src[2:] {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(binary.LittleEndian.Uint16(src))+base)
	}
	return dst
}

// absoluteOf returns the indices of a batch that way.
func absoluteOf(indices []byte, t vertex.IndexType, first int) []byte {
	count := len(indices) / t.Size()
	return appendAbsolute(make([]byte, 0, 4*count), indices, t == vertex.Index32, 0, count, uint32(first))
}
