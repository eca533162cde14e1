package gltfexport

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/meshopt"
	"github.com/untoldkit/untold/manifest"
)

// The extensions of compressed geometry.
const (
	extQuantization = "KHR_mesh_quantization"
	extMeshopt      = "EXT_meshopt_compression"
)

// The versions of the codecs that EXT_meshopt_compression allows.
const (
	attributesVersion = 0
	trianglesVersion  = 1
)

// lattice is where compressed positions lie: at whole multiples of a step, which is a
// power of two and the same for all containers of a scene. Vertices that two tiles
// share stay shared then, and what is computed from them in single precision is exact.
type lattice struct {
	exponent int // of the step in metres
	// small says that all positions of the container are 16-bit numbers of steps from
	// base; they are floats otherwise.
	small bool
	base  [3]int64 // steps
}

// step returns the step in metres.
func (l *lattice) step() float64 { return math.Ldexp(1, l.exponent) }

// quantize returns the nearest step.
func (l *lattice) quantize(x float32) int64 {
	return int64(math.Floor(math.Ldexp(float64(x), -l.exponent) + 0.5))
}

// coarsest is the exponent of the largest step that an extent asks for, 3.9 mm: larger
// containers have positions of 24 bits.
const coarsest = -8

// stepExponent returns the exponent of the least power of two, from 2^-30 on, of which
// 65535 make the extent, or coarsest, unless 24 bits of it do not reach so far.
func stepExponent(extent, far float64) int {
	far = min(far, math.MaxFloat32)
	e := max(min(ceilLog2(extent/math.MaxUint16), coarsest), ceilLog2(far)-23, -30)
	if l := (lattice{exponent: e}); l.quantize(float32(far)) > meshopt.MaxMantissa {
		e++
	}
	return e
}

// StepFor returns a step, in metres, for all containers of a scene: a 65535th of the longest
// edge of its largest tile or up to twice as much, but at most 2^-8, unless the scene reaches
// farther than 24 bits of steps.
func StepFor(m *manifest.Manifest) float64 {
	extent, far := 0.0, 0.0
	see := func(b *manifest.Bounds, tile bool) {
		for k := range b.Min {
			if tile {
				extent = max(extent, b.Max[k]-b.Min[k])
			}
			far = max(far, math.Abs(b.Min[k]), math.Abs(b.Max[k]))
		}
	}
	for i := range m.Tiles {
		see(&m.Tiles[i].Bounds, true)
	}
	if m.SharedBucket != nil {
		see(&m.SharedBucket.Bounds, len(m.Tiles) == 0)
	}
	if m.Pyramid != nil {
		for i := range m.Pyramid.Nodes {
			see(&m.Pyramid.Nodes[i].Bounds, false)
		}
	}
	return math.Ldexp(1, stepExponent(extent, far))
}

// ceilLog2 returns the least e with x <= 2^e; a very small one where x is not positive.
func ceilLog2(x float64) int {
	if !(x > 0) || math.IsInf(x, 0) {
		return -1 << 10
	}
	frac, e := math.Frexp(x)
	if frac == 0.5 {
		e--
	}
	return e
}

// steady is how much over 1 a scale may be that a transform in single precision has
// when it does not scale.
const steady = 1 + 1e-3

// chooseLattice sets up the positions of the container: the step in the entities' own
// coordinates is finer where they scale up.
func (c *container) chooseLattice() {
	scale := c.largestScale()
	lo, hi := inf3(1), inf3(-1)
	for b := c.geo.Vertices; len(b) >= vertex.Size; b = b[vertex.Size:] {
		for i := range lo {
			x := finiteOr0(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])), new(bool))
			lo[i], hi[i] = min(lo[i], x), max(hi[i], x)
		}
	}
	var extent, far float64
	for i := range lo {
		if lo[i] <= hi[i] {
			extent = max(extent, float64(hi[i])-float64(lo[i]))
			far = max(far, math.Abs(float64(lo[i])), math.Abs(float64(hi[i])))
		}
	}
	l := &c.lattice
	if c.opts.Step > 0 {
		l.exponent = ceilLog2(c.opts.Step)
		if scale > 0 {
			l.exponent -= min(max(ceilLog2(scale/steady), -60), 60)
		}
	} else {
		l.exponent = stepExponent(extent, far)
	}
	// Where the boxes of the manifest do not hold what is there.
	l.exponent = max(l.exponent, stepExponent(0, far))
	l.small = true
	for i := range lo {
		l.base[i] = 0
		if lo[i] <= hi[i] {
			l.base[i] = l.quantize(lo[i])
			l.small = l.small && l.quantize(hi[i])-l.base[i] <= math.MaxUint16
		}
	}
}

