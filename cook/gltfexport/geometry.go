package gltfexport

import (
	"encoding/binary"
	"math"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/glb"
)

// vertexKey names a converted vertex range.
type vertexKey struct {
	offset      uint64
	count       uint32
	tangent, uv bool // demanded by the material
}

// vertexSet holds the accessors of a vertex range.
type vertexSet struct {
	attributes attributesJSON
	box        geom.Box // of the positions as they are written
}

// indexKey names a converted index range.
type indexKey struct {
	offset uint64
	count  uint32
	from   vertex.IndexType
	wide   bool
}

// primitive converts the ranges of a mesh record, each once.
func (c *container) primitive(m *records.Mesh) (primitiveJSON, geom.Box, error) {
	p := primitiveJSON{}
	textured, bumped := false, false
	if m.Material != records.NoIndex {
		k, use, err := c.material(m.Material)
		if err != nil {
			return p, geom.Box{}, err
		}
		p.Material = &k
		textured, bumped = use.textured, use.normal
	}
	vk := vertexKey{m.VertexOffset, m.VertexCount, bumped, textured}
	v, ok := c.vertices[vk]
	if !ok {
		var err error
		if v, err = c.convertVertices(m, vk); err != nil {
			return p, geom.Box{}, err
		}
		c.vertices[vk] = v
	}
	p.Attributes = v.attributes
	// 65535 as a 16-bit index would mean a restart.
	ik := indexKey{m.IndexOffset, m.IndexCount, m.IndexType, m.IndexType == vertex.Index32 || m.VertexCount > math.MaxUint16}
	k, ok := c.indices[ik]
	if !ok {
		var err error
		if k, err = c.convertIndices(m, ik); err != nil {
			return p, geom.Box{}, err
		}
		c.indices[ik] = k
	}
	p.Indices = k
	return p, v.box, nil
}

// vertexLayout says which attributes a range gets, and where.
type vertexLayout struct {
	tangent, uv0, uv1, color bool
	stride                   int
}

// layoutOf looks which of the optional attributes a range uses.
func layoutOf(vertices []byte, k vertexKey) vertexLayout {
	l := vertexLayout{tangent: k.tangent, uv0: k.uv}
	for b := vertices; len(b) >= vertex.Size; b = b[vertex.Size:] {
		l.uv0 = l.uv0 || binary.LittleEndian.Uint32(b[20:]) != 0
		l.uv1 = l.uv1 || binary.LittleEndian.Uint32(b[24:]) != 0
		l.color = l.color || binary.LittleEndian.Uint32(b[28:]) != math.MaxUint32
	}
	// glTF numbers the sets without gaps.
	l.uv0 = l.uv0 || l.uv1
	l.stride = 24
	for _, f := range []struct {
		on   bool
		size int
	}{{l.tangent, 16}, {l.uv0, 8}, {l.uv1, 8}, {l.color, 4}} {
		if f.on {
			l.stride += f.size
		}
	}
	return l
}

// blockVertices is how many vertices are converted at a time.
const blockVertices = 4096

// convertVertices writes a vertex range, interleaved, and its accessors.
func (c *container) convertVertices(m *records.Mesh, k vertexKey) (vertexSet, error) {
	if err := c.charge(m.VertexSize); err != nil {
		return vertexSet{}, err
	}
	if c.opts.Compress {
		return c.compressVertices(m, k)
	}
	src := c.geo.Vertices[m.VertexOffset : m.VertexOffset+m.VertexSize]
	l := layoutOf(src, k)
	at, err := c.doc.Align()
	if err != nil {
		return vertexSet{}, located(err)
	}
	view := viewJSON{ByteOffset: at, ByteLength: int64(l.stride) * int64(m.VertexCount), ByteStride: l.stride, Target: glb.TargetVertex}
	w := vertexWriter{layout: l, min: inf3(1), max: inf3(-1)}
	for len(src) > 0 {
		n := min(len(src), blockVertices*vertex.Size)
		c.block = w.appendBlock(c.block[:0], src[:n])
		if _, err := c.doc.Write(c.block); err != nil {
			return vertexSet{}, located(err)
		}
		src = src[n:]
	}
	where := c.text(m.NameOffset)
	c.notes.add("not-finite", w.notFinite, where)
	c.notes.add("direction-missing", w.directionless, where)
	c.res.Vertices += int(m.VertexCount)
	v, err := c.doc.add(glb.BufferViews, view)
	if err != nil {
		return vertexSet{}, err
	}
	return c.vertexAccessors(v, int(m.VertexCount), &w)
}

// vertexAccessors adds the accessors of an interleaved view.
func (c *container) vertexAccessors(view, count int, w *vertexWriter) (vertexSet, error) {
	set := vertexSet{box: w.box()}
	var failed error
	offset := 0
	add := func(size int, a accessorJSON) int {
		a.BufferView, a.ByteOffset, a.Count = view, offset, count
		offset += size
		k, err := c.doc.add(glb.Accessors, a)
		if err != nil {
			failed = err
		}
		return k
	}
	optional := func(on bool, size int, a accessorJSON) *int {
		if !on {
			return nil
		}
		k := add(size, a)
		return &k
	}
	set.attributes.Position = add(12, accessorJSON{ComponentType: glb.ComponentF32, Type: "VEC3", Min: widen(w.min), Max: widen(w.max)})
	set.attributes.Normal = add(12, accessorJSON{ComponentType: glb.ComponentF32, Type: "VEC3"})
	set.attributes.Tangent = optional(w.layout.tangent, 16, accessorJSON{ComponentType: glb.ComponentF32, Type: "VEC4"})
	set.attributes.UV0 = optional(w.layout.uv0, 8, accessorJSON{ComponentType: glb.ComponentF32, Type: "VEC2"})
	set.attributes.UV1 = optional(w.layout.uv1, 8, accessorJSON{ComponentType: glb.ComponentF32, Type: "VEC2"})
	set.attributes.Color = optional(w.layout.color, 4, accessorJSON{ComponentType: glb.ComponentU8, Normalized: true, Type: "VEC4"})
	return set, failed
}

