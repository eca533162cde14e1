package gltfscene

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/cook/gltfscene/internal/draco"
)

var dracoSchema = &schema{[]prop{
	{name: "bufferView", kind: isInt, need: true},
	{name: "attributes", kind: isIndexMap, need: true},
}}

// dracoPrimitive is the JSON of a compressed primitive.
type dracoPrimitive struct {
	BufferView int
	Attributes map[string]int
}

// compressedMesh is the compressed data of a primitive; nil stands for none.
type compressedMesh struct {
	stream *dracoStream
	mesh   *draco.Mesh // what it holds, for planning
	ids    map[string]int
}

// dracoStream is a stream that can be decoded: planning has done so once.
type dracoStream struct {
	cache  *cache
	packed extent
	limits draco.Limits
	took   int64 // bytes that decoding allocates
	data   map[dracoPart]*dracoData
}

// dracoPart names what is taken out of a stream's mesh: an attribute, as floats or as it
// is, or the faces.
type dracoPart struct {
	id     int // facesPart: the faces
	floats bool
}

const facesPart = -1

// mesh decodes the stream, or takes what it holds from the cache.
func (s *dracoStream) mesh() (*draco.Mesh, error) {
	return cached(s.cache, s, func() (*draco.Mesh, int64, error) {
		data, err := s.packed.bytes()
		if err != nil {
			return nil, 0, err
		}
		mesh, err := draco.Decode(data, s.limits)
		if err != nil {
			return nil, 0, dracoFault(err)
		}
		size := int64(4 * len(mesh.Indices))
		for i := range mesh.Attributes {
			size += int64(len(mesh.Attributes[i].Data))
		}
		return mesh, size, nil
	})
}

// of returns the bytes of the part; nil where the mesh has none.
func (p dracoPart) of(m *draco.Mesh) []byte {
	if p.id == facesPart {
		data := make([]byte, 0, 4*len(m.Indices))
		for _, v := range m.Indices {
			data = binary.LittleEndian.AppendUint32(data, v)
		}
		return data
	}
	a := m.Attribute(uint32(p.id))
	if a == nil || !p.floats {
		if a == nil {
			return nil
		}
		return a.Data
	}
	ct, ok := dracoTypes[a.Type]
	if !ok {
		return nil
	}
	// The values of integers, normalized if the stream says so.
	return widen(a.Data, &accessor{ct: ct, normalized: a.Normalized && ct != u32})
}

// dracoData is a store of a part of the mesh of a stream.
type dracoData struct {
	stream *dracoStream
	part   dracoPart
	size   int
}

func (d *dracoData) reader() (ranges, func(), error) {
	data, err := cached(d.stream.cache, d, func() ([]byte, int64, error) {
		mesh, err := d.stream.mesh()
		if err != nil {
			return nil, 0, err
		}
		data := d.part.of(mesh)
		return data, int64(len(data)), nil
	})
	return ranges{all: data}, func() {}, err
}

// dracoHint is for streams that cannot be decoded.
const dracoHint = "the compressed data is damaged: export or compress the file again"

// expandPrimitive decodes the primitive's KHR_draco_mesh_compression. If that
// fails and all of its accessors have data of their own, they are used: the
// result is nil then.
func (mp *meshPlanner) expandPrimitive(pl *draft, p *gltf.Primitive, ext []byte) (*compressedMesh, error) {
	c, err := mp.undraco(pl, p, ext)
	if err == nil {
		return c, nil
	}
	err = at(pl.place+".extensions."+dracoName, err)
	if errors.Is(err, ErrTooLarge) || !mp.hasFallback(p) {
		return nil, err
	}
	mp.notes.fault("draco-fallback", "the uncompressed fallback was used instead of compressed data", err)
	return nil, nil
}

// hasFallback reports whether all cooked accessors of p have data.
func (mp *meshPlanner) hasFallback(p *gltf.Primitive) bool {
	plain := func(i int) bool {
		a, err := mp.doc.accessors.peek(i)
		return err == nil && (a.BufferView != nil || a.Sparse != nil)
	}
	for _, a := range classes {
		if i, ok := p.Attributes[a.name]; ok && !plain(i) {
			return false
		}
	}
	return p.Indices == nil || plain(*p.Indices)
}