// largestScale returns how much the entities with meshes scale at most.
func (c *container) largestScale() float64 {
	largest := 0.0
	for i, e := range c.r.Entities() {
		if e.MeshCount == 0 || !c.worlds[i].IsFinite() {
			continue
		}
		for k := range 3 {
			largest = max(largest, c.worlds[i].Column(k).Len())
		}
	}
	return largest
}

// unfold is what turns small positions back: scale and then translation.
func (l *lattice) unfold() (t geom.Vec3, s float64) {
	s = l.step()
	for i := range t {
		t[i] = float64(l.base[i]) * s
	}
	return t, s
}

// box returns, in metres, the box of positions that a writer has met.
func (l *lattice) box(w *vertexWriter) geom.Box {
	b := w.box()
	if l.small {
		t, s := l.unfold()
		b = geom.Box{Min: b.Min.Scale(s).Add(t), Max: b.Max.Scale(s).Add(t)}
	}
	return b
}

// within returns the placement of a mesh whose positions are small: the node's own
// placement behind theirs.
func (l *lattice) within(p placement) placement {
	t, s := l.unfold()
	for i := range t {
		t[i] *= p.s[i]
	}
	p.t = p.t.Add(rotate(p.q, t))
	p.s = p.s.Scale(s)
	return p
}

// rotate turns v by a unit quaternion.
func rotate(q [4]float64, v geom.Vec3) geom.Vec3 {
	if q == noRotation {
		return v
	}
	u := geom.Vec3{q[0], q[1], q[2]}
	t := u.Cross(v).Scale(2)
	return v.Add(t.Scale(q[3])).Add(u.Cross(t))
}

// compressVertices writes a vertex range as a stream for each attribute, and their
// accessors.
func (c *container) compressVertices(m *records.Mesh, k vertexKey) (vertexSet, error) {
	src := c.geo.Vertices[m.VertexOffset : m.VertexOffset+m.VertexSize]
	l := layoutOf(src, k)
	n := int(m.VertexCount)
	w := vertexWriter{layout: l}
	positions := c.appendPositions(nil, src, &w)
	set := vertexSet{}
	add := func(data []byte, stride int, filter meshopt.Filter, a accessorJSON) int {
		a.Count = n
		return c.streams.add(streamKey{meshopt.Attributes, filter, stride}, data, a)
	}
	if c.lattice.small {
		set.attributes.Position = add(positions, 8, meshopt.NoFilter, accessorJSON{
			ComponentType: glb.ComponentU16, Type: "VEC3", Min: widen(w.min), Max: widen(w.max),
		})
	} else {
		set.attributes.Position = add(positions, 12, meshopt.Exponential, accessorJSON{
			ComponentType: glb.ComponentF32, Type: "VEC3", Min: widen(w.min), Max: widen(w.max),
		})
	}
	directions := func(offset int, unpack func(uint32) [4]float32, fallback [3]float32, kind string) int {
		var out []byte
		for b := src; len(b) >= vertex.Size; b = b[vertex.Size:] {
			d := unpack(binary.LittleEndian.Uint32(b[offset:]))
			v, ok := unit([3]float32(d[:3]))
			if !ok {
				v = fallback
				w.directionless++
			}
			out = append(out, 0, 0, 0, 0)
			sign := int8(127)
			if d[3] < 0 {
				sign = -127
			}
			meshopt.PutOctahedral(out[len(out)-4:], v, sign)
		}
		c.doc.quantized = true
		return add(out, 4, meshopt.Octahedral, accessorJSON{ComponentType: glb.ComponentI8, Normalized: true, Type: kind})
	}
	set.attributes.Normal = directions(12, func(p uint32) [4]float32 {
		d := vertex.UnpackNormal(p)
		return [4]float32{d[0], d[1], d[2], 1}
	}, [3]float32{0, 0, 1}, "VEC3")
	if l.tangent {
		t := directions(16, vertex.UnpackTangent, [3]float32{1, 0, 0}, "VEC4")
		set.attributes.Tangent = &t
	}
	if k.uv { // no material of the output uses the second set
		uv := add(c.appendUVs(src, &w))
		set.attributes.UV0 = &uv
	}
	if l.color {
		var out []byte
		for b := src; len(b) >= vertex.Size; b = b[vertex.Size:] {
			out = append(out, b[28:32]...)
		}
		color := add(out, 4, meshopt.NoFilter, accessorJSON{ComponentType: glb.ComponentU8, Normalized: true, Type: "VEC4"})
		set.attributes.Color = &color
	}
	where := c.text(m.NameOffset)
	c.notes.add("not-finite", w.notFinite, where)
	c.notes.add("direction-missing", w.directionless, where)
	c.res.Vertices += n
	set.box = c.lattice.box(&w)
	return set, nil
}

