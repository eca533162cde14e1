package mesh

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"

	"github.com/untoldkit/untold/format/vertex"
)

// PackOptions says how texture coordinates may be moved, and how many of the 10 bits of each
// part of a direction go.
type PackOptions struct {
	RepeatU, RepeatV Repeat
	DirectionBits    int
}

// Packed is a mesh in the container's layout.
type Packed struct {
	Vertices   []byte // 32 bytes each
	Indices    []uint32
	Degenerate int // triangles dropped because two corners lie at one place
	UVClamped  int // vertices whose texture coordinates exceeded half floats
}

// Pack quantises the mesh, merges vertices that are identical in the container
// (in order of first use, so that unused ones vanish) and drops triangles with
// two corners at one stored place. Missing tangents become +X, missing UVs 0,
// missing colours white. It fails on positions beyond single precision.
func (m *Mesh) Pack(o PackOptions) (*Packed, error) {
	q := quantizer{m: m, directionBits: o.DirectionBits}
	q.shift[0], q.shift[1] = m.uvShift(o)
	indices := make([]uint32, len(m.Indices)/3*3)
	out := &Packed{}
	remap := make([]uint32, len(m.Positions)) // vertex + 1
	w := newWelder(min(len(m.Positions), len(m.Indices)))
	n := 0
	for i := 0; i+2 < len(m.Indices); i += 3 {
		t := indices[n : n+3 : n+3]
		for k, v := range m.Indices[i : i+3 : i+3] {
			if remap[v] == 0 {
				if err := q.put(w.next(), int(v)); err != nil {
					return nil, err
				}
				remap[v] = w.add() + 1
			}
			t[k] = remap[v] - 1
		}
		if w.samePlace(t[0], t[1]) || w.samePlace(t[1], t[2]) || w.samePlace(t[2], t[0]) {
			out.Degenerate++
			continue
		}
		n += 3
	}
	out.Indices, out.Vertices, out.UVClamped = indices[:n], w.vertices, q.clamped
	if out.Degenerate > 0 {
		out.dropUnused()
	}
	return out, nil
}

// dropUnused removes vertices that only dropped triangles named.
func (p *Packed) dropUnused() {
	n := len(p.Vertices) / vertex.Size
	remap := make([]uint32, n)
	next := uint32(0)
	vertices := make([]byte, 0, len(p.Vertices))
	for i, v := range p.Indices {
		if remap[v] == 0 {
			next++
			remap[v] = next
			vertices = append(vertices, p.Vertices[int(v)*vertex.Size:][:vertex.Size]...)
		}
		p.Indices[i] = remap[v] - 1
	}
	p.Vertices = vertices
}

// uvShift returns whole repeats to subtract from u and from the stored v, for
// the first UV set.
func (m *Mesh) uvShift(o PackOptions) (u, v float64) {
	if m.UV[0] == nil || o.RepeatU == 0 && o.RepeatV == 0 {
		return 0, 0
	}
	inf := float32(math.Inf(1))
	loU, hiU, loV, hiV := inf, -inf, inf, -inf
	for _, i := range m.Indices {
		// Comparisons are several times as fast as min and max here.
		c := &m.UV[0][i]
		if c[0] < loU {
			loU = c[0]
		}
		if c[0] > hiU {
			hiU = c[0]
		}
		if c[1] < loV {
			loV = c[1]
		}
		if c[1] > hiV {
			hiV = c[1]
		}
	}
	return repeatShift(float64(loU), float64(hiU), o.RepeatU),
		repeatShift(1-float64(hiV), 1-float64(loV), o.RepeatV)
}

// quantizer turns vertices of a mesh into packed ones.
type quantizer struct {
	m       *Mesh
	shift   [2]float64
	clamped int

	directionBits int // that go
}

