package gltfscene

import (
	"github.com/qmuntal/gltf"
)

// class is what an accessor's elements are decoded to.
type class uint8

const (
	classPosition class = iota
	classNormal
	classTangent
	classUV
	classColor
	classIndex
)

// GL constants of accessor.componentType.
const (
	i8  = 5120
	u8  = 5121
	i16 = 5122
	u16 = 5123
	u32 = 5125
	f32 = 5126
)

// componentGL maps the component types of qmuntal/gltf back to those of the
// file; the schema has excluded unknown ones.
var componentGL = [...]int{
	gltf.ComponentFloat: f32, gltf.ComponentByte: i8, gltf.ComponentUbyte: u8,
	gltf.ComponentShort: i16, gltf.ComponentUshort: u16, gltf.ComponentUint: u32,
}

var componentNames = map[int]string{
	i8: "BYTE", u8: "UNSIGNED_BYTE", i16: "SHORT", u16: "UNSIGNED_SHORT",
	u32: "UNSIGNED_INT", f32: "FLOAT",
}

func componentSize(ct int) int {
	switch ct {
	case i8, u8:
		return 1
	case i16, u16:
		return 2
	}
	return 4
}

// accessor is a checked accessor: every element lies within its bytes.
type accessor struct {
	typ        gltf.AccessorType
	comps      int // components per element
	ct         int // GL component type
	normalized bool
	count      int
	at         extent // from the first element to the last; of no store for zeros
	stride     int
	sparse     *sparse
	bounded    bool // has min and max
}

// sparse is the substitution list of a sparse accessor.
type sparse struct {
	count   int
	indices extent
	ct      int
	values  extent // tightly packed elements
}

// componentsOf returns the components of an accessor type, and the bytes of
// an element with the padding of matrix columns (glTF 2.0 section 3.6.2.4).
func componentsOf(t gltf.AccessorType, ct int) (comps, size int) {
	n := componentSize(ct)
	switch t {
	case gltf.AccessorVec2:
		comps = 2
	case gltf.AccessorVec3:
		comps = 3
	case gltf.AccessorVec4:
		comps = 4
	case gltf.AccessorMat2:
		return 4, 2 * ((2*n + 3) &^ 3)
	case gltf.AccessorMat3:
		return 9, 3 * ((3*n + 3) &^ 3)
	case gltf.AccessorMat4:
		comps = 16
	default:
		comps = 1
	}
	return comps, comps * n
}

// newAccessor returns the accessor without its bytes, tightly packed.
func newAccessor(src *gltf.Accessor) *accessor {
	a := &accessor{typ: src.Type, ct: componentGL[src.ComponentType], count: src.Count}
	a.comps, a.stride = componentsOf(a.typ, a.ct)
	a.normalized = src.Normalized && a.ct != f32 && a.ct != u32
	return a
}

// accessor resolves accessor i, once. Its errors have a place relative to
// the accessor.
func (dr *dataReader) accessor(i int) (*accessor, error) {
	if m, ok := dr.accessors[i]; ok {
		return m.v, m.err
	}
	a, err := dr.resolve(i)
	dr.accessors[i] = memo[accessor]{a, err}
	return a, err
}