// appendPositions appends steps, and notes the least and the greatest in w as they are
// decoded, before a node's transform.
func (c *container) appendPositions(dst, src []byte, w *vertexWriter) []byte {
	l := &c.lattice
	w.min, w.max = inf3(1), inf3(-1)
	for ; len(src) >= vertex.Size; src = src[vertex.Size:] {
		bad := false
		for i := range 3 {
			q := l.quantize(finiteOr0(math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:])), &bad))
			var x float32
			if l.small {
				q -= l.base[i]
				dst = binary.LittleEndian.AppendUint16(dst, uint16(q))
				x = float32(q)
			} else {
				if x = float32(math.Ldexp(float64(q), l.exponent)); x-x != 0 {
					q -= q / (1 << 20) // the greatest floats must not be rounded up
					x = float32(math.Ldexp(float64(q), l.exponent))
				}
				dst = append(dst, 0, 0, 0, 0)
				meshopt.PutExponential(dst[len(dst)-4:], int32(q), int8(l.exponent))
			}
			w.min[i], w.max[i] = min(w.min[i], x), max(w.max[i], x)
		}
		if l.small {
			dst = append(dst, 0, 0) // elements begin at multiples of 4
		}
		if bad {
			w.notFinite++
		}
	}
	return dst
}

// uvExponent is the step of coordinates that leave 0 to 1: a sixteenth of a texel of
// a texture of 4096.
const uvExponent = -16

// appendUVs returns a set of coordinates: normalized 16-bit numbers, or floats where
// the texture repeats.
func (c *container) appendUVs(src []byte, w *vertexWriter) (data []byte, stride int, filter meshopt.Filter, a accessorJSON) {
	values := make([]float32, 0, 2*len(src)/vertex.Size)
	inside, far := true, float32(0)
	for ; len(src) >= vertex.Size; src = src[vertex.Size:] {
		bad := false
		b := src[20:]
		u := finiteOr0(vertex.FromHalf(binary.LittleEndian.Uint16(b)), &bad)
		v := 1 - finiteOr0(vertex.FromHalf(binary.LittleEndian.Uint16(b[2:])), &bad)
		if bad {
			w.notFinite++
		}
		for _, x := range [2]float32{u, v} {
			inside = inside && x >= 0 && x <= 1
			far = max(far, x, -x)
			values = append(values, x)
		}
	}
	a = accessorJSON{Type: "VEC2"}
	if inside {
		for _, x := range values {
			data = binary.LittleEndian.AppendUint16(data, uint16(math.Floor(float64(float64(x)*math.MaxUint16)+0.5)))
		}
		c.doc.quantized = true
		a.ComponentType, a.Normalized = glb.ComponentU16, true
		return data, 4, meshopt.NoFilter, a
	}
	exponent := max(uvExponent, ceilLog2(float64(far))-22)
	for _, x := range values {
		q := math.Floor(math.Ldexp(float64(x), -exponent) + 0.5)
		data = append(data, 0, 0, 0, 0)
		meshopt.PutExponential(data[len(data)-4:], int32(q), int8(exponent))
	}
	a.ComponentType = glb.ComponentF32
	return data, 8, meshopt.Exponential, a
}

