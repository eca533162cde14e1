package meshopt

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Encode appends the stream of a layout, before its filter, that Decode turns back
// into data: elements of any kind, or the indices of a triangle list, which may begin
// with another corner then. Version is 0 or 1; EXT_meshopt_compression allows
// attributes of version 0 and triangles of version 1, KHR_meshopt_compression also
// attributes of version 1. The same data gives the same stream.
//
// Errors wrap ErrLayout: a layout that the extension forbids, mode INDICES, or data
// of another length.
func Encode(dst, data []byte, l Layout, version int) ([]byte, error) {
	if err := l.Check(); err != nil {
		return dst, err
	}
	switch {
	case version != 0 && version != 1:
		return dst, fmt.Errorf("%w: version %d", ErrLayout, version)
	case l.Mode == Indices:
		return dst, fmt.Errorf("%w: mode %v is not encoded", ErrLayout, l.Mode)
	case len(data)%l.Stride != 0 || len(data)/l.Stride != l.Count:
		return dst, fmt.Errorf("%w: %d bytes are not %d elements of %d bytes", ErrLayout, len(data), l.Count, l.Stride)
	case l.Mode == Triangles:
		return appendTriangles(dst, data, l.Stride, version), nil
	}
	return appendVertices(dst, data, l.Stride, version), nil
}

// vertexWriter writes the blocks of an attribute stream.
type vertexWriter struct {
	out    []byte
	stride int
	v1     bool
	modes  []byte // channel modes, one per four bytes of an element
	planes [4][mostInBlock]byte
}

func appendVertices(dst, data []byte, stride, version int) []byte {
	w := vertexWriter{out: append(dst, 0xA0|byte(version)), stride: stride, v1: version == 1, modes: make([]byte, stride/4)}
	first := make([]byte, stride) // the first element's own, so that its deltas are 0
	copy(first, data)
	if w.v1 {
		w.chooseModes(data, first)
	}
	step, last := blockElements(stride)*stride, first
	for at := 0; at < len(data); at += step {
		block := data[at:min(at+step, len(data))]
		w.block(block, last)
		last = block[len(block)-stride:]
	}
	tail := stride
	if w.v1 {
		tail += stride / 4
	}
	w.out = append(w.out, make([]byte, vertexTail(stride, version)-tail)...)
	w.out = append(w.out, first...)
	if w.v1 {
		w.out = append(w.out, w.modes...)
	}
	return w.out
}

// block writes a block; last is the element before its first.
func (w *vertexWriter) block(data, last []byte) {
	n := len(data) / w.stride
	control := len(w.out)
	if w.v1 {
		w.out = append(w.out, make([]byte, w.stride/4)...)
	}
	for c, mode := range w.modes {
		w.deltas(data[4*c:], binary.LittleEndian.Uint32(last[4*c:]), n, mode)
		for k := range w.planes {
			plane := w.planes[k][:(n+groupSize-1)/groupSize*groupSize]
			clear(plane[n:])
			row := byte(version0)
			if w.v1 {
				row, _ = chooseRow(plane, n)
				w.out[control+c] |= row << (2 * k)
			}
			switch {
			case w.v1 && row == controlZero:
			case w.v1 && row == controlLiteral:
				w.out = append(w.out, plane[:n]...)
			default:
				w.plane(plane, &widths[row])
			}
		}
	}
}

// deltas fills the planes with the differences of n elements, v being the element before.
func (w *vertexWriter) deltas(data []byte, v uint32, n int, mode byte) {
	for i := range n {
		x := binary.LittleEndian.Uint32(data[i*w.stride:])
		z := delta(x, v, mode)
		v = x
		w.planes[0][i], w.planes[1][i], w.planes[2][i], w.planes[3][i] = byte(z), byte(z>>8), byte(z>>16), byte(z>>24)
	}
}

// delta is the difference of x to v: zigzag by bytes or halves, or exclusive-or that is
// rotated left.
func delta(x, v uint32, mode byte) uint32 {
	switch mode & 15 {
	case 0:
		// Bits 7 are subtracted apart, so that no borrow enters the next byte.
		d := (x | 0x80808080 - v&0x7F7F7F7F) ^ (x^^v)&0x80808080
		return d<<1&0xFEFEFEFE ^ (d>>7&0x01010101)*0xFF
	case 1:
		d := (x | 0x80008000 - v&0x7FFF7FFF) ^ (x^^v)&0x80008000
		return d<<1&0xFFFEFFFE ^ (d>>15&0x00010001)*0xFFFF
	}
	return bits.RotateLeft32(x^v, int(mode>>4))
}

