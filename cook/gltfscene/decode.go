package gltfscene

import (
	"encoding/binary"
	"math"
)

// vec is what attributes decode to.
type vec interface {
	[2]float32 | [3]float32 | [4]float32
}

// each calls f with the bytes of the elements from first to last, in pieces: element i and
// the n-1 behind it. It calls nothing for zeros.
func (a *accessor) each(first, last int, f func(i, n int, data []byte)) error {
	if a.at.store == nil || first == last {
		return nil
	}
	r, end, err := a.at.store.reader()
	if err != nil {
		return err
	}
	defer end()
	size, step := a.comps*componentSize(a.ct), last-first
	if r.at != nil {
		step = max(1, pieceBytes/max(1, a.stride))
	}
	buf := pieces.Get().(*[]byte)
	defer pieces.Put(buf)
	for i := first; i < last; i += step {
		n := min(step, last-i)
		data, err := r.slice(a.at.off+i*a.stride, (n-1)*a.stride+size, buf)
		if err != nil {
			return err
		}
		f(i, n, data)
	}
	return nil
}

// list returns the entries of the sparse list.
func (a *accessor) list() (indices, values []byte, err error) {
	if indices, err = a.sparse.indices.bytes(); err == nil {
		values, err = a.sparse.values.bytes()
	}
	return indices, values, err
}

// decodeVec decodes the elements of a from first to last, of which the first min(len(V),
// comps) components are taken; missing ones become fill. bad is -1, the index of the
// first element that is not finite, or, if out is nil, the first bad entry of
// the sparse list. A sparse accessor is decoded as a whole.
func decodeVec[V vec](a *accessor, first, last int, fill float32) (out []V, bad int, err error) {
	out = make([]V, last-first)
	odd := false
	if a.at.store != nil {
		err = a.each(first, last, func(i, n int, data []byte) {
			if readVec(out[i-first:][:n], data, a.stride, a, fill) {
				odd = true
			}
		})
		if err != nil {
			return nil, -1, err
		}
	} else if fill != 0 {
		readVec(out, make([]byte, a.comps*componentSize(a.ct)), 0, a, fill)
	}
	if a.sparse != nil {
		indices, values, err := a.list()
		if err != nil {
			return nil, -1, err
		}
		bad = a.substitute(indices, func(k, i int) {
			size := a.comps * componentSize(a.ct)
			if readVec(out[i:i+1], values[k*size:], size, a, fill) {
				odd = true
			}
		})
		if bad >= 0 {
			return nil, bad, nil
		}
	}
	if !odd {
		return out, -1, nil
	}
	if bad = firstNotFinite(out); bad >= 0 {
		bad += first
	}
	return out, bad, nil
}

// substitute calls set for every entry of the sparse list, whose indices must
// increase strictly and be in range; it returns the first bad entry or -1.
func (a *accessor) substitute(indices []byte, set func(k, i int)) int {
	last := -1
	for k := range a.sparse.count {
		i := int(readIndex(indices, a.sparse.ct, k))
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
func decodeIndices(a *accessor) (out []uint32, smallest, largest uint32, bad int, err error) {
	out = make([]uint32, a.count)
	err = a.each(0, a.count, func(at, n int, data []byte) { a.readIndices(out[at:][:n], data) })
	if err != nil {
		return nil, 0, 0, -1, err
	}
	bad = -1
	if a.sparse != nil {
		indices, values, err := a.list()
		if err != nil {
			return nil, 0, 0, -1, err
		}
		bad = a.substitute(indices, func(k, i int) { out[i] = readIndex(values, a.ct, k) })
	}
	smallest = math.MaxUint32
	for _, v := range out {
		smallest, largest = min(smallest, v), max(largest, v)
	}
	return out, smallest, largest, bad, nil
}

// readIndices decodes the elements of an index accessor whose bytes begin with the first.
func (a *accessor) readIndices(out []uint32, data []byte) {
	switch a.ct {
	case u8:
		for i := range out {
			out[i] = uint32(data[i*a.stride])
		}
	case u16:
		for i := range out {
			out[i] = uint32(binary.LittleEndian.Uint16(data[i*a.stride:]))
		}
	default:
		for i := range out {
			out[i] = binary.LittleEndian.Uint32(data[i*a.stride:])
		}
	}
}