// compressIndices writes an index range as a stream and its accessor.
func (c *container) compressIndices(m *records.Mesh, k indexKey) (int, error) {
	src := c.geo.Indices[m.IndexOffset : m.IndexOffset+m.IndexSize]
	// The codec has whole triangles alone.
	a := accessorJSON{ComponentType: glb.ComponentU16, Count: int(m.IndexCount) / 3 * 3, Type: "SCALAR"}
	src = src[:a.Count*m.IndexType.Size()]
	stride := 2
	if k.wide {
		a.ComponentType, stride = glb.ComponentU32, 4
		if m.IndexType != vertex.Index32 {
			src = vertex.AppendIndices(nil, vertex.Index32, vertex.Indices(src, m.IndexType))
		}
	}
	return c.streams.add(streamKey{Mode: meshopt.Triangles, Stride: stride}, src, a), nil
}

// streamKey says what may lie in one view.
type streamKey struct {
	Mode   meshopt.Mode
	Filter meshopt.Filter
	Stride int
}

// streams gathers the geometry of a container: one view for all attributes of a kind.
// Many small meshes take less room so, and less JSON.
type streams struct {
	keys      []streamKey // in the order of first use
	data      map[streamKey][]byte
	accessors []accessorJSON // whose view is still the place in keys
	first     int            // the accessors that the document had
}

// add appends elements to the view of their kind and returns the index that their
// accessor will have.
func (s *streams) add(key streamKey, data []byte, a accessorJSON) int {
	if s.data == nil {
		s.data = map[streamKey][]byte{}
	}
	if _, ok := s.data[key]; !ok {
		s.keys = append(s.keys, key)
	}
	all := s.data[key] // whole elements, so that accessors begin where their components may
	a.BufferView, a.ByteOffset = slices.Index(s.keys, key), len(all)
	s.data[key] = append(all, data...)
	s.accessors = append(s.accessors, a)
	return s.first + len(s.accessors) - 1
}

// flush writes the views and the accessors.
func (c *container) flush() error {
	views := make([]int, len(c.streams.keys))
	for i, key := range c.streams.keys {
		var err error
		if views[i], err = c.stream(key, c.streams.data[key]); err != nil {
			return err
		}
	}
	for _, a := range c.streams.accessors {
		a.BufferView = views[a.BufferView]
		if _, err := c.doc.add(glb.Accessors, a); err != nil {
			return err
		}
	}
	return nil
}

// stream compresses data into the buffer and adds its view, whose uncompressed place
// is in a buffer that no file has.
func (c *container) stream(key streamKey, data []byte) (int, error) {
	version, target := attributesVersion, glb.TargetVertex
	if key.Mode == meshopt.Triangles {
		version, target = trianglesVersion, glb.TargetIndex
	}
	l := meshopt.Layout{Mode: key.Mode, Filter: key.Filter, Count: len(data) / key.Stride, Stride: key.Stride}
	var err error
	if c.block, err = meshopt.Encode(c.block[:0], data, l, version); err != nil {
		return 0, fmt.Errorf("gltfexport: %w", err)
	}
	at, err := c.doc.Align()
	if err != nil {
		return 0, located(err)
	}
	if _, err := c.doc.Write(c.block); err != nil {
		return 0, located(err)
	}
	view := viewJSON{Buffer: fallbackBuffer, ByteOffset: c.doc.fallback, ByteLength: int64(len(data)), Target: target}
	if l.Mode == meshopt.Attributes {
		view.ByteStride = l.Stride
	}
	e := &compressedJSON{ByteOffset: at, ByteLength: int64(len(c.block)), ByteStride: l.Stride, Count: l.Count, Mode: l.Mode.String()}
	if l.Filter != meshopt.NoFilter {
		e.Filter = l.Filter.String()
	}
	view.Extensions = &viewExtraJSON{e}
	c.doc.fallback += (view.ByteLength + 3) / 4 * 4
	return c.doc.add(glb.BufferViews, view)
}