// put writes vertex i into the 32 bytes of b.
func (q *quantizer) put(b []byte, i int) error {
	m := q.m
	v := vertex.Vertex{Color: [4]uint8{255, 255, 255, 255}}
	for a, c := range m.Positions[i] {
		// -0 and +0 are one place, and adding +0 turns both into +0.
		if v.Position[a] = float32(c) + 0; v.Position[a]-v.Position[a] != 0 {
			return fmt.Errorf("position %v of vertex %d does not fit into single precision", m.Positions[i], i)
		}
	}
	if m.Normals != nil {
		v.Normal = vertex.RoundDirection(vertex.PackNormal(m.Normals[i]), q.directionBits)
	} else {
		v.Normal = plusZ
	}
	if m.Tangents != nil {
		v.Tangent = vertex.RoundDirection(vertex.PackTangent(m.Tangents[i]), q.directionBits)
	} else {
		v.Tangent = plusX
	}
	clamped := false
	if m.UV[0] != nil {
		c := &m.UV[0][i]
		v.UV0[0] = half(float64(c[0])-q.shift[0], &clamped)
		v.UV0[1] = half(1-float64(c[1])-q.shift[1], &clamped)
	}
	if m.UV[1] != nil {
		c := &m.UV[1][i]
		v.UV1[0] = half(float64(c[0]), &clamped)
		v.UV1[1] = half(1-float64(c[1]), &clamped)
	}
	if clamped {
		q.clamped++
	}
	if m.Colors != nil {
		v.Color = vertex.PackColor(m.Colors[i])
	}
	vertex.Put(b, &v)
	return nil
}

// What vertices without normals and tangents get.
var (
	plusZ = vertex.PackNormal([3]float32{0, 0, 1})
	plusX = vertex.PackTangent([4]float32{1, 0, 0, 1})
)

// half converts to a half float within their range; NaN becomes 0. It never
// returns -0, which would keep equal vertices apart.
func half(c float64, clamped *bool) uint16 {
	const limit, minusZero = 65504, 0x8000
	if !(c >= -limit && c <= limit) {
		*clamped = true
		if c != c {
			c = 0
		}
		c = max(-limit, min(limit, c))
	}
	h := vertex.Half(float32(c))
	if h == minusZero {
		return 0
	}
	return h
}

// welder merges vertices by their 32 bytes: an open-addressing table of vertex
// numbers. The hash seed differs per process, so that nobody can craft a mesh
// of collisions; it does not influence the result.
type welder struct {
	vertices []byte
	table    []uint32 // vertex + 1
	mask     uint64
}

var weldSeed = maphash.MakeSeed()

// newWelder returns a welder for at most n vertices before merging.
func newWelder(n int) *welder {
	size := 16
	for size < n*2 {
		size *= 2
	}
	return &welder{table: make([]uint32, size), mask: uint64(size - 1), vertices: make([]byte, 0, n*vertex.Size)}
}

// next returns the 32 bytes behind the last vertex, to be filled for add.
func (w *welder) next() []byte {
	n := len(w.vertices)
	return w.vertices[n : n+vertex.Size : n+vertex.Size]
}

// add returns the number of the vertex in next, keeping it when it is new.
func (w *welder) add() uint32 {
	b := w.next()
	for h := maphash.Bytes(weldSeed, b) & w.mask; ; h = (h + 1) & w.mask {
		k := w.table[h]
		if k == 0 {
			n := uint32(len(w.vertices) / vertex.Size)
			w.vertices = w.vertices[:len(w.vertices)+vertex.Size]
			w.table[h] = n + 1
			return n
		}
		if sameVertex(w.at(k-1), b) {
			return k - 1
		}
	}
}

func (w *welder) at(v uint32) []byte {
	return w.vertices[int(v)*vertex.Size:][:vertex.Size]
}

func sameVertex(a, b []byte) bool {
	le := binary.LittleEndian
	_, _ = a[vertex.Size-1], b[vertex.Size-1]
	return le.Uint64(a) == le.Uint64(b) && le.Uint64(a[8:]) == le.Uint64(b[8:]) &&
		le.Uint64(a[16:]) == le.Uint64(b[16:]) && le.Uint64(a[24:]) == le.Uint64(b[24:])
}

// samePlace reports whether two vertices have the same stored position.
func (w *welder) samePlace(i, k uint32) bool {
	a, b := w.at(i), w.at(k)
	le := binary.LittleEndian
	return le.Uint64(a) == le.Uint64(b) && le.Uint32(a[8:]) == le.Uint32(b[8:])
}