// plane writes whole groups, each with the width that takes the fewest bytes.
func (w *vertexWriter) plane(plane []byte, widths *[4]uint8) {
	groups := len(plane) / groupSize
	at := len(w.out)
	w.out = append(w.out, 0, 0, 0, 0)[:at+(groups+3)/4]
	for g := range groups {
		list := (*[groupSize]byte)(plane[g*groupSize:])
		choice, _ := chooseWidth(list, widths)
		w.out[at+g/4] |= byte(choice << (2 * (g % 4)))
		w.out = appendGroup(w.out, list, widths[choice])
	}
}

// chooseWidth returns which of four widths packs a group into the fewest bytes, and
// these. A value of all ones, or more, takes a byte more.
func chooseWidth(list *[groupSize]byte, widths *[4]uint8) (choice, size int) {
	var most [9]int // values that do not fit, by width
	for _, v := range list {
		if v >= 1 {
			most[1]++
			if v >= 3 {
				most[2]++
				if v >= 15 {
					most[4]++
				}
			}
		}
	}
	size = groupSize + groupSize // more than any takes
	for i, width := range widths {
		n := 2*int(width) + most[width]
		if width == 0 {
			if n = 0; most[1] > 0 {
				continue
			}
		}
		if n < size {
			choice, size = i, n
		}
	}
	return choice, size
}

func appendGroup(out []byte, list *[groupSize]byte, width uint8) []byte {
	switch width {
	case 0:
		return out
	case 8:
		return append(out, list[:]...)
	}
	var packed [groupSize / 2]byte
	most, per := byte(1)<<width-1, 8/int(width)
	for i, v := range list {
		shift := int(width) * (per - 1 - i%per)
		if width == 1 {
			shift = i % 8
		}
		packed[i/per] |= min(v, most) << shift
	}
	out = append(out, packed[:2*width]...)
	for _, v := range list {
		if v >= most {
			out = append(out, v)
		}
	}
	return out
}

// chooseRow returns the control mode that writes a plane of n elements in the fewest
// bytes, and these.
func chooseRow(plane []byte, n int) (row byte, size int) {
	zero := true
	for _, v := range plane {
		zero = zero && v == 0
	}
	if zero {
		return controlZero, 0
	}
	row, size = controlLiteral, n
	for r := range byte(controlZero) {
		s := (len(plane)/groupSize + 3) / 4
		for at := 0; at < len(plane); at += groupSize {
			_, k := chooseWidth((*[groupSize]byte)(plane[at:]), &widths[r])
			s += k
		}
		if s < size {
			row, size = r, s
		}
	}
	return row, size
}

// triedBlocks is how many blocks the modes of channels are tried on.
const triedBlocks = 8

// chooseModes picks for each channel the mode that makes some blocks smallest.
func (w *vertexWriter) chooseModes(data, first []byte) {
	step := blockElements(w.stride) * w.stride
	blocks := (len(data) + step - 1) / step
	every := max(1, blocks/triedBlocks)
	for c := range w.modes {
		best := -1
		for _, mode := range [...]byte{0, 1, 2, 0x12, 0x22, 0x32, 0x42, 0x52, 0x62, 0x72, 0x82} {
			size := 0
			for b := 0; b < blocks; b += every {
				block, last := data[b*step:min((b+1)*step, len(data))], first
				if b > 0 {
					last = data[b*step-w.stride:]
				}
				n := len(block) / w.stride
				w.deltas(block[4*c:], binary.LittleEndian.Uint32(last[4*c:]), n, mode)
				for k := range w.planes {
					plane := w.planes[k][:(n+groupSize-1)/groupSize*groupSize]
					clear(plane[n:])
					_, s := chooseRow(plane, n)
					size += s
				}
			}
			if best < 0 || size < best {
				best, w.modes[c] = size, mode
			}
		}
	}
}
