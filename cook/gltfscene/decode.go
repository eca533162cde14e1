package gltfscene

import (
	"encoding/binary"
	"math"
)

// vec is what attributes decode to.
type vec interface {
	[2]float32 | [3]float32 | [4]float32
}

// decodeVec decodes all elements of a, of which the first min(len(V), comps)
// components are taken; missing ones become fill. bad is -1, the index of the
// first element that is not finite, or, if out is nil, the first bad entry of
// the sparse list.
func decodeVec[V vec](a *accessor, fill float32) (out []V, bad int) {
	out = make([]V, a.count)
	odd := false
	if a.data != nil {
		odd = readVec(out, a.data, a.stride, a, fill)
	} else if fill != 0 {
		readVec(out, make([]byte, a.comps*componentSize(a.ct)), 0, a, fill)
	}
	if a.sparse != nil {
		bad = a.substitute(func(k, i int) {
			size := a.comps * componentSize(a.ct)
			if readVec(out[i:i+1], a.sparse.values[k*size:], size, a, fill) {
				odd = true
			}
		})
		if bad >= 0 {
			return nil, bad
		}
	}
	if !odd {
		return out, -1
	}
	return out, firstNotFinite(out)
}

// substitute calls set for every entry of the sparse list, whose indices must
// increase strictly and be in range; it returns the first bad entry or -1.
func (a *accessor) substitute(set func(k, i int)) int {
	last := -1
	for k := range a.sparse.count {
		i := int(readIndex(a.sparse.indices, a.sparse.ct, k))
		if i <= last || i >= a.count {
			return k
		}
		last = i
		set(k, i)
	}
	return -1
}

// readIndex reads element k of a packed list of unsigned integers.
func readIndex(b []byte, ct, k int) uint32 {
	switch ct {
	case u8:
		return uint32(b[k])
	case u16:
		return uint32(binary.LittleEndian.Uint16(b[2*k:]))
	}
	return binary.LittleEndian.Uint32(b[4*k:])
}

// firstNotFinite returns the index of the first element with a NaN or
// infinite component, -1 if there is none.
func firstNotFinite[V vec](list []V) int {
	for i := range list {
		v := list[i]
		var sum float32
		for c := range len(v) {
			sum += v[c] - v[c] // 0 for finite values, else NaN
		}
		if sum != 0 {
			return i
		}
	}
	return -1
}

// readVec decodes len(out) elements and reports whether the source of some
// is not finite.
func readVec[V vec](out []V, data []byte, stride int, a *accessor, fill float32) (odd bool) {
	if a.ct == f32 {
		return readFloats(out, data, stride, a.comps, fill)
	}
	var v V
	n := min(len(v), a.comps)
	for c := n; c < len(v); c++ {
		v[c] = fill
	}
	size := componentSize(a.ct)
	conv := a.converter()
	for i := range out {
		b := data[i*stride:]
		for c := range n {
			v[c] = conv(b[c*size:])
		}
		out[i] = v
	}
	return false
}

// readFloats is readVec for FLOAT.
func readFloats[V vec](out []V, data []byte, stride, comps int, fill float32) (odd bool) {
	var v V
	// Adding the lowest bit of the exponent to an exponent of all ones, and to
	// no other, carries into the sign bit.
	const exponent, lowest = 0x7F800000, 0x00800000
	var carry uint32
	if comps < len(v) {
		for c := comps; c < len(v); c++ {
			v[c] = fill
		}
		for i := range out {
			b := data[i*stride:]
			for c := range comps {
				u := binary.LittleEndian.Uint32(b[4*c:])
				carry |= u&exponent + lowest
				v[c] = math.Float32frombits(u)
			}
			out[i] = v
		}
		return carry>>31 != 0
	}
	for i := range out {
		b := data[i*stride:][:4*len(v)]
		for c := range len(v) {
			u := binary.LittleEndian.Uint32(b[4*c:])
			carry |= u&exponent + lowest
			v[c] = math.Float32frombits(u)
		}
		out[i] = v
	}
	return carry>>31 != 0
}

// converter returns the function that decodes one integer component, with
// the normalization of glTF 2.0 section 3.6.2.2.
func (a *accessor) converter() func([]byte) float32 {
	switch {
	case a.ct == i8 && a.normalized:
		return func(b []byte) float32 { return max(float32(int8(b[0]))/127, -1) }
	case a.ct == i8:
		return func(b []byte) float32 { return float32(int8(b[0])) }
	case a.ct == u8 && a.normalized:
		return func(b []byte) float32 { return float32(b[0]) / 255 }
	case a.ct == u8:
		return func(b []byte) float32 { return float32(b[0]) }
	case a.ct == i16 && a.normalized:
		return func(b []byte) float32 { return max(float32(int16(binary.LittleEndian.Uint16(b)))/32767, -1) }
	case a.ct == i16:
		return func(b []byte) float32 { return float32(int16(binary.LittleEndian.Uint16(b))) }
	case a.normalized:
		return func(b []byte) float32 { return float32(binary.LittleEndian.Uint16(b)) / 65535 }
	}
	return func(b []byte) float32 { return float32(binary.LittleEndian.Uint16(b)) }
}

// decodeIndices decodes an index accessor and returns the smallest and the
// largest value. bad is the first bad entry of a sparse list, else -1.
func decodeIndices(a *accessor) (out []uint32, smallest, largest uint32, bad int) {
	out = make([]uint32, a.count)
	if a.data != nil {
		switch a.ct {
		case u8:
			for i := range out {
				out[i] = uint32(a.data[i*a.stride])
			}
		case u16:
			for i := range out {
				out[i] = uint32(binary.LittleEndian.Uint16(a.data[i*a.stride:]))
			}
		default:
			for i := range out {
				out[i] = binary.LittleEndian.Uint32(a.data[i*a.stride:])
			}
		}
	}
	bad = -1
	if a.sparse != nil {
		bad = a.substitute(func(k, i int) { out[i] = readIndex(a.sparse.values, a.ct, k) })
	}
	smallest = math.MaxUint32
	for _, v := range out {
		smallest, largest = min(smallest, v), max(largest, v)
	}
	return out, smallest, largest, bad
}