// undraco decodes the stream that ext describes.
func (mp *meshPlanner) undraco(pl *draft, p *gltf.Primitive, ext []byte) (*compressedMesh, error) {
	var v dracoPrimitive
	if err := dracoSchema.decode(ext, &v); err != nil {
		return nil, err
	}
	if p.Indices == nil {
		return nil, malformed("", "needs a primitive with indices")
	}
	if p.Mode != gltf.PrimitiveTriangles && p.Mode != gltf.PrimitiveTriangleStrip {
		return nil, malformed("", "needs a primitive of triangles or a strip")
	}
	points, err := mp.doc.accessors.get(p.Attributes["POSITION"])
	if err != nil {
		return nil, err
	}
	indices, err := mp.doc.accessors.get(*p.Indices)
	if err != nil {
		return nil, err
	}
	view, err := mp.data.view(v.BufferView)
	if err != nil {
		return nil, at(".bufferView", err)
	}
	// Exporters tend to announce the counts before compression, which may
	// merge vertices or, in seams, add some.
	limits := draco.Limits{Faces: atMost(indices.Count/3, 256), Points: atMost(points.Count, 256)}
	if p.Mode == gltf.PrimitiveTriangleStrip {
		limits.Faces = atMost(indices.Count, 256)
	}
	stream, err := mp.openDraco(v.BufferView, view.at, limits)
	if err != nil {
		return nil, err
	}
	mesh, err := stream.mesh()
	if err != nil {
		return nil, err
	}
	if p.Mode == gltf.PrimitiveTriangles && len(mesh.Indices) != indices.Count || mesh.Points != points.Count {
		mp.notes.info("draco-count", pl.place, fmt.Sprintf("the accessors announce %d vertices and %d indices, but the compressed data holds %d and %d, which were used",
			points.Count, indices.Count, mesh.Points, len(mesh.Indices)))
	}
	pl.mode = gltf.PrimitiveTriangles
	return &compressedMesh{stream, mesh, v.Attributes}, nil
}

// dracoKey identifies a decoded stream: primitives may share one.
type dracoKey struct {
	view   int
	limits draco.Limits
}

// openDraco finds the stream of a bufferView, once, and decodes it.
func (mp *meshPlanner) openDraco(view int, packed extent, limits draco.Limits) (*dracoStream, error) {
	key := dracoKey{view, limits}
	if m, ok := mp.streams[key]; ok {
		return m.v, m.err
	}
	if !mp.packedViews[view] {
		// A plain file of the same content would be larger: it may decode to
		// more.
		mp.packedViews[view] = true
		mp.data.bufferBytes += 15 * int64(packed.n)
	}
	if err := mp.fitsDecoded(limits); err != nil {
		return nil, err
	}
	// The tables of the decoder go before the accessors are decoded.
	limits.Bytes = mp.data.decodedLimit()
	s := &dracoStream{cache: mp.data.cache, packed: packed, limits: limits, data: make(map[dracoPart]*dracoData)}
	mesh, err := s.mesh()
	if err == nil {
		s.took = mesh.Took
	} else {
		s = nil
	}
	mp.streams[key] = memo[dracoStream]{s, err}
	return s, err
}

// atMost returns how many elements a stream may hold that is announced with n.
func atMost(n, least int) int { return max(min(n, math.MaxInt32/2)*2, least) }

// fitsDecoded applies the limit of the decoded geometry to a mesh that is
// about to be decoded: its positions and indices alone must fit.
func (mp *meshPlanner) fitsDecoded(l draco.Limits) error {
	before := mp.data.decoded
	err := mp.data.reserve("", int64(l.Points), 6)
	if err == nil {
		err = mp.data.reserve("", int64(l.Faces), 12)
	}
	if err == nil {
		err = mp.data.checkReserved()
	}
	mp.data.decoded = before
	return err
}