// widen keeps the exact value, so that the text says what the buffer holds.
func widen(v [3]float32) []float64 {
	return []float64{float64(v[0]), float64(v[1]), float64(v[2])}
}

func inf3(sign int) [3]float32 {
	v := float32(math.Inf(sign))
	return [3]float32{v, v, v}
}

// vertexWriter converts vertices and measures their positions.
type vertexWriter struct {
	layout                   vertexLayout
	min, max                 [3]float32
	notFinite, directionless int
}

// appendBlock appends the converted vertices of src.
func (w *vertexWriter) appendBlock(dst, src []byte) []byte {
	for ; len(src) >= vertex.Size; src = src[vertex.Size:] {
		v := vertex.Get(src)
		bad := false
		for i, x := range v.Position {
			x = finiteOr0(x, &bad)
			w.min[i], w.max[i] = min(w.min[i], x), max(w.max[i], x)
			dst = appendF32(dst, x)
		}
		n, ok := unit(vertex.UnpackNormal(v.Normal))
		if !ok {
			n = [3]float32{0, 0, 1}
		}
		dst = appendF32(dst, n[:]...)
		if w.layout.tangent {
			p := vertex.UnpackTangent(v.Tangent)
			t, found := unit([3]float32(p[:3]))
			if !found {
				t, ok = [3]float32{1, 0, 0}, false
			}
			dst = appendF32(appendF32(dst, t[:]...), p[3])
		}
		if w.layout.uv0 {
			dst = appendUV(dst, v.UV0, &bad)
		}
		if w.layout.uv1 {
			dst = appendUV(dst, v.UV1, &bad)
		}
		if w.layout.color {
			dst = append(dst, v.Color[:]...)
		}
		if bad {
			w.notFinite++
		}
		if !ok {
			w.directionless++
		}
	}
	return dst
}

// box is what the positions fill.
func (w *vertexWriter) box() geom.Box {
	b := geom.EmptyBox()
	for i := range w.min {
		b.Min[i], b.Max[i] = float64(w.min[i]), float64(w.max[i])
	}
	return b
}

func finiteOr0(x float32, bad *bool) float32 {
	if x-x != 0 {
		*bad = true
		return 0
	}
	return x
}

// appendUV turns v top-down again.
func appendUV(dst []byte, uv [2]uint16, bad *bool) []byte {
	u := finiteOr0(vertex.FromHalf(uv[0]), bad)
	v := finiteOr0(vertex.FromHalf(uv[1]), bad)
	return appendF32(dst, u, 1-v)
}

func appendF32(dst []byte, vs ...float32) []byte {
	for _, v := range vs {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

// unit gives a vector length 1; it is false for one without direction.
func unit(v [3]float32) ([3]float32, bool) {
	x, y, z := float64(v[0]), float64(v[1]), float64(v[2])
	l := math.Sqrt(float64(x*x) + float64(y*y) + float64(z*z))
	if !(l > 1e-6) {
		return v, false
	}
	return [3]float32{float32(x / l), float32(y / l), float32(z / l)}, true
}

// convertIndices writes an index range and its accessor.
func (c *container) convertIndices(m *records.Mesh, k indexKey) (int, error) {
	if err := c.charge(m.IndexSize); err != nil {
		return 0, err
	}
	if c.opts.Compress {
		return c.compressIndices(m, k)
	}
	at, err := c.doc.Align()
	if err != nil {
		return 0, located(err)
	}
	src := c.geo.Indices[m.IndexOffset : m.IndexOffset+m.IndexSize]
	a := accessorJSON{ComponentType: glb.ComponentU16, Count: int(m.IndexCount), Type: "SCALAR"}
	size := int64(2)
	if k.wide {
		a.ComponentType, size = glb.ComponentU32, 4
	}
	view := viewJSON{ByteOffset: at, ByteLength: size * int64(m.IndexCount), Target: glb.TargetIndex}
	if k.wide == (m.IndexType == vertex.Index32) {
		if _, err := c.doc.Write(src); err != nil {
			return 0, located(err)
		}
	} else if err := c.widenIndices(src); err != nil {
		return 0, err
	}
	if a.BufferView, err = c.doc.add(glb.BufferViews, view); err != nil {
		return 0, err
	}
	return c.doc.add(glb.Accessors, a)
}

// widenIndices writes 16-bit indices as 32-bit ones.
func (c *container) widenIndices(src []byte) error {
	for len(src) > 0 {
		n := min(len(src), 2*blockVertices)
		c.block = c.block[:0]
		for i := 0; i < n; i += 2 {
			c.block = binary.LittleEndian.AppendUint32(c.block, uint32(binary.LittleEndian.Uint16(src[i:])))
		}
		if _, err := c.doc.Write(c.block); err != nil {
			return located(err)
		}
		src = src[n:]
	}
	return nil
}