func (dr *dataReader) resolve(i int) (*accessor, error) {
	src, err := dr.doc.accessors.get(i)
	if err != nil {
		return nil, err
	}
	a := newAccessor(src)
	a.bounded = len(src.Min) > 0 && len(src.Max) > 0
	size := a.stride
	if src.BufferView != nil {
		v, err := dr.view(*src.BufferView)
		if err != nil {
			return nil, at(".bufferView", err)
		}
		if v.stride != 0 {
			a.stride = v.stride
		}
		if a.at, err = span(v.at, src.ByteOffset, a.count, a.stride, size); err != nil {
			return nil, err
		}
	} else if src.ByteOffset != 0 && firstTime(&dr.said.accessors, i, len(dr.doc.accessors.raw)) {
		dr.notes.warn("accessor-offset", dr.doc.accessors.place(i), "byteOffset without bufferView was ignored")
	}
	if src.Sparse != nil {
		if a.sparse, err = dr.sparse(a, src.Sparse, size); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// span returns where count elements from offset on lie.
func span(view extent, offset, count, stride, size int) (extent, error) {
	if err := fits(view.n, offset, count, stride, size); err != nil || count == 0 {
		return extent{}, err
	}
	return view.part(offset, (count-1)*stride+size), nil
}

// fits returns an error unless count elements lie within length bytes. The
// order of the tests keeps the arithmetic from overflowing.
func fits(length, offset, count, stride, size int) error {
	if stride < size {
		return malformed("", "its bufferView has byteStride %d, an element has %d bytes", stride, size)
	}
	if count == 0 {
		return nil
	}
	if left := length - offset; offset > length || left < size || count-1 > (left-size)/stride {
		return malformed("", "%d elements of %d bytes every %d bytes from byte %d on do not fit its bufferView of %d bytes",
			count, size, stride, offset, length)
	}
	return nil
}

// sparse resolves the substitution list of a.
func (dr *dataReader) sparse(a *accessor, src *gltf.Sparse, size int) (*sparse, error) {
	s := &sparse{count: src.Count, ct: componentGL[src.Indices.ComponentType]}
	if s.count > a.count {
		return nil, malformed(".sparse.count", "is %d, the accessor has %d elements", s.count, a.count)
	}
	v, err := dr.view(src.Indices.BufferView)
	if err != nil {
		return nil, at(".sparse.indices.bufferView", err)
	}
	n := componentSize(s.ct)
	if s.indices, err = span(v.at, src.Indices.ByteOffset, s.count, n, n); err != nil {
		return nil, at(".sparse.indices", err)
	}
	if v, err = dr.view(src.Values.BufferView); err != nil {
		return nil, at(".sparse.values.bufferView", err)
	}
	if s.values, err = span(v.at, src.Values.ByteOffset, s.count, size, size); err != nil {
		return nil, at(".sparse.values", err)
	}
	return s, nil
}

// accepts reports whether the accessor's format is one that glTF 2.0 allows
// for c, or (quantized) KHR_mesh_quantization does.
func (a *accessor) accepts(c class) (ok, quantized bool) {
	small, signed := a.ct != f32 && a.ct != u32, a.ct == i8 || a.ct == i16
	switch c {
	case classPosition:
		return a.typ == gltf.AccessorVec3 && (a.ct == f32 || small), small
	case classNormal:
		return a.typ == gltf.AccessorVec3 && (a.ct == f32 || signed && a.normalized), small
	case classTangent:
		return a.typ == gltf.AccessorVec4 && (a.ct == f32 || signed && a.normalized), small
	case classUV:
		return a.typ == gltf.AccessorVec2 && (a.ct == f32 || small), small && (signed || !a.normalized)
	case classColor:
		return (a.typ == gltf.AccessorVec3 || a.typ == gltf.AccessorVec4) &&
			(a.ct == f32 || small && !signed && a.normalized), false
	default:
		return a.typ == gltf.AccessorScalar && (a.ct == u8 || a.ct == u16 || a.ct == u32) && !a.normalized, false
	}
}

// wants lists the formats of a class for messages.
var wants = [...]string{
	classPosition: "VEC3 of FLOAT (or, quantized, of BYTE or SHORT, signed or not)",
	classNormal:   "VEC3 of FLOAT (or, quantized, of normalized BYTE or SHORT)",
	classTangent:  "VEC4 of FLOAT (or, quantized, of normalized BYTE or SHORT)",
	classUV:       "VEC2 of FLOAT or normalized UNSIGNED_BYTE or UNSIGNED_SHORT (or, quantized, of BYTE or SHORT)",
	classColor:    "VEC3 or VEC4 of FLOAT or normalized UNSIGNED_BYTE or UNSIGNED_SHORT",
	classIndex:    "SCALAR of UNSIGNED_BYTE, UNSIGNED_SHORT or UNSIGNED_INT",
}

// format names the accessor's format for messages.
func (a *accessor) format() string {
	s := a.typ.String() + " of "
	if a.normalized {
		s += "normalized "
	}
	return s + componentNames[a.ct]
}