// dracoFault makes an error of package draco one of this package.
func dracoFault(err error) error {
	switch {
	case errors.Is(err, draco.ErrUnsupported):
		return unsupported("", decodeHint, "%v", err)
	case errors.Is(err, draco.ErrTooLarge):
		err = fmt.Errorf("%w: the stream holds more than the accessors announce", err)
	}
	e := malformed("", "%v", err)
	e.Hint = dracoHint
	return e
}

// accessor returns the data of accessor src, which the primitive names as
// attribute, from the compressed mesh; nil if it is not there.
func (c *compressedMesh) accessor(src *gltf.Accessor, attribute string) (*accessor, error) {
	id, ok := c.ids[attribute]
	if !ok {
		return nil, nil
	}
	var from *draco.Attribute
	if uint64(id) <= math.MaxUint32 {
		from = c.mesh.Attribute(uint32(id))
	}
	a := newAccessor(src)
	a.count, a.bounded = c.mesh.Points, len(src.Min) > 0 && len(src.Max) > 0
	if from == nil {
		return nil, malformed("", "the compressed data has no attribute %d", id)
	}
	if from.Components != a.comps {
		return nil, malformed("", "has %d components, the compressed data has %d", a.comps, from.Components)
	}
	ct, ok := dracoTypes[from.Type]
	switch {
	case !ok:
		return nil, unsupported("", decodeHint, "is compressed as type %d", from.Type)
	case ct == a.ct:
		a.at = c.data(dracoPart{id, false}, len(from.Data))
	case a.ct == f32:
		a.at = c.data(dracoPart{id, true}, len(from.Data)/componentSize(ct)*4)
	case ct == f32 && !a.normalized && strings.HasPrefix(attribute, "JOINTS_"):
		// Some encoders store whole numbers as floats.
		a.ct, a.stride = f32, 4*a.comps
		a.at = c.data(dracoPart{id, false}, len(from.Data))
	default:
		return nil, malformed("", "is of %s, the compressed data of %s", componentNames[a.ct], componentNames[ct])
	}
	return a, nil
}

// dracoTypes gives the GL constants of component types; INT is not among
// those of glTF and not needed.
var dracoTypes = map[draco.Type]int{
	draco.Int8: i8, draco.Uint8: u8, draco.Int16: i16, draco.Uint16: u16, draco.Uint32: u32, draco.Float32: f32,
}

// widen returns the components of data as floats.
func widen(data []byte, in *accessor) []byte {
	size := componentSize(in.ct)
	conv := in.converter()
	out := make([]byte, 0, len(data)/size*4)
	for ; len(data) >= size; data = data[size:] {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(conv(data)))
	}
	return out
}

// source returns accessor i with the data of packed, if that holds attribute
// name, else with its own.
func (mp *meshPlanner) source(i int, name string, packed *compressedMesh) (*accessor, error) {
	if packed != nil {
		src, err := mp.doc.accessors.get(i)
		if err != nil {
			return nil, err
		}
		if name == "" {
			if a := newAccessor(src); !allows(a, classIndex) {
				return a, nil // the caller says why
			}
			return packed.indices(), nil
		}
		if a, err := packed.accessor(src, name); a != nil || err != nil {
			return a, err
		}
	}
	return mp.data.accessor(i)
}

func allows(a *accessor, c class) bool {
	ok, _ := a.accepts(c)
	return ok
}

// indices returns the faces as an accessor.
func (c *compressedMesh) indices() *accessor {
	a := &accessor{typ: gltf.AccessorScalar, comps: 1, ct: u32, count: len(c.mesh.Indices), stride: 4}
	a.at = c.data(dracoPart{facesPart, false}, 4*a.count)
	return a
}

// data returns the n bytes of a part. Primitives that share a stream share its parts.
func (c *compressedMesh) data(part dracoPart, n int) extent {
	if n == 0 {
		return extent{}
	}
	d := c.stream.data[part]
	if d == nil {
		d = &dracoData{c.stream, part, n}
		c.stream.data[part] = d
	}
	return extent{d, 0, n}
}
